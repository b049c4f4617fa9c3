package stats

import (
	"math"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Above these sizes the U statistic's distribution is taken as normal, since the
// cost of the exact one grows with the fourth power of the size. Without ties one
// table serves all samples of that size; with ties each has its own, 1 ms at 12
// and 27 ms at 25, where the normal one is within 0.002 of it.
const (
	exactLimit     = 50 // each sample, without ties
	exactTiesLimit = 12 // each sample, with ties
)

// RankTest is the outcome of a two-sided Mann-Whitney U test of the hypothesis
// that both samples come from one distribution.
type RankTest struct {
	// U counts the pairs in which the second sample's value is the larger, and
	// half of those in which both are equal; from 0 to n1·n2.
	U float64
	// P is the probability of a U at least as extreme if the hypothesis holds.
	// It is 1 when all values are equal.
	P float64
	// Exact says that P is from U's exact distribution given the ties, and not
	// from the normal approximation with corrections for ties and continuity.
	Exact bool
}

// MannWhitney tests whether independent samples a and b come from one
// distribution (H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two
// Random Variables is Stochastically Larger than the Other", Annals of
// Mathematical Statistics 18, 1947). P is exact for up to 50 samples each, 12
// with ties. It takes O(n log n) time. Errors: ErrEmpty, ErrNotFinite.
//
// In R: wilcox.test(b, a), which is exact only without ties.
func MannWhitney(a, b []float64) (RankTest, error) {
	if err := checkFinite(a); err != nil {
		return RankTest{}, err
	}
	if err := checkFinite(b); err != nil {
		return RankTest{}, err
	}
	return sortedMannWhitney(sorted(a), sorted(b), float64(len(a)), float64(len(b))), nil
}

// sortedMannWhitney is the test for sorted samples worth m1 and m2 independent
// ones. Where these are fewer than there are, the normal approximation is used
// with the variance that m1 and m2 samples would have.
func sortedMannWhitney(a, b []float64, m1, m2 float64) RankTest {
	n1, n2 := len(a), len(b)
	u, ties := mergeRanks(a, b)
	if len(ties) == 1 {
		return RankTest{U: u, P: 1}
	}
	independent := m1 == float64(n1) && m2 == float64(n2)
	tied := len(ties) < n1+n2
	switch {
	case independent && !tied && max(n1, n2) <= exactLimit:
		cdf := uDistribution(n1, n2)
		tail := cdf[int(min(u, float64(n1*n2)-u))]
		return RankTest{u, min(1, 2*tail), true}
	case independent && tied && max(n1, n2) <= exactTiesLimit:
		// With ties and n1 ≠ n2 the distribution need not be symmetric: both
		// tails are computed, each from its own side.
		lower := stats.UDist{N1: n2, N2: n1, T: ties}.CDF(u)
		reversed := make([]int, len(ties))
		for i, t := range ties {
			reversed[len(ties)-1-i] = t
		}
		upper := stats.UDist{N1: n2, N2: n1, T: reversed}.CDF(float64(n1*n2) - u)
		return RankTest{u, min(1, 2*min(lower, upper)), true}
	}
	f1, f2, n := float64(n1), float64(n2), float64(n1+n2)
	var correction float64
	for _, t := range ties {
		t := float64(t)
		correction += t * (t*t - 1)
	}
	variance := f1 * f2 / 12 * (n + 1 - correction/(n*(n-1)))
	variance *= f1 * f2 * (m1 + m2 + 1) / (m1 * m2 * (n + 1))
	z := max(0, math.Abs(u-f1*f2/2)-0.5) / math.Sqrt(variance)
	return RankTest{U: u, P: math.Erfc(z / math.Sqrt2)}
}

// mergeRanks returns U for sorted samples and how often each distinct value of
// the merged sample occurs, ascending.
func mergeRanks(a, b []float64) (u float64, ties []int) {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		var v float64
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			v = a[i]
		} else {
			v = b[j]
		}
		i0, j0 := i, j
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		u += float64(j-j0) * (float64(i0) + float64(i-i0)/2)
		ties = append(ties, i-i0+j-j0)
	}
	return u, ties
}

var uDistributions sync.Map // [2]int{n1, n2} to []float64

// uDistribution returns P(U ≤ u), u from 0 to n1·n2, without ties, by Mann and
// Whitney's recurrence. Only sums of positive terms occur, so it is accurate to
// a few ulps. The result is shared: it must not be modified.
func uDistribution(n1, n2 int) []float64 {
	n1, n2 = min(n1, n2), max(n1, n2) // it is symmetric in them
	key := [2]int{n1, n2}
	if cdf, ok := uDistributions.Load(key); ok {
		return cdf.([]float64)
	}
	previous := make([][]float64, n2+1) // p(n-1, m, ·) for all m
	for m := range previous {
		previous[m] = []float64{1}
	}
	for n := 1; n <= n1; n++ {
		current := make([][]float64, n2+1)
		current[0] = []float64{1}
		for m := 1; m <= n2; m++ {
			p := make([]float64, n*m+1)
			wn, wm := float64(n)/float64(n+m), float64(m)/float64(n+m)
			for u, q := range previous[m] {
				p[u+m] += wn * q
			}
			for u, q := range current[m-1] {
				p[u] += wm * q
			}
			current[m] = p
		}
		previous = current
	}
	cdf := previous[n2]
	for u := 1; u < len(cdf); u++ {
		cdf[u] += cdf[u-1]
	}
	uDistributions.Store(key, cdf)
	return cdf
}
