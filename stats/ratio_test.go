package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Permeability constants of the human chorioamnion at term and at 12 to 26 weeks:
// Hollander and Wolfe, Nonparametric Statistical Methods, table 4.1.
var (
	atTerm = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early  = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

func TestMannWhitney(t *testing.T) {
	shifted := make([]float64, len(digits))
	for i, v := range digits {
		shifted[i] = v + float64(i%2)
	}
	for _, test := range []struct {
		name  string
		a, b  []float64
		u, p  float64
		exact bool
	}{
		// R 4.2.2: wilcox.test(atTerm, early)
		{"published", early, atTerm, 35, 0.254412254412254, true},
		{"exchanged", atTerm, early, 15, 0.254412254412254, true},
		// R 4.2.2: wilcox.test(digits + c(0, 1), digits, exact = FALSE)
		{"ties", digits, shifted, 504.5, 0.420730198093796, false},
		// Of the 20 ways to choose 3 of 6, 1 is as extreme on either side.
		{"smallest p of 3 and 3", []float64{1, 2, 3}, []float64{4, 5, 6}, 9, 0.1, true},
		{"all equal", []float64{5, 5, 5}, []float64{5, 5}, 3, 1, false},
		{"one and one", []float64{1}, []float64{2}, 1, 1, true},
	} {
		got, err := MannWhitney(test.a, test.b)
		if err != nil || !near(got.U, test.u, 0) || !near(got.P, test.p, 1e-12) || got.Exact != test.exact {
			t.Errorf("%s: %+v, %v, want U %v, P %v, exact %v", test.name, got, err, test.u, test.p, test.exact)
		}
	}
}

// TestMannWhitneyEnumerates checks the exact p against every way to divide the
// pooled values, with and without ties, for unequal sizes.
func TestMannWhitneyEnumerates(t *testing.T) {
	for _, pooled := range [][]float64{
		{1, 2, 3, 4, 5, 6, 7, 8, 9},
		{1, 1, 1, 2, 3, 4, 4, 5, 9},
		{1, 2, 2, 2, 2, 2, 2, 2, 3},
		{0, 0, 0, 0, 0, 1, 2, 3, 4},
	} {
		for mask := uint(1); mask < 1<<9-1; mask += 5 {
			a, b := divide(pooled, mask)
			u, _ := mergeRanks(a, b)
			var below, above, all float64
			for other := uint(0); other < 1<<9; other++ {
				c, d := divide(pooled, other)
				if len(c) != len(a) {
					continue
				}
				v, _ := mergeRanks(c, d)
				all++
				if v <= u {
					below++
				}
				if v >= u {
					above++
				}
			}
			want := min(1, 2*min(below, above)/all)
			if got, err := MannWhitney(a, b); err != nil || !got.Exact || !near(got.P, want, 1e-12) {
				t.Errorf("%v, %v: %+v, %v, want P %v", a, b, got, err, want)
			}
		}
	}
}

func divide(pooled []float64, mask uint) (a, b []float64) {
	for i, v := range pooled {
		if mask>>i&1 == 1 {
			a = append(a, v)
		} else {
			b = append(b, v)
		}
	}
	return a, b
}

func TestUDistribution(t *testing.T) {
	// R 4.2.2: pwilcox(c(0, 1, 5, 20), 5, 7); pwilcox(c(700, 966, 1250), 50, 50)
	for _, test := range []struct {
		n1, n2, u int
		want      float64
	}{
		{5, 7, 0, 0.00126262626262626},
		{5, 7, 1, 0.00252525252525253},
		{5, 7, 5, 0.023989898989899},
		{5, 7, 20, 0.680555555555556},
		{50, 50, 700, 5.69774228404262e-05},
		{50, 50, 966, 0.0251817583623535},
		{50, 50, 1250, 0.501368895500769},
	} {
		if got := uDistribution(test.n1, test.n2)[test.u]; math.Abs(got/test.want-1) > 1e-12 {
			t.Errorf("P(U ≤ %d; %d, %d) = %v, want %v", test.u, test.n1, test.n2, got, test.want)
		}
	}
}

func TestShiftRank(t *testing.T) {
	// R 4.2.2: qwilcox(.025, n1, n2)
	for _, test := range []struct{ n1, n2, k int }{{4, 4, 1}, {5, 5, 3}, {10, 7, 15}, {50, 50, 966}, {3, 3, 0}, {1, 30, 0}} {
		if k, _ := shiftRank(test.n1, test.n2, float64(test.n1), float64(test.n2), 0.95); k != test.k {
			t.Errorf("shiftRank(%d, %d) = %d, want %d", test.n1, test.n2, k, test.k)
		}
	}
}

func TestCompare(t *testing.T) {
	// Both have a negative lag-1 correlation, so that R's interval applies.
	// R 4.2.2: w <- wilcox.test(log(early), log(atTerm), conf.int = TRUE)
	//          exp(w$estimate); exp(w$conf.int)
	got, err := Compare(atTerm, early)
	if err != nil {
		t.Fatal(err)
	}
	if !near(got.Ratio, 0.762330425678482, 1e-12) || !near(got.CI.Low, 0.510344827586207, 1e-12) || !near(got.CI.High, 1.16346153846154, 1e-12) {
		t.Errorf("ratio %v in %v", got.Ratio, got.CI)
	}
	if got.CI.Level < 0.95 || got.U != 15 || !near(got.P, 0.254412254412254, 1e-12) || !got.Exact || got.Basis != BySamples || got.NA != 10 || got.NB != 5 {
		t.Errorf("%+v", got)
	}
	reverse, err := Compare(early, atTerm)
	if err != nil || !near(reverse.Ratio*got.Ratio, 1, 1e-12) || !near(reverse.CI.Low*got.CI.High, 1, 1e-12) {
		t.Errorf("exchanged: %+v, %v", reverse, err)
	}
}

func TestCompareEdges(t *testing.T) {
	equal := []float64{3, 3, 3, 3, 3, 3}
	got, err := Compare(equal, equal)
	if err != nil || got.Ratio != 1 || got.P != 1 || got.CI.Low != 1 || got.CI.High != 1 {
		t.Errorf("all equal: %+v, %v", got, err)
	}
	got, err = Compare([]float64{1}, []float64{2})
	if err != nil || !near(got.Ratio, 2, 1e-15) || got.P != 1 || got.CI.Estimable() {
		t.Errorf("one each: %+v, %v", got, err)
	}
	for _, test := range []struct {
		a, b []float64
		want error
	}{
		{nil, equal, ErrEmpty},
		{equal, nil, ErrEmpty},
		{[]float64{1, nan}, equal, ErrNotFinite},
		{equal, []float64{inf}, ErrNotFinite},
		{[]float64{0}, equal, ErrNotPositive},
		{equal, []float64{1, -1}, ErrNotPositive},
	} {
		if _, err := Compare(test.a, test.b); !errors.Is(err, test.want) {
			t.Errorf("Compare(%v, %v): error %v, want %v", test.a, test.b, err, test.want)
		}
	}
}

// TestDifferences compares selection with sorting all differences, for samples
// smooth, quantised, far apart and all but equal; limit 0 forces every step.
func TestDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	shapes := map[string]func() float64{
		"normal":    r.NormFloat64,
		"quantised": func() float64 { return math.Round(3 * r.NormFloat64()) },
		"heavy":     func() float64 { return math.Exp(20 * r.NormFloat64()) },
		"two modes": func() float64 { return float64(r.IntN(2)*1000) + r.Float64() },
		"spike":     func() float64 { return math.Trunc(max(0, r.Float64()-0.99) * 1e6) },
		"tiny":      func() float64 { return float64(r.IntN(3)) * math.SmallestNonzeroFloat64 },
	}
	for name, draw := range shapes {
		x, y := make([]float64, 437), make([]float64, 389)
		for i := range x {
			x[i] = draw()
		}
		for i := range y {
			y[i] = draw()
		}
		slices.Sort(x)
		slices.Sort(y)
		var all []float64
		for _, v := range x {
			for _, w := range y {
				all = append(all, w-v)
			}
		}
		slices.Sort(all)
		for _, few := range []int{1, 500} {
			d := differences{x: x, y: y, few: few}
			for _, k := range []int{1, 2, 100, len(all) / 3, len(all) / 2, len(all)/2 + 1, len(all) - 7, len(all)} {
				if got := d.nth(k); got != all[k-1] {
					t.Errorf("%s, few=%d: difference %d is %v, want %v", name, few, k, got, all[k-1])
				}
			}
			if len(d.probes) > 200 {
				t.Errorf("%s, few=%d: %d walks for eight differences", name, few, len(d.probes))
			}
		}
	}
}

