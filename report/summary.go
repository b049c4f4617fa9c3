package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// TableOptions say how a table is to look.
type TableOptions struct {
	Color bool // emphasis with ANSI escape sequences; false writes no control characters at all
	Width int  // columns, at least 40; 0: 100
}

// mostViews bounds the pairs of devices that have tables of their own; the page and the CSV have all.
const mostViews = 4

// Summary writes the tables that close a sweep: for one pair of each link class setup by size, the phases and the kernels;
// then what was not measured and why, and the warnings, both grouped.
func Summary(w io.Writer, run *results.Run, o TableOptions) error {
	d := plots.NewData(run)
	var b bytes.Buffer
	if run.Header.Emulated != "" {
		b.WriteString(o.style(red, short(d.Machine()+": these are no measurements", o.width())) + "\n")
	} else {
		b.WriteString(o.style(bold, short(d.Machine(), o.width())) + "\n")
	}
	for _, line := range outcome(run) {
		paragraph(&b, o, line)
	}
	views := d.Representatives()
	for _, v := range views[:min(len(views), mostViews)] {
		if err := viewTables(&b, d, v, o); err != nil {
			return err
		}
	}
	if n := len(d.Views) - min(len(views), mostViews); n > 0 {
		b.WriteByte('\n')
		paragraph(&b, o, fmt.Sprintf("%s more, without tables of their own: the matrices have all %d, and summary.csv all figures.", plural(n, "pair"), len(d.Views)))
	}
	if err := writeMatrices(&b, d, o); err != nil {
		return err
	}
	writeMissing(&b, notMeasured(d), o)
	writeFindings(&b, findings(run), o)
	_, err := w.Write(b.Bytes())
	return err
}

// outcome says what a reader must know before any number.
func outcome(run *results.Run) []string {
	var lines []string
	switch end := run.End; {
	case end == nil:
		lines = append(lines, fmt.Sprintf("The run did not end in order: %d of %d cases are here.", len(run.Cases), run.Header.Planned))
	case end.Outcome != "complete":
		lines = append(lines, fmt.Sprintf("The run ended early (%s): %d of %d cases are here.", end.Outcome, len(run.Cases), run.Header.Planned))
	}
	if n := len(run.Dropped); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of the journal could not be read: %s", plural(n, "line"), run.Dropped[0]))
	}
	return lines
}

func viewTables(b *bytes.Buffer, d *plots.Data, v *plots.View, o TableOptions) error {
	fmt.Fprintf(b, "\n%s\n", o.style(bold, short(v.Heading(), o.width())))
	sizes := v.MeasuredSizes()
	if len(sizes) == 0 {
		b.WriteString("Nothing could be measured.\n")
		return nil
	}
	title := func(text string) {
		b.WriteByte('\n')
		paragraph(b, o, text)
	}
	if v.Has(share.Setup) {
		t, shown := setupTable(v, sizes, o)
		left := ""
		if shown < len(sizes) {
			left = fmt.Sprintf(" (%d of %d sizes; summary.csv has all)", shown, len(sizes))
		}
		title("setup = export + transfer + import + map: median ± the wider side of its 95 % interval, or [the interval]" + left)
		if err := t.write(b, o); err != nil {
			return err
		}
	}
	size := v.DefaultSize()
	phases, unit := phaseTable(v, size)
	title(fmt.Sprintf("phases of a cycle sharing %s: medians in %s", share.FormatSize(size), unit))
	if err := phases.write(b, o); err != nil {
		return err
	}
	if t, unit := joinedTable(v, size); t != nil {
		title(joinedTitle(size, unit))
		if err := t.write(b, o); err != nil {
			return err
		}
	}
	if size, ok := kernelSize(v, sizes); ok {
		title(fmt.Sprintf("the consumer's kernels on %s: median ± the wider side of its 95 %% interval, or [the interval]; GB/s = 1e9 bytes/s, payload counted once", share.FormatSize(size)))
		if err := kernelTable(v, size).write(b, o); err != nil {
			return err
		}
	}
	if t, against := payoffTable(d, v, size); t != nil {
		title(payoffTitle(against, size))
		return t.write(b, o)
	}
	return nil
}

