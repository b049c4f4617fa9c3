package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// judge adjusts the p-values over all cells, the family, gives verdicts and sorts by what matters.
func (c *Comparison) judge() {
	p := make([]float64, len(c.Cells))
	for i := range c.Cells {
		p[i] = c.Cells[i].Test.P
	}
	adjusted := stats.Holm(p)
	for i := range c.Cells {
		cell := &c.Cells[i]
		direction := stats.LowerIsBetter
		if (Metric{Unit: cell.Unit}).HigherIsBetter() {
			direction = stats.HigherIsBetter
		}
		cell.AdjustedP = adjusted[i]
		cell.Verdict = stats.Judge(cell.Test.CI, cell.AdjustedP, cell.Threshold, direction)
	}
	rank := map[stats.Verdict]int{stats.Slower: 0, stats.Faster: 1, stats.Inconclusive: 2, stats.Equivalent: 3}
	slices.SortStableFunc(c.Cells, func(x, y Cell) int {
		return cmp.Or(rank[x.Verdict]-rank[y.Verdict], cmp.Compare(math.Abs(math.Log(y.Test.Ratio)), math.Abs(math.Log(x.Test.Ratio))))
	})
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

// Verdicts counts the cells by verdict.
func (c *Comparison) Verdicts() map[stats.Verdict]int {
	n := make(map[stats.Verdict]int)
	for i := range c.Cells {
		n[c.Cells[i].Verdict]++
	}
	return n
}

// ExitStatus is ExitRegression if a run is slower in any cell, else ExitInconclusive if that was asked for and any cell is
// inconclusive, else 0.
func (c *Comparison) ExitStatus() int {
	n := c.Verdicts()
	switch {
	case n[stats.Slower] > 0:
		return ExitRegression
	case n[stats.Inconclusive] > 0 && c.Options.FailOnInconclusive:
		return ExitInconclusive
	}
	return 0
}

// advise says what keeps the comparison from finding anything.
func (c *Comparison) advise() {
	family := len(c.Cells)
	best, units := math.Inf(1), 0
	for i := range c.Cells {
		t := &c.Cells[i].Test
		if t.Basis != stats.ByProcesses {
			return
		}
		if p := smallestP(t.NA, t.NB); p < best {
			best, units = p, min(t.NA, t.NB)
		}
	}
	if best*float64(family) < stats.Alpha {
		return
	}
	enough := units
	for smallestP(enough, enough)*float64(family) >= stats.Alpha {
		enough++
	}
	c.Notes = append(c.Notes, fmt.Sprintf("With %d repeats p is at least %.2g, which over the %d metrics compared here cannot become significant: "+
		"nothing can be called faster or slower. Measure both runs with --repeat %d, or fewer metrics.", units, best, family, enough))
}

// smallestP is the smallest two-sided p of a Mann-Whitney test of n1 and n2 units: 2 of all (n1+n2 over n1) arrangements.
func smallestP(n1, n2 int) float64 {
	return 2 / combin.GeneralizedBinomial(float64(n1+n2), float64(n1))
}
