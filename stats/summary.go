package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Errors by which a caller decides; they are wrapped with the sample concerned.
var (
	// ErrEmpty says that there was no sample.
	ErrEmpty = errors.New("no samples")
	// ErrNotFinite says that a sample was NaN, infinite, or so large (beyond
	// ±1e150) that its square would be.
	ErrNotFinite = errors.New("not a finite number within ±1e150")
	// ErrNotPositive says that a sample of a ratio was not within [1e-150, 1e150].
	ErrNotPositive = errors.New("not a positive number within [1e-150, 1e150]")
	// ErrTooFew says that there were too few samples, sizes or processes.
	ErrTooFew = errors.New("too few")
)

const (
	largest  = 1e150
	smallest = 1e-150
)

// Summary describes the samples of one metric. Values are in the samples' unit.
// A float that is NaN is "not estimable" from that many samples; files leave it
// empty.
type Summary struct {
	N      int
	Median float64
	// CI is the interval of the median at ConfidenceLevel, allowing for
	// correlation, see [EffectiveMedianInterval]. Not estimable below 6 samples.
	CI     Interval
	Mean   float64
	StdDev float64 // of a sample, divisor n-1; NaN for one sample
	// MAD is the median of the absolute deviations from the median, as it is:
	// multiply by 1.4826 to compare it with the standard deviation of normal
	// samples.
	MAD float64
	Min float64
	// P5, P95 and P99 are quantiles, see [Quantile]. They are NaN until n is
	// large enough for their own interval to be finite at ConfidenceLevel: 72
	// samples for P5 and P95, 368 for P99.
	P5, P95, P99 float64
	Max          float64
	Lag1         float64 // see [Lag1]
	EffectiveN   float64 // see [EffectiveSize]; N where Lag1 is NaN
	Outliers     int     // how many samples FindOutliers would label
	// Tick is the smallest step between two distinct samples, the granularity
	// of the clock for samples much coarser than it; NaN if all are equal.
	Tick float64
}

// Summarize describes samples, given in the order in which they were measured.
// It doesn't modify them. Errors: ErrEmpty, ErrNotFinite.
func Summarize(samples []float64) (Summary, error) {
	if err := checkFinite(samples); err != nil {
		return Summary{}, err
	}
	x, ranks := sortedRanks(samples)
	n := len(x)
	s := Summary{
		N:      n,
		Median: sortedQuantile(x, 0.5),
		Min:    x[0],
		Max:    x[n-1],
		P5:     supportedQuantile(x, 0.05),
		P95:    supportedQuantile(x, 0.95),
		P99:    supportedQuantile(x, 0.99),
		Lag1:   lag1(ranks),
		Tick:   sortedTick(x),
	}
	s.EffectiveN = EffectiveSize(n, s.Lag1)
	s.CI = sortedMedianInterval(x, ConfidenceLevel, MedianEffectiveSize(n, s.Lag1))
	s.Mean, s.StdDev = stat.MeanStdDev(samples, nil)
	s.Mean = min(max(s.Mean, s.Min), s.Max) // rounding of a sum
	s.MAD = sortedMAD(x, s.Median)
	low, high := sortedFences(x, s.Median, s.MAD, s.Tick)
	s.Outliers = countOutside(x, low, high)
	return s, nil
}

// supportedQuantile returns the quantile, or NaN if n is too small for it.
func supportedQuantile(x []float64, q float64) float64 {
	l, r, _ := orderRanks(len(x), q, ConfidenceLevel)
	if l < 1 || r > len(x) {
		return math.NaN()
	}
	return sortedQuantile(x, q)
}

func checkFinite(samples []float64) error {
	if len(samples) == 0 {
		return ErrEmpty
	}
	for i, v := range samples {
		if !(math.Abs(v) <= largest) {
			return fmt.Errorf("sample %d is %v: %w", i, v, ErrNotFinite)
		}
	}
	return nil
}

func checkPositive(samples []float64) error {
	if err := checkFinite(samples); err != nil {
		return err
	}
	for i, v := range samples {
		if v < smallest {
			return fmt.Errorf("sample %d is %v: %w", i, v, ErrNotPositive)
		}
	}
	return nil
}
