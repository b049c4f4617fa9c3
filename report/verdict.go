package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// verdict answers which path to use between a pair at a size, with the figures behind it.
type verdict struct {
	Title string
	Lines []verdictLine
	Head  []string
	Rows  []verdictRow
}

type verdictLine struct{ Question, Answer, Figures, Ties string }

// verdictCell is an estimate, with its interval on a line of its own.
type verdictCell struct {
	Value, Interval string
	Best            bool // its interval overlaps the best one's
}

type verdictRow struct {
	Way    string
	Color  string // of the way in pictures
	Cells  []verdictCell
	Status string
}

// newVerdict is nil where nothing was measured at the size.
func newVerdict(d *plots.Data, v *plots.View, size int64) *verdict {
	metrics := []string{share.Setup, share.FirstTouch.String()}
	for _, k := range share.Kernels() {
		metrics = append(metrics, plots.KernelMetric(k))
	}
	x := verdict{Title: fmt.Sprintf("%s; sharing %s", clean(v.Heading()), share.FormatSize(size)), Head: []string{"path, allocator"}}
	_, ways := named(v, func(w *plots.Way) bool {
		status, _ := w.Status(size)
		return status != "" && status != share.StatusUnsupported
	})
	for _, w := range ways {
		status, _ := w.Status(size)
		row := verdictRow{Way: clean(w.Label), Color: hex(w)}
		if status != share.StatusOK {
			row.Status = string(status)
		}
		x.Rows = append(x.Rows, row)
	}
	for _, m := range metrics {
		if !slices.ContainsFunc(ways, func(w *plots.Way) bool { return w.Row(size, m) != nil }) {
			continue
		}
		x.Head = append(x.Head, strings.ReplaceAll(strings.TrimPrefix(m, "kernel/"), "_", " "))
		best := bestOf(ways, size, m)
		for i, w := range ways {
			value, interval, found := strings.Cut(markdownCell(w, size, m), " [")
			if found {
				interval = "[" + interval
			}
			x.Rows[i].Cells = append(x.Rows[i].Cells, verdictCell{value, interval, slices.Contains(best, w)})
		}
	}
	if len(x.Head) == 1 {
		return nil
	}
	x.line("Cheapest to set up", ways, size, share.Setup)
	x.line("Fastest to read", ways, size, plots.KernelMetric(share.KernelRead))
	x.line("Fastest to write", ways, size, plots.KernelMetric(share.KernelWrite))
	x.payoff(d, v, ways, size)
	return &x
}

func hex(w *plots.Way) string {
	c := plots.WayColor(w.Case)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// bestOf returns the ways that may be the best: the one with the best median, first, and those whose intervals overlap its
// interval. A way whose case is not ok is no answer, and neither is a bandwidth that came from a cache.
func bestOf(ways []*plots.Way, size int64, metric string) []*plots.Way {
	var best *plots.Way
	better := func(a, b *results.Row) bool {
		if a.Unit == results.BytesPerSecond {
			return a.Stats.Median > b.Stats.Median
		}
		return a.Stats.Median < b.Stats.Median
	}
	row := func(w *plots.Way) *results.Row {
		r := w.Row(size, metric)
		if status, _ := w.Status(size); status != share.StatusOK || r == nil {
			return nil
		}
		if slices.ContainsFunc(r.Warnings, func(x results.Warning) bool { return x.Code == "cached" && x.Metric == metric }) {
			return nil
		}
		return r
	}
	for _, w := range ways {
		if r := row(w); r != nil && (best == nil || better(r, row(best))) {
			best = w
		}
	}
	if best == nil {
		return nil
	}
	all := []*plots.Way{best}
	low, high := plots.Interval(row(best))
	for _, w := range ways {
		if r := row(w); r != nil && w != best {
			if l, h := plots.Interval(r); l <= high && h >= low {
				all = append(all, w)
			}
		}
	}
	return all
}

func (x *verdict) line(question string, ways []*plots.Way, size int64, metric string) {
	best := bestOf(ways, size, metric)
	if len(best) == 0 {
		return
	}
	r := best[0].Row(size, metric)
	line := verdictLine{Question: question, Answer: clean(best[0].Label), Figures: results.FormatInterval(r.Stats.Median, r.Stats.CI, r.Unit)}
	var ties []string
	for _, w := range best[1:] {
		ties = append(ties, clean(w.Label))
	}
	switch {
	case len(ties) > 0:
		line.Ties = "not told apart from it: " + strings.Join(ties, ", ")
	case len(ways) == 1:
		line.Ties = "the only one measured"
	}
	x.Lines = append(x.Lines, line)
}

// payoff says after how many uses the way that pays off first has paid off.
func (x *verdict) payoff(d *plots.Data, v *plots.View, ways []*plots.Way, size int64) {
	var best *results.BreakEven
	var name string
	for i := range d.BreakEvens() {
		b := &d.BreakEvens()[i]
		if b.Case.Size != size || b.Case.Producer != v.Producer || b.Case.Consumer != v.Consumer || b.Why != "" || math.IsNaN(b.Uses.At) {
			continue
		}
		if best == nil || b.Uses.At < best.Uses.At {
			for _, w := range ways {
				key := b.Case
				key.Size = 0
				if w.Case == key {
					best, name = b, w.Label
				}
			}
		}
	}
	if best == nil {
		return
	}
	line := verdictLine{Question: "Cheaper than staging", Answer: clean(name)}
	if best.Against == results.AgainstMemcpy {
		line.Question = "Cheaper than a memcpy for each use"
	}
	if math.IsInf(best.Uses.At, 0) {
		line.Answer, line.Figures = "none of them", "however often the buffer is used"
	} else {
		line.Figures = "from use " + uses(best.Uses.At) + " on"
		if ci := best.Uses.CI; ci.Estimable() && uses(ci.Low) != uses(ci.High) {
			line.Figures += " [" + uses(ci.Low) + ", " + uses(ci.High) + "]"
		}
	}
	x.Lines = append(x.Lines, line)
}

// uses is the first whole use at which sharing is ahead.
func uses(at float64) string {
	switch {
	case math.IsInf(at, 0):
		return "never"
	case at > 1e9:
		return fmt.Sprintf("%.3g", at)
	}
	return fmt.Sprint(int64(math.Floor(at)) + 1)
}