// setupTable has sizes across, as many as fit, the smallest and the largest among them.
func setupTable(v *plots.View, sizes []int64, o TableOptions) (t *table, shown int) {
	for n := min(len(sizes), 7); ; n-- {
		var ways []*plots.Way
		t, ways = named(v, func(w *plots.Way) bool { return !unsupported(w) })
		for _, size := range evenly(sizes, n) {
			t.metric(ways, size, share.Setup, share.FormatSize(size))
		}
		if n <= 2 || t.width() <= o.width() {
			return t, n
		}
	}
}

// unsupported reports whether the way has nothing but unsupported cases: those are listed with their reasons.
func unsupported(w *plots.Way) bool {
	return !slices.ContainsFunc(w.Sizes(), func(size int64) bool {
		status, _ := w.Status(size)
		return status != share.StatusUnsupported
	})
}

// evenly picks n of the sizes, the first and the last among them.
func evenly(sizes []int64, n int) []int64 {
	if n >= len(sizes) || n < 2 {
		return sizes[:min(max(n, 1), len(sizes))]
	}
	var out []int64
	for i := range n {
		out = append(out, sizes[i*(len(sizes)-1)/(n-1)])
	}
	return out
}

// width is what the table needs when names are cut as far as they may be.
func (t *table) width() int {
	total := 0
	for i := range t.head {
		width := len([]rune(t.head[i]))
		for _, row := range t.rows {
			width = max(width, len([]rune(row[i])))
		}
		if i == 0 {
			total += min(width, 24)
			continue
		}
		total += gap + width
	}
	return total
}

// metric adds a column: the metric of each way with its interval, in one unit.
func (t *table) metric(ways []*plots.Way, size int64, metric, title string) {
	s := scaleFor(medians(ways, size, metric))
	t.head = append(t.head, fmt.Sprintf("%s (%s)", title, s.unit))
	for i, w := range ways {
		t.rows[i] = append(t.rows[i], cellText(w, size, metric, s.estimate))
	}
}

// medians returns those of the ways that have the metric, and its unit.
func medians(ways []*plots.Way, size int64, metric string) (values []float64, unit string) {
	unit = results.Nanoseconds
	for _, w := range ways {
		if r := w.Row(size, metric); r != nil {
			values, unit = append(values, r.Stats.Median), r.Unit
		}
	}
	return values, unit
}

// cellText is the value, or in one word why there is none.
func cellText(w *plots.Way, size int64, metric string, value func(*results.Row) string) string {
	if r := w.Row(size, metric); r != nil {
		text := value(r)
		if slices.ContainsFunc(r.Warnings, func(x results.Warning) bool { return x.Code == "cached" && x.Metric == metric }) {
			text += " cached"
		}
		return text
	}
	status, _ := w.Status(size)
	return statusWord(status)
}

// statusWord says in one word why there is no value.
func statusWord(status share.Status) string {
	switch status {
	case "", share.StatusOK:
		return "–"
	case share.StatusUnsupported:
		return "unsupp."
	}
	return string(status)
}

// named starts a table of the ways that pass.
func named(v *plots.View, pass func(*plots.Way) bool) (*table, []*plots.Way) {
	t := &table{head: []string{"path, allocator"}}
	var ways []*plots.Way
	for _, w := range v.Ways {
		if pass(w) {
			ways = append(ways, w)
			t.rows = append(t.rows, []string{clean(w.Label)})
		}
	}
	return t, ways
}

// phaseTable has all phases in one unit, which it returns.
func phaseTable(v *plots.View, size int64) (*table, string) {
	t, ways := named(v, func(w *plots.Way) bool {
		status, _ := w.Status(size)
		return status != "" && status != share.StatusUnsupported
	})
	var all []float64
	for _, p := range share.Phases() {
		values, _ := medians(ways, size, p.String())
		all = append(all, values...)
	}
	unit := phaseUnit(all)
	for _, p := range share.Phases() {
		values, _ := medians(ways, size, p.String())
		if len(values) == 0 {
			continue
		}
		s := unit
		s.decimals = decimalsFor(slices.Min(values) / s.divisor)
		t.head = append(t.head, strings.ReplaceAll(p.String(), "_", " "))
		for i, w := range ways {
			t.rows[i] = append(t.rows[i], cellText(w, size, p.String(), func(r *results.Row) string { return s.format(r.Stats.Median) }))
		}
	}
	return t, unit.unit
}

