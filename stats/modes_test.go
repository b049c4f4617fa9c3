package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// statfaculty is the data of section 6 of the paper of Hartigan and Hartigan.
var statfaculty = []float64{30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44,
	44, 45, 45, 46, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60, 60,
	60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72}

func TestDip(t *testing.T) {
	var curved, waves []float64
	for i := 1; i <= 100; i++ {
		v := float64(i)
		curved = append(curved, math.Pow(float64(i*37%101), 1.5))
		waves = append(waves, 3*math.Sin(v), 20+2*math.Cos(1.7*v)+v/40)
	}
	slices.Sort(curved)
	slices.Sort(waves)
	for _, test := range []struct {
		name string
		x    []float64
		want float64
	}{
		// R 4.2.2 with diptest 0.76-0: dip(x)
		{"statfaculty", statfaculty, 0.0595238095238095},
		{"three groups", []float64{0.2, 1.7, 1.9, 2.3, 2.4, 4, 7.1, 7.2, 7.3, 7.35, 9.9}, 0.152356902356902},
		{"curved", curved, 0.005}, // i <- 1:100; sort((i*37 %% 101)^1.5)
		{"waves", waves, 0.176870779983339},
		// waves: sort(c(sin(i)*3, 20 + cos(i*1.7)*2 + i/40))
		{"one", []float64{1}, 0.5},
		{"all equal", []float64{2, 2, 2, 2}, 0.125},
		{"two points", []float64{1, 1, 1, 1, 2, 2, 2, 2}, 0.25},
	} {
		if got := dip(test.x); !near(got, test.want, 1e-13) {
			t.Errorf("%s: dip %v, want %v", test.name, got, test.want)
		}
	}
}

func TestFindModes(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	draw := func(n int, f func() float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f()
		}
		return x
	}
	normal := func(mean float64) float64 { return mean * (1 + 0.02*r.NormFloat64()) }
	for _, test := range []struct {
		name string
		x    []float64
		want bool
	}{
		{"one mode", draw(500, func() float64 { return normal(100) }), false},
		{"long tail", draw(500, func() float64 { return math.Exp(r.NormFloat64()) }), false},
		{"exponential", draw(500, r.ExpFloat64), false},
		{"coarse clock", draw(500, func() float64 { return math.Round(normal(100)) }), false},
		{"coarser clock", draw(500, func() float64 { return 10 * math.Round(normal(104)/10) }), false},
		{"outliers", append(draw(500, func() float64 { return normal(100) }), 900, 910, 905), false},
		{"all equal", draw(50, func() float64 { return 7 }), false},
		{"correlated", autoregressive(r, 500, 0.8, 0.1), false},
		{"two modes", draw(60, func() float64 { return normal(100 + 50*float64(r.IntN(2))) }), true},
		{"one in five is slow", draw(300, func() float64 { return normal(100 + 40*float64(r.IntN(5)/4)) }), true},
		{"two modes, coarse clock", draw(200, func() float64 { return math.Round(normal(100 + 50*float64(r.IntN(2)))) }), true},
		{"too close to matter", draw(500, func() float64 { return 1000 + 5*float64(r.IntN(2)) + r.Float64() }), false},
	} {
		m, err := FindModes(test.x)
		if err != nil || m.Bimodal() != test.want {
			t.Errorf("%s: bimodal %v, %+v, %v", test.name, m.Bimodal(), m, err)
		}
		if test.name == "one in five is slow" && (!near(m.Low, 100, 0.02) || !near(m.High, 140, 0.02) || math.Abs(m.Share-0.2) > 0.06) {
			t.Errorf("%s: %+v", test.name, m)
		}
	}
}

func TestFindModesSeldomAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{30, 300} {
		for range 500 {
			m, err := FindModes(autoregressive(r, n, 0, 0.5))
			if err != nil || m.Bimodal() {
				t.Errorf("n=%d: %+v, %v", n, m, err)
			}
		}
	}
}

func TestFindModesRefuses(t *testing.T) {
	for _, test := range []struct {
		x    []float64
		want error
	}{{nil, ErrEmpty}, {[]float64{1, 2, 3}, ErrTooFew}, {[]float64{1, 2, 3, nan}, ErrNotFinite}} {
		if _, err := FindModes(test.x); !errors.Is(err, test.want) {
			t.Errorf("%v: error %v, want %v", test.x, err, test.want)
		}
	}
}

func FuzzShape(f *testing.F) {
	f.Add([]byte{2, 90, 91, 92, 93, 94, 90, 90, 90, 200, 201})
	f.Add([]byte("some bytes that make a few large floats, and then some more of them"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := floats(data)
		if m, err := FindModes(x); err == nil {
			if limit := 1 / float64(2*len(x)); m.Dip < limit-1e-12 || m.Dip > 0.25+limit {
				t.Errorf("dip %v of %d samples", m.Dip, len(x))
			}
			if m.Low > m.High || m.Share < 0 || m.Share >= 1 {
				t.Errorf("impossible modes %+v", m)
			}
		}
		if d, err := FindDrift(x); err == nil && d.CI.Estimable() && !d.CI.Contains(d.Shift) {
			t.Errorf("shift %v outside of its interval %v", d.Shift, d.CI)
		}
		if o, err := FindOutliers(x); err == nil {
			s, err := Summarize(x)
			if err != nil || s.Outliers != len(o.Indices) {
				t.Errorf("%d outliers labelled, %d counted, %v", len(o.Indices), s.Outliers, err)
			}
		}
	})
}
