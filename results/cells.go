package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// match finds the partners in two runs and adds what they give.
func (c *Comparison) match(base, other *Run, index int) {
	pairs := pairDevices(base, other)
	c.Runs[index].Matching = pairs.how
	groups := groupByCase(base.Cases)
	ours := make(map[share.Case]repeats) // the base's
	for _, g := range groups {
		ours[g[0].Case] = g
	}
	why := neighboursOf(ours)
	theirs := make(map[share.Case]repeats) // under the base's names
	for _, g := range groupByCase(other.Cases) {
		name, ok := pairs.match(g[0].Case)
		switch {
		case !ok:
			c.lack(index, 0, g[0].Case, "", pairs.why[pairOf(g[0].Case)])
		case ours[name] == nil:
			c.lack(index, 0, g[0].Case, "", why.no(name))
			theirs[name] = g
		default:
			theirs[name] = g
		}
	}
	why = neighboursOf(theirs)
	for _, g := range groups {
		if partner := theirs[g[0].Case]; partner != nil {
			c.worsen(g, partner, index)
			c.matchMetrics(g, partner, index)
		} else {
			c.lack(0, index, g[0].Case, "", why.no(g[0].Case))
		}
	}
}

func (c *Comparison) lack(in, notIn int, which share.Case, metric, why string) {
	c.Unmatched = append(c.Unmatched, Unmatched{in, notIn, which, metric, why})
}

// usable returns the repeats whose samples count, and what to say about the others.
func (g repeats) usable() (kept repeats, note string) {
	for _, r := range g {
		if r.Status == share.StatusOK || r.Status == share.StatusPartial {
			kept = append(kept, r)
		}
	}
	if n := len(g) - len(kept); n > 0 {
		w := g.worst()
		note = fmt.Sprintf("%d of %d repeats not used: %s", n, len(g), w.Status)
		if len(g) == 1 {
			note = string(w.Status)
		}
		if w.Reason != "" {
			note += ": " + w.Reason
		}
	}
	return kept, note
}

func (c *Comparison) matchMetrics(a, b repeats, index int) {
	keptA, noteA := a.usable()
	keptB, noteB := b.usable()
	keysA, keysB := keptA.metrics(), keptB.metrics()
	if len(keysA) == 0 && len(keysB) == 0 {
		if sa, sb := a.worst(), b.worst(); sa.Status != sb.Status {
			c.lack(0, index, a[0].Case, "", fmt.Sprintf("%s here, %s there; nothing was measured", sa.Status, sb.Status))
		}
		return
	}
	absent := func(g repeats, note string) string {
		w := g.worst()
		switch {
		case note != "":
			return note
		case w.Status != share.StatusOK:
			return strings.TrimSuffix(fmt.Sprintf("%s: %s", w.Status, w.Reason), ": ")
		}
		return "not measured there"
	}
	for _, k := range keysB {
		if !slices.Contains(keysA, k) {
			c.lack(index, 0, b[0].Case, k.Name, absent(a, noteA))
		}
	}
	for _, k := range keysA {
		if !slices.Contains(keysB, k) {
			c.lack(0, index, a[0].Case, k.Name, absent(b, noteB))
			continue
		}
		cell := Cell{Run: index, Case: a[0].Case, Other: b[0].Case, Link: a[0].Link, OtherLink: b[0].Link, Metric: k.Name, Unit: k.Unit,
			Threshold: c.Options.threshold(k.Name), WarningsA: keptA.warnings(k.Name), WarningsB: keptB.warnings(k.Name)}
		ma, mb := keptA.metric(k), keptB.metric(k)
		var err error
		if cell.Test, err = stats.CompareProcesses(sampleSets(ma), sampleSets(mb)); err != nil {
			c.lack(0, index, a[0].Case, k.Name, whyNoTest(err))
			continue
		}
		var medians []float64
		cell.A, medians = summarize(ma)
		cell.RepeatsA = len(medians)
		cell.B, medians = summarize(mb)
		cell.RepeatsB = len(medians)
		for i, note := range []string{noteA, noteB} {
			if note != "" {
				cell.Notes = append(cell.Notes, c.Runs[[]int{0, index}[i]].Label+": "+note)
			}
		}
		c.Cells = append(c.Cells, cell)
	}
}

// whyNoTest explains samples that have no ratio.
func whyNoTest(err error) string {
	switch {
	case errors.Is(err, stats.ErrEmpty):
		return "one of the runs has no samples of it"
	case errors.Is(err, stats.ErrNotPositive):
		return "a sample is 0, the clock is too coarse for a ratio"
	}
	return err.Error()
}