// TestCompareCoverage simulates how often the interval of the ratio of two sets
// from one process holds 1, and how often P is below 0.05.
func TestCompareCoverage(t *testing.T) {
	const runs = 1000
	r := rand.New(rand.NewPCG(9, 10))
	for _, test := range []struct {
		n1, n2 int
		rho    float64
	}{{30, 40, 0}, {50, 50, 0.2}, {70, 60, 0.5}} {
		covered, alarms := 0, 0
		for range runs {
			c, err := Compare(autoregressive(r, test.n1, test.rho, 0.1), autoregressive(r, test.n2, test.rho, 0.1))
			if err != nil {
				t.Fatal(err)
			}
			if c.CI.Contains(1) {
				covered++
			}
			if c.P < 0.05 {
				alarms++
			}
		}
		coverage, alarm := float64(covered)/runs, float64(alarms)/runs
		t.Logf("n=%d,%d rho=%v: covers %.3f, false alarms %.3f", test.n1, test.n2, test.rho, coverage, alarm)
		if coverage < 0.93 || coverage > 0.97 || alarm < 0.03 || alarm > 0.07 {
			t.Errorf("n=%d,%d rho=%v: covers %.3f, false alarms %.3f", test.n1, test.n2, test.rho, coverage, alarm)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte{2, 90, 91, 92, 93, 94}, []byte{2, 90, 90, 99, 93, 120, 70})
	f.Add([]byte("some bytes that make large floats"), []byte("and others that make some, too..."))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := floats(first), floats(second)
		c, err := Compare(a, b)
		if err != nil {
			return
		}
		if c.CI.Estimable() && !c.CI.Contains(c.Ratio) {
			t.Errorf("ratio %v outside of its interval %v", c.Ratio, c.CI)
		}
		if !(c.Ratio > 0) || math.IsInf(c.Ratio, 0) || !(c.P >= 0 && c.P <= 1) || c.U < 0 || c.U > float64(len(a)*len(b)) {
			t.Errorf("impossible comparison %+v", c)
		}
		for _, better := range []Direction{LowerIsBetter, HigherIsBetter} {
			Judge(c.CI, c.P, 0.05, better)
		}
	})
}

// millions returns two sets of a million samples as a clock of 1 ns sees them.
func millions() (a, b []float64) {
	r := rand.New(rand.NewPCG(11, 12))
	a, b = make([]float64, 1e6), make([]float64, 1e6)
	for i := range a {
		a[i] = math.Round(5000 * math.Exp(0.1*r.NormFloat64()))
		b[i] = math.Round(5300 * math.Exp(0.1*r.NormFloat64()))
	}
	return a, b
}

func BenchmarkCompareMillion(b *testing.B) {
	x, y := millions()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compare(x, y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummarizeMillion(b *testing.B) {
	x, _ := millions()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Summarize(x); err != nil {
			b.Fatal(err)
		}
	}
}
