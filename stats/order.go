package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// ConfidenceLevel is the nominal level of every interval that this package
// computes without being told a level.
const ConfidenceLevel = 0.95

// Interval is a confidence interval, both ends included.
//
// Intervals from order statistics or ranks can only reach certain levels;
// Level is the one reached, at least the one asked for. Where the samples are
// too few for any finite interval at that level, all three fields are NaN:
// "not estimable", never a guess. Low and High are in the unit of the samples,
// or ratios without unit.
type Interval struct {
	Low, High float64
	Level     float64 // in (0, 1]
}

// notEstimable is the interval of samples that are too few to have one.
func notEstimable() Interval {
	return Interval{math.NaN(), math.NaN(), math.NaN()}
}

// Estimable reports whether there is an interval at all.
func (i Interval) Estimable() bool {
	return !math.IsNaN(i.Low) && !math.IsNaN(i.High)
}

// Contains reports whether v lies in the interval, ends included. It is false
// for an interval that is not estimable.
func (i Interval) Contains(v float64) bool {
	return i.Low <= v && v <= i.High
}

// RelativeHalfWidth returns half the width of the interval as a fraction of
// |center|: 0.02 for ±2 %. It is NaN where the interval is not estimable, and
// +Inf for an interval of some width about zero.
func (i Interval) RelativeHalfWidth(center float64) float64 {
	half := (i.High - i.Low) / 2
	if half == 0 {
		return 0
	}
	return half / math.Abs(center)
}

// Quantile returns the q-quantile of the samples, 0 ≤ q ≤ 1, by definition 8 of
// Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
// Statistician 50 (1996): linear interpolation at rank (n + 1/3)q + 1/3, which
// is median-unbiased whatever the distribution. For q = 0.5 it is the ordinary
// median. The result is NaN for no samples, for a sample that is NaN, and for
// a q outside [0, 1]. Samples are in any order and stay unchanged.
func Quantile(samples []float64, q float64) float64 {
	return sortedQuantile(sorted(samples), q)
}

// sorted returns a sorted copy; NaN sorts first.
func sorted(samples []float64) []float64 {
	s := slices.Clone(samples)
	slices.Sort(s)
	return s
}

// sortedQuantile is Quantile on sorted samples. moremath's Quantile has the
// same definition but truncates the rank, so that rounding makes the median of
// some odd n a blend of two samples.
func sortedQuantile(x []float64, q float64) float64 {
	n := len(x)
	if n == 0 || !(q >= 0 && q <= 1) || math.IsNaN(x[0]) {
		return math.NaN()
	}
	const fuzz = 4 * 0x1p-52
	h := (float64(n)+1.0/3)*q + 1.0/3
	k := math.Floor(h + fuzz*h)
	frac := h - k
	if math.Abs(frac) < fuzz*h {
		frac = 0
	}
	switch {
	case k < 1:
		return x[0]
	case k >= float64(n):
		return x[n-1]
	}
	lo, hi := x[int(k)-1], x[int(k)]
	if frac == 0 || lo == hi {
		return lo
	}
	return min(lo+frac*(hi-lo), hi)
}

// MedianInterval returns the exact confidence interval of the median from order
// statistics, valid for independent samples of any continuous distribution (and
// conservative with ties): the number of samples below the true median is
// Binomial(n, 1/2). It needs 6 samples at level 0.95.
func MedianInterval(samples []float64, level float64) Interval {
	return QuantileInterval(samples, 0.5, level)
}

// QuantileInterval returns the exact, equal-tailed confidence interval of the
// q-quantile from order statistics (H. A. David and H. N. Nagaraja, Order
// Statistics, 3rd edition, section 7.1): at most (1-level)/2 for each tail. It
// is not estimable when the samples are too few: for 0.95, p95 needs 72 samples
// and p99 needs 368.
//
// The binomial distribution is evaluated exactly for every n. moremath's
// QuantileCI is exact only up to n = 30, and leans left where it has a choice,
// which would favour the smaller value in a comparison.
func QuantileInterval(samples []float64, q, level float64) Interval {
	return sortedInterval(sorted(samples), q, level)
}

// EffectiveMedianInterval is MedianInterval for samples in time order that are
// correlated: it uses the effective sample size, see [MedianEffectiveSize]. It
// is never narrower than MedianInterval's.
func EffectiveMedianInterval(samples []float64, level float64) Interval {
	x, ranks := sortedRanks(samples)
	return sortedMedianInterval(x, level, MedianEffectiveSize(len(x), lag1(ranks)))
}

// sortedInterval returns the exact interval of the q-quantile of sorted samples.
func sortedInterval(x []float64, q, level float64) Interval {
	n := len(x)
	l, r, achieved := orderRanks(n, q, level)
	if l < 1 || r > n || math.IsNaN(x[0]) {
		return notEstimable()
	}
	return Interval{x[l-1], x[r-1], achieved}
}

// sortedMedianInterval returns the interval of the median of sorted samples that
// are worth effective independent ones, at most as many as there are. It takes
// the exact ranks and moves them away from the middle, by as much more as the
// standard error of effective samples is larger.
func sortedMedianInterval(x []float64, level, effective float64) Interval {
	n := len(x)
	l, r, achieved := orderRanks(n, 0.5, level)
	if l < 1 || r > n || math.IsNaN(x[0]) {
		return notEstimable()
	}
	middle := float64(n+1) / 2
	l = int(math.Round(middle - (middle-float64(l))*math.Sqrt(float64(n)/effective)))
	if l < 1 {
		return notEstimable()
	}
	return Interval{x[l-1], x[n-l], achieved}
}

// orderRanks returns the ranks l and r, from 1, of the order statistics of n
// independent samples that enclose the q-quantile with at most (1-level)/2 on
// either side, and the level that they achieve. l = 0 or r = n+1 says that there
// is no such order statistic.
func orderRanks(n int, q, level float64) (l, r int, achieved float64) {
	if n < 1 || !(q > 0 && q < 1) || !(level > 0 && level < 1) {
		return 0, n + 1, 1
	}
	tail := (1 - level) / 2
	l = lowerRank(n, q, tail)
	r = n + 1 - lowerRank(n, 1-q, tail)
	achieved = 1 - binomialCDF(l-1, n, q) - binomialCDF(n-r, n, 1-q)
	return l, r, achieved
}

// lowerRank returns the largest l with P(B ≤ l-1) ≤ tail, B ~ Binomial(n, q).
func lowerRank(n int, q, tail float64) int {
	lo, hi := 0, n // P(B ≤ lo-1) ≤ tail always holds
	for lo < hi {
		mid := int(uint(lo+hi+1) / 2)
		if binomialCDF(mid-1, n, q) <= tail {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// binomialCDF returns P(B ≤ k) for B ~ Binomial(n, q), 0 < q < 1.
func binomialCDF(k, n int, q float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-q)
}
