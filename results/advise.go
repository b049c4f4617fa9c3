package results

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"gpushare-bench/stats"
)

// advise says, for each run, what keeps the comparison from finding anything or a difference of a single metric.
func (c *Comparison) advise() {
	families, _ := c.families()
	for run := 1; run < len(c.Runs); run++ {
		var samples, processes []int
		for _, f := range families {
			switch {
			case f.run != run:
			case f.basis == stats.BySamples:
				samples = f.cells
			default:
				processes = f.cells
			}
		}
		if len(samples) > 0 {
			c.note(run, c.adviseSamples(samples, len(samples)+len(processes)), len(processes) == 0)
		}
		if len(processes) > 0 {
			text, blind := c.adviseProcesses(processes)
			c.note(run, text, blind)
		}
	}
}

func (c *Comparison) note(run int, text string, blind bool) {
	if text == "" {
		return
	}
	if len(c.Runs) > 2 {
		text = "About " + c.Runs[run].Label + ": " + text
	}
	c.Notes = append(c.Notes, text)
	if blind {
		c.Blind = append(c.Blind, text)
	}
}

// adviseSamples is about cells with too few processes on either side, of as many cells in all.
func (c *Comparison) adviseSamples(cells []int, all int) string {
	most := 0
	for _, i := range cells {
		most = max(most, c.Cells[i].RepeatsA, c.Cells[i].RepeatsB)
	}
	what := fmt.Sprintf("Fewer than %d repeats on a side", stats.MinProcesses)
	if most == 1 {
		what = "One pair of processes a run"
	}
	if n := len(cells); n < all {
		return fmt.Sprintf("%d of %d metrics have fewer than %d repeats on a side: what differs between two starts of the program is not in "+
			"their intervals, so of these only a difference of more than a factor of %d is called slower or faster.", n, all, stats.MinProcesses, startFactor)
	}
	some, one := c.enough(stats.MinProcesses, all, all), c.enough(stats.MinProcesses, all, 1)
	text := fmt.Sprintf("%s: what differs between two starts of the program is not in these intervals, so only a difference of more than a "+
		"factor of %d is called slower or faster. To find less, measure both runs with --repeat %d", what, startFactor, some)
	if some == one {
		return text + " or more."
	}
	return fmt.Sprintf("%s at least: %d repeats find a difference that at least %d of these %d metrics have, %d find it in a single one.",
		text, some, c.least(some, some, all), all, one)
}

// adviseProcesses is about cells that are compared by processes; blind says that none of them can be significant.
func (c *Comparison) adviseProcesses(cells []int) (text string, blind bool) {
	best, a, b := math.Inf(1), 0, 0
	for _, i := range cells {
		t := &c.Cells[i].Test
		if p := smallestP(t.NA, t.NB); p < best {
			best, a, b = p, t.NA, t.NB
		}
	}
	repeats, all := min(a, b), len(cells)
	least := c.least(a, b, all)
	switch {
	case least == 1:
		return "", false
	case least > all:
		text = fmt.Sprintf("With %d repeats p is at least %.2g, which can't become significant among %s", repeats, best, count(all, "metric"))
		if n := len(c.Runs) - 1; n > 1 {
			text += fmt.Sprintf(" of %d runs", n)
		}
		some, one := c.enough(repeats, all, all), c.enough(repeats, all, 1)
		text += fmt.Sprintf(": nothing can be called faster or slower. Measure all runs with --repeat %d at least", some)
		if some < one {
			text += fmt.Sprintf("; %d find a difference of a single metric", one)
		}
		return text + ".", true
	}
	return fmt.Sprintf("With %d repeats a difference is found only where at least %d of these %d metrics have it; --repeat %d finds it in a single one.",
		repeats, least, all, c.enough(repeats, all, 1)), false
}

// least is how many of all metrics must be as different as can be before any of them is significant with a and b units: by
// the adjustment that [Comparison.adjust] makes. More than all: none can be.
func (c *Comparison) least(a, b, all int) int {
	return int(math.Floor(smallestP(a, b)*c.candidates()*float64(all)*stats.Harmonic(all)/stats.Alpha)) + 1
}

// enough is the number of units on both sides, at least from, with which a difference that most of all metrics have can be
// significant.
func (c *Comparison) enough(from, all, most int) int {
	for c.least(from, from, all) > most {
		from++
	}
	return from
}

// smallestP is the smallest two-sided p of a Mann-Whitney test of n1 and n2 units: 2 of all (n1+n2 over n1) arrangements.
func smallestP(n1, n2 int) float64 {
	return 2 / combin.GeneralizedBinomial(float64(n1+n2), float64(n1))
}
