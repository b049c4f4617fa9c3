package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// judge adjusts the p-values, gives verdicts and sorts by what matters. docs/results.md says what the adjustments hold.
func (c *Comparison) judge() {
	families, steps := c.families()
	for _, f := range families {
		c.adjust(f)
	}
	for phase, members := range steps {
		c.adjustSteps(&c.Cells[phase], members)
	}
	for i := range c.Cells {
		c.Cells[i].Verdict = c.Cells[i].judge()
	}
	rank := map[stats.Verdict]int{stats.Slower: 0, stats.Faster: 1, stats.Inconclusive: 2, stats.Equivalent: 3}
	slices.SortStableFunc(c.Cells, func(x, y Cell) int {
		if x.Step != y.Step {
			if x.Step {
				return 1
			}
			return -1
		}
		return cmp.Or(rank[x.Verdict]-rank[y.Verdict], cmp.Compare(y.surely(), x.surely()),
			cmp.Compare(math.Abs(math.Log(y.Test.Ratio)), math.Abs(math.Log(x.Test.Ratio))))
	})
}

// startFactor is how far apart the medians of two starts of one program may be: those of seven starts of the bare C baseline
// on one machine were up to 2.4 times apart (docs/runs/h200-baseline).
const startFactor = 3

// judge gives the verdict. On the basis of samples, which do not show by how much two starts of a program differ, only a
// difference that no two starts have is one.
func (x *Cell) judge() stats.Verdict {
	threshold := x.Threshold
	if x.Test.Basis == stats.BySamples {
		threshold = max(threshold, startFactor-1)
	}
	v := stats.Judge(x.Test.CI, x.AdjustedP, threshold, x.direction())
	if x.Test.Basis == stats.BySamples && v == stats.Equivalent {
		return stats.Inconclusive
	}
	return v
}

// family are the metrics of a run, without steps, whose unit is the same.
type family struct {
	run   int
	basis stats.Basis
	cells []int // indices in Comparison.Cells
}

// families marks the steps of phases that are compared themselves, and returns them by the index of their phase, and the
// families of all other cells.
func (c *Comparison) families() (families []family, steps map[int][]int) {
	type key struct {
		run    int
		of     share.Case
		metric string
	}
	index := make(map[key]int)
	for i := range c.Cells {
		index[key{c.Cells[i].Run, c.Cells[i].Case, c.Cells[i].Metric}] = i
	}
	steps = make(map[int][]int)
	for i := range c.Cells {
		x := &c.Cells[i]
		name, _, _ := strings.Cut(x.Metric, "/")
		if phase, ok := index[key{x.Run, x.Case, name}]; ok && name != x.Metric {
			x.Step = true
			steps[phase] = append(steps[phase], i)
			continue
		}
		k := slices.IndexFunc(families, func(f family) bool { return f.run == x.Run && f.basis == x.Test.Basis })
		if k < 0 {
			k = len(families)
			families = append(families, family{run: x.Run, basis: x.Test.Basis})
		}
		families[k].cells = append(families[k].cells, i)
	}
	return families, steps
}

// adjust is Benjamini and Yekutieli's adjustment in each direction by itself, times the number of runs that are compared with
// the base. In one direction the tests that point into the other count with a p of 1, so that a run that is much faster in
// most metrics does not make it easier to call the others slower.
func (c *Comparison) adjust(f family) {
	for _, worse := range []bool{true, false} {
		p := make([]float64, len(f.cells))
		for k, i := range f.cells {
			p[k] = 1
			if c.Cells[i].worse() == worse {
				p[k] = c.Cells[i].Test.P
			}
		}
		for k, q := range stats.BenjaminiYekutieli(p) {
			if cell := &c.Cells[f.cells[k]]; cell.worse() == worse {
				cell.AdjustedP = min(1, q*c.candidates())
			}
		}
	}
}

// adjustSteps is Holm's adjustment over the steps of a phase. No step is more significant than its phase.
func (c *Comparison) adjustSteps(phase *Cell, steps []int) {
	p := make([]float64, len(steps))
	for k, i := range steps {
		p[k] = c.Cells[i].Test.P
	}
	for k, q := range stats.Holm(p) {
		c.Cells[steps[k]].AdjustedP = max(phase.AdjustedP, q)
	}
}

