package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

var nan, inf = math.NaN(), math.Inf(1)

// near reports whether got is want within a relative (about zero: absolute)
// error; NaN is near NaN.
func near(got, want, tolerance float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// digits has 30 values with many ties.
var digits = []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7}

func TestQuantile(t *testing.T) {
	one, two := []float64{7}, []float64{9, 4}
	for _, test := range []struct {
		name    string
		samples []float64
		q, want float64
	}{
		// R 4.2.2: quantile(digits, c(.05, .25, .5, .9, .95), type = 8)
		{"digits p5", digits, 0.05, 1},
		{"digits p25", digits, 0.25, 3},
		{"digits median", digits, 0.5, 4},
		{"digits p90", digits, 0.9, 8.63333333333334},
		{"digits p95", digits, 0.95, 9},
		{"min", digits, 0, 1},
		{"max", digits, 1, 9},
		{"one", one, 0.3, 7},
		{"even median", two, 0.5, 6.5},
		{"odd median is a sample", []float64{0.3, 0.1, 0.2}, 0.5, 0.2},
		{"empty", nil, 0.5, nan},
		{"NaN", []float64{1, nan, 2}, 0.5, nan},
		{"q below 0", one, -0.1, nan},
		{"q above 1", one, 1.1, nan},
		{"q NaN", one, nan, nan},
		{"infinite ties", []float64{inf, inf}, 0.5, inf},
	} {
		before := slices.Clone(test.samples)
		if got := Quantile(test.samples, test.q); !near(got, test.want, 1e-14) {
			t.Errorf("%s: Quantile = %v, want %v", test.name, got, test.want)
		}
		if !slices.EqualFunc(before, test.samples, func(a, b float64) bool { return near(a, b, 0) }) {
			t.Errorf("%s: samples modified", test.name)
		}
	}
}

func TestQuantileAgreesWithMoremath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 60; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for range 20 {
			q := r.Float64()
			if got, want := Quantile(x, q), (stats.Sample{Xs: x}).Quantile(q); !near(got, want, 1e-13) {
				t.Errorf("n=%d q=%v: %v, moremath has %v", n, q, got, want)
			}
		}
	}
}

func TestOrderRanks(t *testing.T) {
	// R 4.2.2: l <- qbinom(.025, n, q); r <- qbinom(.975, n, q) + 1
	//          pbinom(r - 1, n, q) - pbinom(l - 1, n, q)
	for _, test := range []struct {
		n     int
		q     float64
		l, r  int
		level float64
	}{
		{6, 0.5, 1, 6, 0.96875},
		{8, 0.5, 1, 8, 0.9921875},
		{10, 0.5, 2, 9, 0.978515625},
		{30, 0.5, 10, 21, 0.957226054742932},
		{31, 0.5, 10, 22, 0.970550626516342},
		{100, 0.5, 40, 61, 0.964799799782295},
		{1000, 0.5, 469, 532, 0.953708802639502},
		{1000000, 0.5, 499020, 500981, 0.950121031347632},
		{6, 0.95, 4, 7, 0.99777015625}, // rank 7 of 6: no upper end
		{100, 0.95, 90, 100, 0.982607060712181},
		{1000, 0.95, 936, 964, 0.958095268222654},
		{1000000, 0.95, 949572, 950428, 0.950446812048718},
	} {
		l, r, level := orderRanks(test.n, test.q, 0.95)
		if l != test.l || r != test.r || !near(level, test.level, 1e-10) {
			t.Errorf("n=%d q=%v: ranks %d to %d at %v, want %d to %d at %v",
				test.n, test.q, l, r, level, test.l, test.r, test.level)
		}
	}
}

// TestIntervalNeeds finds from how many samples on a quantile has an interval:
// log(0.025)/log(q) rounded up.
func TestIntervalNeeds(t *testing.T) {
	for _, test := range []struct {
		q    float64
		need int
	}{{0.5, 6}, {0.05, 72}, {0.95, 72}, {0.99, 368}} {
		for n := range test.need + 20 {
			got := QuantileInterval(make([]float64, n), test.q, 0.95).Estimable()
			if got != (n >= test.need) {
				t.Errorf("q=%v n=%d: estimable %v", test.q, n, got)
			}
		}
	}
}

