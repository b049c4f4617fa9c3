package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestFitLine(t *testing.T) {
	// R 4.2.2: for b and t of six sizes, all slopes (t[i]-t[j])/(b[i]-b[j]), i > j,
	// with the weights |b[i]-b[j]|/sqrt(t[i]^2+t[j]^2);
	// wm <- function(v, w) { o <- order(v); v[o][which(cumsum(w[o]) > sum(w)/2)[1]] }
	// s <- wm(slopes, weights); a <- wm(t-s*b, 1/t); max(abs(t-a-s*b)/t)
	sizes := []float64{4096, 16384, 65536, 262144, 1048576, 4194304}
	times := []float64{5100, 5300, 6200, 10400, 26000, 90000}
	var series []Series
	for i, b := range sizes {
		series = append(series, Series{b, []float64{times[i]}})
	}
	line, err := FitLine(series, 1)
	if err != nil || !near(line.PerByte, 0.0202615240102639, 1e-13) || !near(line.Latency, 4968.03519061584, 1e-13) || !near(line.Misfit, 0.015466843250402, 1e-12) || line.Sizes != 6 {
		t.Errorf("%+v, %v", line, err)
	}
	if !near(line.Bandwidth, 1/line.PerByte, 1e-15) || !near(line.HalfBytes, line.Latency/line.PerByte, 1e-15) {
		t.Errorf("bandwidth %v, half bytes %v", line.Bandwidth, line.HalfBytes)
	}
	again, err := FitLine(series, 1)
	if err != nil || again.LatencyCI != line.LatencyCI || again.BandwidthCI != line.BandwidthCI {
		t.Errorf("the same seed gives %v and %v, %v", line.LatencyCI, again.LatencyCI, err)
	}
}

// curve simulates n times at each of the sizes from 4 KiB to 256 MiB, with a
// noise of 5 % that is lognormal.
func curve(r *rand.Rand, n int, latency, perByte float64) []Series {
	var series []Series
	for b := 4096.0; b <= 1<<28; b *= 4 {
		times := autoregressive(r, n, 0, 0.05)
		for i := range times {
			times[i] *= latency + perByte*b
		}
		series = append(series, Series{b, times})
	}
	return series
}

func TestFitLineCoverage(t *testing.T) {
	const latency, perByte = 20000, 0.04
	r := rand.New(rand.NewPCG(23, 24))
	var a, s, h, b int
	const runs = 40
	for i := range uint64(runs) {
		line, err := FitLine(curve(r, 30, latency, perByte), i)
		if err != nil {
			t.Fatal(err)
		}
		other, err := FitLine(curve(r, 30, latency/2, perByte*1.5), i+runs)
		if err != nil {
			t.Fatal(err)
		}
		for hits, hit := range map[*int]bool{
			&a: line.LatencyCI.Contains(latency),
			&s: line.PerByteCI.Contains(perByte) && line.BandwidthCI.Contains(1/perByte),
			&h: line.HalfBytesCI.Contains(latency / perByte),
			&b: BreakEvenBytes(line, other).CI.Contains(latency / perByte),
		} {
			if hit {
				*hits++
			}
		}
		if line.Misfit > 0.05 || math.Abs(line.Latency/latency-1) > 0.05 || math.Abs(line.PerByte/perByte-1) > 0.03 {
			t.Errorf("run %d: latency %v, per byte %v, misfit %v", i, line.Latency, line.PerByte, line.Misfit)
		}
	}
	t.Logf("of %d intervals, latency %d, per byte %d, half bytes %d, break-even %d hold the truth", runs, a, s, h, b)
	for _, hits := range []int{a, s, h, b} {
		if hits < runs*85/100 {
			t.Errorf("an interval holds the truth in %d of %d runs", hits, runs)
		}
	}
}

func TestFitLineEdges(t *testing.T) {
	flat, err := FitLine([]Series{{1, []float64{5}}, {2, []float64{5}}, {3, []float64{5}}, {3, []float64{5}}}, 1)
	if err != nil || flat.Latency != 5 || flat.PerByte != 0 || !math.IsNaN(flat.Bandwidth) || flat.BandwidthCI.Estimable() || !math.IsNaN(flat.HalfBytes) || flat.Misfit != 0 || flat.Sizes != 3 {
		t.Errorf("flat: %+v, %v", flat, err)
	}
	falling, err := FitLine([]Series{{1, []float64{9}}, {2, []float64{8}}, {3, []float64{7}}}, 1)
	if err != nil || falling.PerByte != -1 || falling.Latency != 10 || !math.IsNaN(falling.Bandwidth) {
		t.Errorf("falling: %+v, %v", falling, err)
	}
	fine := []Series{{1, []float64{9}}, {2, []float64{8}}}
	for _, test := range []struct {
		series []Series
		want   error
	}{
		{nil, ErrTooFew},
		{fine, ErrTooFew},
		{append(fine[:2:2], Series{2, []float64{7}}), ErrTooFew},
		{append(fine[:2:2], Series{0, []float64{7}}), ErrNotPositive},
		{append(fine[:2:2], Series{nan, []float64{7}}), ErrNotFinite},
		{append(fine[:2:2], Series{3, nil}), ErrEmpty},
		{append(fine[:2:2], Series{3, []float64{7, 0}}), ErrNotPositive},
		{append(fine[:2:2], Series{3, []float64{inf}}), ErrNotFinite},
	} {
		if _, err := FitLine(test.series, 1); !errors.Is(err, test.want) {
			t.Errorf("%v: error %v, want %v", test.series, err, test.want)
		}
	}
}