// candidates is the number of runs that are compared with the base.
func (c *Comparison) candidates() float64 { return float64(len(c.Runs) - 1) }

func (x *Cell) direction() stats.Direction {
	if (Metric{Unit: x.Unit}).HigherIsBetter() {
		return stats.HigherIsBetter
	}
	return stats.LowerIsBetter
}

// worse reports whether the ratio says that the run is worse than the base, however little.
func (x *Cell) worse() bool {
	if x.direction() == stats.HigherIsBetter {
		return x.Test.Ratio < 1
	}
	return x.Test.Ratio > 1
}

// surely is how far the whole interval is from a ratio of 1, as a logarithm; 0 if it holds 1 or is not estimable.
func (x *Cell) surely() float64 {
	if !x.Test.CI.Estimable() || x.Test.CI.Contains(1) {
		return 0
	}
	return min(math.Abs(math.Log(x.Test.CI.Low)), math.Abs(math.Log(x.Test.CI.High)))
}

// sum makes the groups, in the order of runs, paths and metrics.
func (c *Comparison) sum() {
	type key struct {
		run                int
		path, metric, unit string
	}
	groups := make(map[key]*Group)
	for i := range c.Cells {
		cell := &c.Cells[i]
		k := key{cell.Run, cell.Case.Path, cell.Metric, cell.Unit}
		g := groups[k]
		if g == nil {
			g = &Group{Run: k.run, Path: k.path, Metric: k.metric, Unit: k.unit, Verdicts: make(map[stats.Verdict]int)}
			groups[k] = g
		}
		g.Cells++
		g.GeoMean += math.Log(cell.Test.Ratio)
		g.Verdicts[cell.Verdict]++
	}
	for _, g := range groups {
		g.GeoMean = math.Exp(g.GeoMean / float64(g.Cells))
		c.Groups = append(c.Groups, *g)
	}
	slices.SortFunc(c.Groups, func(x, y Group) int {
		return cmp.Or(x.Run-y.Run, cmp.Compare(x.Path, y.Path), metricOrder(x.Metric)-metricOrder(y.Metric), cmp.Compare(x.Metric, y.Metric),
			cmp.Compare(x.Unit, y.Unit))
	})
}

// metricOrder puts metrics in the order of a cycle: phases with their steps, then setup, then kernels.
func metricOrder(metric string) int {
	name, _, _ := strings.Cut(metric, "/")
	for _, p := range share.Phases() {
		if p.String() == name {
			return int(p)
		}
	}
	if name == share.Setup {
		return len(share.Phases()) + 1
	}
	return len(share.Phases()) + 2
}

// Verdicts counts the cells by verdict, without steps.
func (c *Comparison) Verdicts() map[stats.Verdict]int { return c.count(false) }

// StepVerdicts counts the steps of phases by verdict.
func (c *Comparison) StepVerdicts() map[stats.Verdict]int { return c.count(true) }

func (c *Comparison) count(steps bool) map[stats.Verdict]int {
	n := make(map[stats.Verdict]int)
	for i := range c.Cells {
		if c.Cells[i].Step == steps {
			n[c.Cells[i].Verdict]++
		}
	}
	return n
}

// Steps is the number of cells that are steps of a phase: the last ones.
func (c *Comparison) Steps() int {
	n := 0
	for i := range c.Cells {
		if c.Cells[i].Step {
			n++
		}
	}
	return n
}

// ExitStatus is ExitRegression if a run is slower in any phase, setup or kernel or a case broke in it, else ExitInconclusive
// if that was asked for and any of them is inconclusive, else 0. Steps do not count.
func (c *Comparison) ExitStatus() int {
	n := c.Verdicts()
	switch {
	case n[stats.Slower] > 0 || slices.ContainsFunc(c.Worse, Worse.Broken):
		return ExitRegression
	case n[stats.Inconclusive] > 0 && c.Options.FailOnInconclusive:
		return ExitInconclusive
	}
	return 0
}
