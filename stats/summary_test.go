package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSummarize(t *testing.T) {
	before := slices.Clone(digits)
	got, err := Summarize(digits)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, digits) {
		t.Error("samples modified")
	}
	// R 4.2.2: mean(digits); sd(digits); mad(digits, constant = 1)
	//          acf(rank(digits), lag.max = 1, plot = FALSE)$acf[2]
	//          r is the third; Lag1 and EffectiveN are computed from it below
	//          sort(digits)[qbinom(.025, 30, .5)]; sort(digits)[qbinom(.975, 30, .5) + 1]
	r := -0.000794191059677785
	rho := r + (1+3*r)/30
	want := Summary{
		N: 30, Median: 4, CI: Interval{3, 6, 0.957226054742932},
		Mean: 4.7, StdDev: 2.50723092206357, MAD: 2,
		Min: 1, P5: nan, P95: nan, P99: nan, Max: 9,
		Lag1: rho, EffectiveN: 30 * (1 - rho) / (1 + rho), Outliers: 0, Tick: 1,
	}
	compareSummaries(t, got, want)
}

func compareSummaries(t *testing.T, got, want Summary) {
	t.Helper()
	if got.N != want.N || got.Outliers != want.Outliers {
		t.Errorf("N, Outliers = %d, %d, want %d, %d", got.N, got.Outliers, want.N, want.Outliers)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"Median", got.Median, want.Median},
		{"CI.Low", got.CI.Low, want.CI.Low},
		{"CI.High", got.CI.High, want.CI.High},
		{"CI.Level", got.CI.Level, want.CI.Level},
		{"Mean", got.Mean, want.Mean},
		{"StdDev", got.StdDev, want.StdDev},
		{"MAD", got.MAD, want.MAD},
		{"Min", got.Min, want.Min},
		{"P5", got.P5, want.P5},
		{"P95", got.P95, want.P95},
		{"P99", got.P99, want.P99},
		{"Max", got.Max, want.Max},
		{"Lag1", got.Lag1, want.Lag1},
		{"EffectiveN", got.EffectiveN, want.EffectiveN},
		{"Tick", got.Tick, want.Tick},
	} {
		if !near(f.got, f.want, 1e-12) {
			t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
		}
	}
}

func TestSummarizeEdges(t *testing.T) {
	none := notEstimable()
	for _, test := range []struct {
		name    string
		samples []float64
		want    Summary
	}{
		{"one", []float64{5}, Summary{
			N: 1, Median: 5, CI: none, Mean: 5, StdDev: nan, MAD: 0, Min: 5,
			P5: nan, P95: nan, P99: nan, Max: 5, Lag1: nan, EffectiveN: 1, Tick: nan}},
		{"two", []float64{5, 2}, Summary{
			N: 2, Median: 3.5, CI: none, Mean: 3.5, StdDev: math.Sqrt(4.5), MAD: 1.5, Min: 2,
			P5: nan, P95: nan, P99: nan, Max: 5, Lag1: nan, EffectiveN: 2, Tick: 3}},
		{"all equal", []float64{7, 7, 7, 7, 7, 7, 7}, Summary{
			N: 7, Median: 7, CI: Interval{7, 7, 0.984375}, Mean: 7, StdDev: 0, MAD: 0, Min: 7,
			P5: nan, P95: nan, P99: nan, Max: 7, Lag1: nan, EffectiveN: 7, Tick: nan}},
		{"all zero", make([]float64, 6), Summary{
			N: 6, CI: Interval{0, 0, 0.96875}, P5: nan, P95: nan, P99: nan, Lag1: nan, EffectiveN: 6, Tick: nan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Summarize(test.samples)
			if err != nil {
				t.Fatal(err)
			}
			compareSummaries(t, got, test.want)
		})
	}
}