func TestIntervalEdges(t *testing.T) {
	ten := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	if got := MedianInterval(ten, 0.95); got != (Interval{2, 9, got.Level}) || !near(got.Level, 0.978515625, 1e-14) {
		t.Errorf("ten: %v", got)
	}
	if got := MedianInterval([]float64{4, 4, 4, 4, 4, 4}, 0.95); got.Low != 4 || got.High != 4 {
		t.Errorf("all equal: %v", got)
	}
	for name, got := range map[string]Interval{
		"empty":      MedianInterval(nil, 0.95),
		"one":        MedianInterval([]float64{1}, 0.95),
		"NaN":        MedianInterval([]float64{1, 2, 3, 4, 5, 6, nan}, 0.95),
		"level 1":    MedianInterval(ten, 1),
		"level NaN":  MedianInterval(ten, nan),
		"q 0":        QuantileInterval(ten, 0, 0.95),
		"q NaN":      QuantileInterval(ten, nan, 0.95),
		"correlated": EffectiveMedianInterval([]float64{1, 2, 3, 4, 5, 6, 7}, 0.95),
	} {
		if got.Estimable() || !math.IsNaN(got.Level) || got.Contains(5) {
			t.Errorf("%s: %v, want not estimable", name, got)
		}
	}
}

func TestRelativeHalfWidth(t *testing.T) {
	for _, test := range []struct {
		i            Interval
		center, want float64
	}{
		{Interval{98, 102, 0.95}, 100, 0.02},
		{Interval{-102, -98, 0.95}, -100, 0.02},
		{Interval{0, 0, 0.95}, 0, 0},
		{Interval{-1, 1, 0.95}, 0, inf},
		{notEstimable(), 100, nan},
	} {
		if got := test.i.RelativeHalfWidth(test.center); !near(got, test.want, 1e-15) {
			t.Errorf("%v about %v: %v, want %v", test.i, test.center, got, test.want)
		}
	}
}

// autoregressive returns n samples of a stationary lognormal process with median
// 1 whose logarithm has correlation rho from one sample to the next.
func autoregressive(r *rand.Rand, n int, rho, sigma float64) []float64 {
	x := make([]float64, n)
	z := r.NormFloat64()
	for i := range x {
		x[i] = math.Exp(sigma * z)
		z = rho*z + math.Sqrt(1-rho*rho)*r.NormFloat64()
	}
	return x
}

// TestMedianCoverage simulates how often the 95 % interval holds the true
// median. With 4000 runs the standard error is 0.35 %. The sizes are some whose
// exact levels (95.6 and 96.0 %) are close to 95 %; at 60, say, it is 97.3 %.
func TestMedianCoverage(t *testing.T) {
	const runs = 4000
	r := rand.New(rand.NewPCG(20, 26))
	for _, n := range []int{72, 200} {
		for _, rho := range []float64{0, 0.2, 0.5} {
			var exact, effective int
			for range runs {
				x := autoregressive(r, n, rho, 0.2)
				if rho == 0 && MedianInterval(x, 0.95).Contains(1) {
					exact++
				}
				if EffectiveMedianInterval(x, 0.95).Contains(1) {
					effective++
				}
			}
			t.Logf("n=%d rho=%v: effective %.3f", n, rho, float64(effective)/runs)
			if c := float64(effective) / runs; c < 0.93 || c > 0.97 {
				t.Errorf("n=%d rho=%v: the effective interval covers %.3f", n, rho, c)
			}
			if c := float64(exact) / runs; rho == 0 && (c < 0.93 || c > 0.97) {
				t.Errorf("n=%d: the exact interval covers %.3f", n, c)
			}
		}
	}
}

func TestQuantileIntervalCoverage(t *testing.T) {
	const runs, n = 2000, 400
	r := rand.New(rand.NewPCG(3, 4))
	covered := 0
	for range runs {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		if QuantileInterval(x, 0.95, 0.95).Contains(math.Log(20)) {
			covered++
		}
	}
	if c := float64(covered) / runs; c < 0.94 || c > 0.98 { // the exact level is 0.9567
		t.Errorf("p95's interval covers %.3f", c)
	}
}