func TestBreakEven(t *testing.T) {
	for _, test := range []struct{ fixed, each, want float64 }{
		{10, -2, 5},
		{-10, -2, 0},
		{0, -2, 0},
		{10, 2, inf},
		{-10, 2, inf}, // ahead only at first
		{-10, 0, 0},
		{10, 0, inf},
		{0, 0, inf},
	} {
		if got := breakEven(test.fixed, test.each); got != test.want {
			t.Errorf("breakEven(%v, %v) = %v, want %v", test.fixed, test.each, got, test.want)
		}
	}
}

func TestBreakEvenUses(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	around := func(v float64) []float64 {
		x := autoregressive(r, 50, 0, 0.02)
		for i := range x {
			x[i] *= v
		}
		return x
	}
	mapped := Cost{Setup: around(100), Use: around(10)}
	staged := Cost{Setup: around(20), Use: around(30)}
	covered := 0
	const runs = 100
	for i := range uint64(runs) {
		b, err := BreakEvenUses(Cost{around(100), around(10)}, Cost{around(20), around(30)}, i)
		if err != nil || math.Abs(b.At-4) > 0.2 || !b.CI.Contains(b.At) {
			t.Fatalf("%+v, %v", b, err)
		}
		if b.CI.Contains(4) {
			covered++
		}
	}
	if covered < 88 {
		t.Errorf("%d of %d intervals hold the break-even", covered, runs)
	}
	if b, err := BreakEvenUses(staged, mapped, 1); err != nil || !math.IsInf(b.At, 1) || !math.IsInf(b.CI.Low, 1) {
		t.Errorf("never: %+v, %v", b, err)
	}
	same := Cost{Setup: mapped.Use, Use: mapped.Use}
	if b, err := BreakEvenUses(same, Cost{mapped.Setup, mapped.Setup}, 1); err != nil || b.At != 0 || b.CI.High != 0 {
		t.Errorf("always: %+v, %v", b, err)
	}
	for _, test := range []struct {
		b    Cost
		want error
	}{
		{Cost{Setup: staged.Setup}, ErrEmpty},
		{Cost{Setup: staged.Setup, Use: staged.Use[:5]}, ErrTooFew},
		{Cost{Setup: []float64{nan}, Use: staged.Use}, ErrNotFinite},
	} {
		if _, err := BreakEvenUses(mapped, test.b, 1); !errors.Is(err, test.want) {
			t.Errorf("error %v, want %v", err, test.want)
		}
	}
}

func TestWeightedMedian(t *testing.T) {
	for _, test := range []struct {
		values []weighted
		want   float64
	}{
		{[]weighted{{3, 1}, {1, 1}, {2, 1}}, 2},
		{[]weighted{{4, 1}, {1, 1}}, 2.5},
		{[]weighted{{4, 3}, {1, 1}}, 4},
		{[]weighted{{1, 1}, {2, 1}, {9, 2}}, 5.5},
		{[]weighted{{7, 0.1}}, 7},
	} {
		if got := weightedMedian(test.values); got != test.want {
			t.Errorf("weightedMedian(%v) = %v, want %v", test.values, got, test.want)
		}
	}
}

// TestMedianSource compares the distribution of drawn medians with that of the
// medians of real resamples.
func TestMedianSource(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	x := make([]float64, 41)
	for i := range x {
		x[i] = float64(i * 16 % 41) // alternates: no positive correlation
	}
	source := newMedianSource(x)
	const draws = 20000
	var drawn, resampled [2]float64 // sums, sums of squares
	again := make([]float64, len(x))
	random := rand.NewPCG(29, 30)
	for range draws {
		for i := range again {
			again[i] = x[r.IntN(len(x))]
		}
		a, b := source.draw(random), Quantile(again, 0.5)
		drawn[0] += a / draws
		drawn[1] += a * a / draws
		resampled[0] += b / draws
		resampled[1] += b * b / draws
	}
	sd := func(m [2]float64) float64 { return math.Sqrt(m[1] - m[0]*m[0]) }
	if math.Abs(drawn[0]-resampled[0]) > 0.2 || math.Abs(sd(drawn)/sd(resampled)-1) > 0.03 {
		t.Errorf("drawn: mean %v, sd %v; resampled: mean %v, sd %v", drawn[0], sd(drawn), resampled[0], sd(resampled))
	}
}
