package stats

import (
	"fmt"
	"math"
)

// Basis says what the independent unit of a comparison was.
type Basis string

const (
	// BySamples: every cycle counts, allowing for correlation between
	// neighbours. What differs from process to process is not in the interval.
	BySamples Basis = "samples"
	// ByProcesses: the median of each pair of processes counts once.
	ByProcesses Basis = "processes"
)

// MinProcesses is the number of processes on either side from which a comparison
// goes by processes: with 4 and 4 the smallest p is 0.029, with 3 and 3 it is
// 0.1, above any useful level.
const MinProcesses = 4

// Comparison says by how much b differs from a.
type Comparison struct {
	// Ratio is exp of the Hodges-Lehmann shift of the logarithms: the median of
	// all ratios b/a of a sample of b to one of a. It is not the ratio of the
	// medians, though close to it where both have the same shape.
	Ratio float64
	CI    Interval // of Ratio, at ConfidenceLevel or more; may be not estimable
	U, P  float64  // Mann-Whitney, see [RankTest]; P is not yet adjusted
	Exact bool     // whether P is exact
	Basis Basis
	// NA and NB are the numbers of units, EffectiveA and EffectiveB what these
	// are worth.
	NA, NB                 int
	EffectiveA, EffectiveB float64
}

// Compare compares positive samples in time order, each from one process. The
// interval inverts the Mann-Whitney test (J. L. Hodges and E. L. Lehmann,
// "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics
// 34, 1963); both it and P use the effective sample sizes, so that correlated
// samples don't feign significance. A million samples each take less than a
// second. Errors: ErrEmpty, ErrNotFinite, ErrNotPositive.
//
// In R, for samples without positive lag-1 correlation:
// exp(wilcox.test(log(b), log(a), conf.int = TRUE)$conf.int).
func Compare(a, b []float64) (Comparison, error) {
	if err := checkPositive(a); err != nil {
		return Comparison{}, fmt.Errorf("first sample set: %w", err)
	}
	if err := checkPositive(b); err != nil {
		return Comparison{}, fmt.Errorf("second sample set: %w", err)
	}
	x, xRanks := sortedRanks(a)
	y, yRanks := sortedRanks(b)
	m1 := EffectiveSize(len(a), lag1(xRanks))
	m2 := EffectiveSize(len(b), lag1(yRanks))
	c := compareSorted(x, y, m1, m2)
	c.Basis = BySamples
	return c, nil
}

// compareSorted compares sorted samples, which it replaces by their logarithms.
func compareSorted(x, y []float64, m1, m2 float64) Comparison {
	test := sortedMannWhitney(x, y, m1, m2)
	logs(x)
	logs(y)
	d := differences{x: x, y: y}
	shift, ci := d.hodgesLehmann(m1, m2, ConfidenceLevel)
	ratio := math.Exp(shift)
	return Comparison{
		Ratio: ratio,
		// Exp may round neighbours the wrong way around.
		CI:         Interval{min(math.Exp(ci.Low), ratio), max(math.Exp(ci.High), ratio), ci.Level},
		U:          test.U,
		P:          test.P,
		Exact:      test.Exact,
		NA:         len(x),
		NB:         len(y),
		EffectiveA: m1,
		EffectiveB: m2,
	}
}

func logs(x []float64) {
	for i, v := range x {
		x[i] = math.Log(v)
	}
}