// phaseUnit is the unit in which the longest of the times reads well, and in which none is rounded to nothing.
func phaseUnit(times []float64) scale {
	longest, shortest := 0.0, math.Inf(1)
	for _, t := range times {
		longest = max(longest, t)
		if t > 0 {
			shortest = min(shortest, t)
		}
	}
	switch {
	case longest >= 1e8 && shortest >= 1e4:
		return scale{1e6, "ms", 0}
	case longest >= 1e4 && shortest >= 10:
		return scale{1e3, "µs", 0}
	}
	return scale{1, "ns", 0}
}

// kernelSize is the largest size at which most ways have a kernel's figures.
func kernelSize(v *plots.View, sizes []int64) (best int64, ok bool) {
	most := 0
	for _, size := range sizes {
		n := 0
		for _, w := range v.Ways {
			if slices.ContainsFunc(share.Kernels(), func(k share.Kernel) bool { return w.Row(size, plots.KernelMetric(k)) != nil }) {
				n++
			}
		}
		if n > 0 && n >= most {
			best, most = size, n
		}
	}
	return best, most > 0
}

func kernelTable(v *plots.View, size int64) *table {
	measured := func(w *plots.Way, k share.Kernel) bool { return w.Row(size, plots.KernelMetric(k)) != nil }
	t, ways := named(v, func(w *plots.Way) bool {
		return slices.ContainsFunc(share.Kernels(), func(k share.Kernel) bool { return measured(w, k) })
	})
	for _, k := range share.Kernels() {
		if slices.ContainsFunc(ways, func(w *plots.Way) bool { return measured(w, k) }) {
			t.metric(ways, size, plots.KernelMetric(k), string(k))
		}
	}
	return t
}

// most groups of each kind are written; the rest is counted.
const most = 8

func writeMissing(b *bytes.Buffer, all []missing, o TableOptions) {
	if len(all) == 0 {
		return
	}
	n := 0
	for _, m := range all {
		n += m.Cases
	}
	fmt.Fprintf(b, "\n%s\n", o.style(bold, fmt.Sprintf("Not measured, or not wholly: %s", plural(n, "case"))))
	for _, m := range all[:min(len(all), most)] {
		entry(b, o, fmt.Sprintf("%s × %d", m.Status, m.Cases), m.where(), m.Reason)
	}
	if left := len(all) - most; left > 0 {
		fmt.Fprintf(b, "  and %s; summary.csv has all\n", plural(left, "further reason"))
	}
}

func writeFindings(b *bytes.Buffer, all []finding, o TableOptions) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", o.style(bold, "Warnings"))
	for _, f := range all[:min(len(all), most)] {
		entry(b, o, fmt.Sprintf("%s × %d", f.Code, f.Cases), f.Example, f.Text)
	}
	if left := len(all) - most; left > 0 {
		fmt.Fprintf(b, "  and %s; summary.csv has all\n", plural(left, "further code"))
	}
}

// paragraph writes text in lines that fit, at most four.
func paragraph(b *bytes.Buffer, o TableOptions, text string) {
	for _, l := range wrapped(text, o.width(), 4) {
		b.WriteString(l + "\n")
	}
}

// entry writes a line of what and where, and below it the explanation.
func entry(b *bytes.Buffer, o TableOptions, what, where, text string) {
	what = short(what, 24)
	fmt.Fprintf(b, "  %-20s %s\n", what, short(where, o.width()-23-max(0, len([]rune(what))-20)))
	for _, l := range wrapped(text, o.width()-6, 2) {
		fmt.Fprintf(b, "      %s\n", l)
	}
}
