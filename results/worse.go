package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/share"
)

// Worse is a case that the base measured and that ends worse in another run, in any of its repeats.
type Worse struct {
	Run      int // index in Comparison.Runs
	Case     share.Case
	Other    share.Case   // as the other run has it
	From, To share.Status // the worst of the repeats of the base and of the run
	Repeats  int          // repeats of the run that ended like this
	Of       int          // its repeats
	Reason   string       // of the first of them
}

// Broken reports whether the case is corrupt, failed or timed out: a regression. A case that is unsupported or partial is
// none.
func (w Worse) Broken() bool { return broken(w.To) }

func broken(s share.Status) bool {
	return s == share.StatusCorrupt || s == share.StatusFailed || s == share.StatusTimeout
}

// worsen adds a case of the base, a, if it is worse in run number index. A case that broke in the base as well is worse only
// if nothing was measured, or if it is corrupt now and was not.
func (c *Comparison) worsen(a, b repeats, index int) {
	if kept, _ := a.usable(); len(kept) == 0 {
		return
	}
	kept, _ := b.usable()
	from, to := a.worst(), b.worst()
	var like func(*CaseResult) bool
	switch {
	case broken(to.Status):
		if broken(from.Status) && len(kept) > 0 && (from.Status == share.StatusCorrupt || to.Status != share.StatusCorrupt) {
			return
		}
		like = func(r *CaseResult) bool { return broken(r.Status) }
	case severity[to.Status] > max(severity[from.Status], severity[share.StatusInterrupted]):
		like = func(r *CaseResult) bool { return r.Status == to.Status }
	default:
		return
	}
	n := 0
	for _, r := range b {
		if like(r) {
			n++
		}
	}
	c.Worse = append(c.Worse, Worse{Run: index, Case: a[0].Case, Other: to.Case, From: from.Status, To: to.Status, Repeats: n, Of: len(b), Reason: to.Reason})
}

// sortWorse puts the worst first.
func (c *Comparison) sortWorse() {
	slices.SortStableFunc(c.Worse, func(x, y Worse) int { return cmp.Or(x.Run-y.Run, severity[y.To]-severity[x.To]) })
}

// WorseCounts says in a sentence for each run how many of the cases that the base measured are broken in it, or, if not
// broken, are measured less.
func (c *Comparison) WorseCounts(broken bool) []string {
	var lines []string
	for run := 1; run < len(c.Runs); run++ {
		counts := make(map[share.Status]int)
		var order []share.Status
		for _, w := range c.Worse {
			if w.Run == run && w.Broken() == broken {
				if counts[w.To] == 0 {
					order = append(order, w.To)
				}
				counts[w.To]++
			}
		}
		var parts []string
		for i, s := range order {
			of := ""
			if i == 0 {
				of = fmt.Sprintf(" of the cases that %s measured", c.Runs[0].Label)
			}
			parts = append(parts, fmt.Sprintf("%d%s %s", counts[s], of, became(s, counts[s])))
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("in %s %s", c.Runs[run].Label, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// became is the predicate of n cases with the status.
func became(s share.Status, n int) string {
	switch {
	case s == share.StatusFailed:
		return "failed"
	case s == share.StatusTimeout:
		return "timed out"
	case n == 1:
		return "is " + string(s)
	}
	return "are " + string(s)
}

// VerdictLine is the outcome in a line: what broke, then how many metrics have which verdict.
func (c *Comparison) VerdictLine() string {
	return strings.Join(append(c.WorseCounts(true), c.counts()), "; ")
}

// Where says in which of the repeats; "" if in all.
func (w Worse) Where() string {
	if w.Repeats == w.Of {
		return ""
	}
	return fmt.Sprintf("in %d of %d repeats", w.Repeats, w.Of)
}
