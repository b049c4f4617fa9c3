package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Spearman returns the rank correlation of a and b (C. Spearman, American Journal of Psychology 15, 1904): the Pearson
// correlation of their ranks, ties having their mean, from -1 to 1. It is NaN if the lengths differ, for fewer than 2
// samples, and if either is all equal.
func Spearman(a, b []float64) float64 {
	if len(a) != len(b) || len(a) < 2 || checkFinite(a) != nil || checkFinite(b) != nil {
		return math.NaN()
	}
	_, x := sortedRanks(a)
	_, y := sortedRanks(b)
	return stat.Correlation(x, y, nil)
}
