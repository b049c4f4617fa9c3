package stats

import (
	"math"
	"slices"
)

// outlierScore is the modified Z score, in multiples of σ estimated robustly,
// beyond which a sample is an outlier: ten. The customary 3.5 of Iglewicz and
// Hoaglin (How to Detect and Handle Outliers, 1993) labels several per cent of
// ordinary, right-skewed timings.
const outlierScore = 10

const (
	madToSigma = 1.4826 // σ of a normal distribution over its MAD
	iqrToSigma = 1.349  // its interquartile range over σ
)

// Outliers are labels on samples; nothing is ever removed because of them.
type Outliers struct {
	Indices   []int   // into the samples as given, ascending
	Low, High float64 // what lies strictly outside is an outlier
}

// FindOutliers labels samples whose modified Z score |x - median|/σ exceeds 10,
// σ being 1.4826 times the median absolute deviation. More than half of the
// samples of a coarse clock can be equal, which makes that 0; then σ is the
// interquartile range over 1.349, and if that is 0 too, the smallest step
// between two distinct samples (see [Tick]). Errors: ErrEmpty, ErrNotFinite.
func FindOutliers(samples []float64) (Outliers, error) {
	if err := checkFinite(samples); err != nil {
		return Outliers{}, err
	}
	x := sorted(samples)
	median := sortedQuantile(x, 0.5)
	var o Outliers
	o.Low, o.High = sortedFences(x, median, sortedMAD(x, median), sortedTick(x))
	for i, v := range samples {
		if v < o.Low || v > o.High {
			o.Indices = append(o.Indices, i)
		}
	}
	return o, nil
}

// Tick returns the smallest step between two distinct samples, in their unit:
// the granularity of the clock where samples are quantised. It is NaN when all
// are equal or one is NaN.
func Tick(samples []float64) float64 {
	return sortedTick(sorted(samples))
}

func sortedTick(x []float64) float64 {
	tick := math.NaN()
	for i := 1; i < len(x); i++ {
		if step := x[i] - x[i-1]; step > 0 && !(step >= tick) {
			tick = step
		}
	}
	return tick
}

// sortedMAD returns the median absolute deviation from center, which must lie
// within the sorted samples. The deviations form two sorted runs, so they are
// merged up to the middle rather than sorted.
func sortedMAD(x []float64, center float64) float64 {
	n := len(x)
	right, _ := slices.BinarySearch(x, center)
	left := right - 1
	var previous, current float64
	for range n/2 + 1 {
		previous = current
		if left >= 0 && (right == n || center-x[left] <= x[right]-center) {
			current = center - x[left]
			left--
		} else {
			current = x[right] - center
			right++
		}
	}
	if n%2 == 1 {
		return current
	}
	return previous + (current-previous)/2
}

// sortedFences returns the values outside which a sample is an outlier. tick is
// NaN when all are equal; then so are the fences and nothing is outside.
func sortedFences(x []float64, median, mad, tick float64) (low, high float64) {
	sigma := madToSigma * mad
	if sigma == 0 {
		sigma = (sortedQuantile(x, 0.75) - sortedQuantile(x, 0.25)) / iqrToSigma
	}
	if sigma == 0 {
		sigma = tick
	}
	return median - outlierScore*sigma, median + outlierScore*sigma
}

func countOutside(x []float64, low, high float64) int {
	count := 0
	for _, v := range x {
		if v < low || v > high {
			count++
		}
	}
	return count
}
