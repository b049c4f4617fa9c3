package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// poolLevel is the level of the test that processes differ, above which their
// samples are pooled. To pool wrongly costs more than not to, hence 0.25 rather
// than 0.05 (T. A. Bancroft, "Analysis and Inference for Incompletely Specified
// Models", Biometrics 20, 1964).
const poolLevel = 0.25

// Components are the parts of the variance of a metric that was measured in
// several processes (here: pairs of processes), several iterations in each.
type Components struct {
	Processes  int
	Iterations float64 // in each; their harmonic mean where they differ
	// Mean is the mean of the processes' means, CI its interval at
	// ConfidenceLevel with the process as the unit.
	Mean float64
	CI   Interval
	// Within is the variance from iteration to iteration, Between that from
	// process to process alone, both in the square of the samples' unit.
	// Between is an unbiased estimate, so it may be negative when processes
	// don't differ.
	Within, Between float64
}

// VarianceComponents separates the variance of processes from that of their
// iterations (T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable
// Time", ISMM 2013, two levels; Between is by the recursion as corrected after
// publication, T₂² = S₂² - S₁²/r₁). Errors: ErrEmpty, ErrNotFinite, and
// ErrTooFew with less than 2 processes or a process of less than 2 samples.
//
// In R, for as many iterations r in each: m <- anova(lm(x ~ process))$Mean;
// Within is m[2] and Between (m[1]-m[2])/r.
func VarianceComponents(processes [][]float64) (Components, error) {
	if len(processes) < 2 {
		return Components{}, fmt.Errorf("variance of %d processes: %w", len(processes), ErrTooFew)
	}
	var c Components
	means := make([]float64, len(processes))
	var inverse float64
	for i, samples := range processes {
		if err := checkFinite(samples); err != nil {
			return Components{}, fmt.Errorf("process %d: %w", i, err)
		}
		if len(samples) < 2 {
			return Components{}, fmt.Errorf("process %d has 1 sample: %w", i, ErrTooFew)
		}
		mean, variance := stat.MeanVariance(samples, nil)
		means[i] = mean
		c.Within += variance / float64(len(processes))
		inverse += 1 / float64(len(samples)) / float64(len(processes))
	}
	c.Processes = len(processes)
	c.Iterations = 1 / inverse
	mean, variance := stat.MeanVariance(means, nil)
	c.Mean = mean
	c.Between = variance - c.Within/c.Iterations
	n := float64(len(means))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1+ConfidenceLevel)/2) * math.Sqrt(variance/n)
	c.CI = Interval{mean - half, mean + half, ConfidenceLevel}
	return c, nil
}

// Noise returns the standard deviation from process to process as a share of the
// mean: what two runs of the same thing differ by, however many iterations they
// have. It is 0 where Between is not positive.
func (c Components) Noise() float64 {
	return math.Sqrt(max(0, c.Between)) / math.Abs(c.Mean)
}

// OptimalIterations returns how many iterations a process should have for the
// narrowest interval in a given time, where starting a process costs as much as
// cost iterations: √(cost·Within/Between), rounded up. It is false where Between
// is not positive: then more processes gain nothing.
func (c Components) OptimalIterations(cost float64) (int, bool) {
	if !(c.Between > 0) || !(cost >= 0) {
		return 0, false
	}
	n := math.Ceil(math.Sqrt(cost * c.Within / c.Between))
	return int(min(max(n, 1), math.MaxInt32)), true
}

// CompareProcesses compares positive samples of a metric from several processes
// on each side. From [MinProcesses] on either side it takes the median of each
// process as one unit, so that what differs from process to process is in the
// interval. With fewer it falls back to all samples, as [Compare] does, but lets
// them count for less by how much their processes differ: for n/(1+(r-1)ρ) of n
// samples, r in each process, ρ being the intraclass correlation of the ranks
// (L. Kish, Survey Sampling, 1965), and for the number of processes where these
// are likely to differ, which leaves no interval. A single process says nothing of
// how the next one would differ. Errors: ErrEmpty, ErrNotFinite, ErrNotPositive.
func CompareProcesses(a, b [][]float64) (Comparison, error) {
	for side, processes := range [][][]float64{a, b} {
		if len(processes) == 0 {
			return Comparison{}, fmt.Errorf("side %d: %w", side+1, ErrEmpty)
		}
		for i, samples := range processes {
			if err := checkPositive(samples); err != nil {
				return Comparison{}, fmt.Errorf("side %d, process %d: %w", side+1, i, err)
			}
		}
	}
	if len(a) >= MinProcesses && len(b) >= MinProcesses {
		x, y := medians(a), medians(b)
		slices.Sort(x)
		slices.Sort(y)
		c := compareSorted(x, y, float64(len(x)), float64(len(y)))
		c.Basis = ByProcesses
		return c, nil
	}
	x, m1 := pool(a)
	y, m2 := pool(b)
	c := compareSorted(x, y, m1, m2)
	c.Basis = BySamples
	return c, nil
}

func medians(processes [][]float64) []float64 {
	m := make([]float64, len(processes))
	for i, samples := range processes {
		m[i] = Quantile(samples, 0.5)
	}
	return m
}

// pool returns all samples, sorted, and how many independent ones they are worth
// by their lag-1 correlation or by their processes, whichever is less. Where an
// analysis of variance of the ranks finds that processes differ, they are worth
// no more than there are processes.
func pool(processes [][]float64) (x []float64, effective float64) {
	x, ranks := sortedRanks(slices.Concat(processes...))
	n, k := float64(len(x)), float64(len(processes))
	effective = EffectiveSize(len(x), lag1(ranks))
	groups := make([][]float64, len(processes))
	for i, samples := range processes {
		groups[i], ranks = ranks[:len(samples)], ranks[len(samples):]
	}
	c, err := VarianceComponents(groups)
	if err != nil || c.Between <= 0 {
		return x, effective // one process, or nothing to tell them apart
	}
	f := distuv.F{D1: k - 1, D2: n - k}
	if c.Within == 0 || f.Survival(1+c.Iterations*c.Between/c.Within) < poolLevel {
		return x, min(effective, k)
	}
	rho := c.Between / (c.Between + c.Within)
	return x, min(effective, n/(1+(n/k-1)*rho))
}