func TestSummarizeQuantilesAppear(t *testing.T) {
	for _, test := range []struct {
		n        int
		p95, p99 bool
	}{{71, false, false}, {72, true, false}, {367, true, false}, {368, true, true}} {
		x := make([]float64, test.n)
		for i := range x {
			x[i] = float64(i * 7 % test.n)
		}
		s, err := Summarize(x)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(s.P5) == test.p95 || math.IsNaN(s.P95) == test.p95 || math.IsNaN(s.P99) == test.p99 {
			t.Errorf("n=%d: p5 %v, p95 %v, p99 %v", test.n, s.P5, s.P95, s.P99)
		}
	}
}

func TestSummarizeRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		samples []float64
		want    error
	}{
		{"nil", nil, ErrEmpty},
		{"empty", []float64{}, ErrEmpty},
		{"NaN", []float64{1, nan}, ErrNotFinite},
		{"+Inf", []float64{inf, 1}, ErrNotFinite},
		{"-Inf", []float64{-inf}, ErrNotFinite},
		{"huge", []float64{-1e200}, ErrNotFinite},
	} {
		if _, err := Summarize(test.samples); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
	}
}

func TestLag1IgnoresOutlierSize(t *testing.T) {
	x := autoregressive(rand.New(rand.NewPCG(5, 6)), 200, 0.7, 0.05)
	before := Lag1(x)
	x[100] *= 1000
	if after := Lag1(x); before < 0.5 || after < before-0.05 {
		t.Errorf("correlation %v, with one huge sample %v", before, after)
	}
}

func TestEffectiveSize(t *testing.T) {
	for _, test := range []struct{ rho, mean, median float64 }{
		{0, 100, 100},
		{-0.5, 100, 100},
		{nan, 100, 100},
		// R 4.2.2: 100 / (1 + 2 * sum(2 / pi * asin(0.5^(1:99))))
		{0.5, 100.0 / 3, 43.3430351766986},
		{1, 0, 100 / (1 + 4/math.Pi*99*math.Pi/2)},
	} {
		if got := EffectiveSize(100, test.rho); !near(got, test.mean, 1e-12) {
			t.Errorf("EffectiveSize(100, %v) = %v, want %v", test.rho, got, test.mean)
		}
		if got := MedianEffectiveSize(100, test.rho); !near(got, test.median, 1e-6) {
			t.Errorf("MedianEffectiveSize(100, %v) = %v, want %v", test.rho, got, test.median)
		}
	}
}

func FuzzSummarize(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte("all the samples there are, and then some more of them"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := floats(data)
		s, err := Summarize(x)
		if err != nil {
			return
		}
		if s.CI.Estimable() && !s.CI.Contains(s.Median) {
			t.Errorf("median %v outside of its interval %v", s.Median, s.CI)
		}
		if s.Median < s.Min || s.Median > s.Max || s.Mean < s.Min || s.Mean > s.Max {
			t.Errorf("median %v or mean %v outside of [%v, %v]", s.Median, s.Mean, s.Min, s.Max)
		}
		if s.MAD < 0 || s.StdDev < 0 || s.EffectiveN > float64(s.N) || math.Abs(s.Lag1) > 1 {
			t.Errorf("impossible summary %+v", s)
		}
		for _, q := range []float64{0.01, 0.25, 0.9, 0.99} {
			if ci := QuantileInterval(x, q, 0.9); ci.Estimable() && !ci.Contains(Quantile(x, q)) {
				t.Errorf("%v-quantile %v outside of its interval %v", q, Quantile(x, q), ci)
			}
		}
		(Rule{Precision: 0.02, MinSamples: 3, MaxSamples: 10}).Decide(x)
	})
}

// floats makes samples of fuzz data: raw bits if there are enough bytes for
// some, else small numbers with many ties.
func floats(data []byte) []float64 {
	var x []float64
	if len(data) > 0 && data[0]%2 == 0 {
		for _, b := range data[1:] {
			x = append(x, float64(b)-64)
		}
		return x
	}
	for len(data) >= 8 {
		var bits uint64
		for _, b := range data[:8] {
			bits = bits<<8 | uint64(b)
		}
		x = append(x, math.Float64frombits(bits))
		data = data[8:]
	}
	return x
}
