package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Most rows of the parts of a comparison in a terminal; the rest is counted.
const (
	mostDifferences = 16
	mostCells       = 30
	mostUnmatched   = 8
)

// Comparison writes the tables of a comparison: what differs between the runs, the metrics that matter, sorted, a summary by
// path and metric, and what was not compared.
func Comparison(w io.Writer, c *results.Comparison, o TableOptions) error {
	var b bytes.Buffer
	for i, r := range c.Runs {
		role := "base"
		if i > 0 {
			role = "against it"
			if len(c.Runs) > 2 {
				role = fmt.Sprintf("against it (%d)", i)
			}
		}
		line := fmt.Sprintf("%-15s %s: %s, %s", role, r.Label, r.Host, plural(r.Cases, "case"))
		if r.Repeats > 1 {
			line += fmt.Sprintf(", %d repeats", r.Repeats)
		}
		if i > 0 {
			line += ", devices matched by " + r.Matching
		}
		if !r.Complete {
			line += ", NOT COMPLETE"
		}
		b.WriteString(short(line, o.width()) + "\n")
		if r.Emulated != "" {
			b.WriteString(o.style(red, short(fmt.Sprintf("%-15s EMULATED (%s): no measurement", "", r.Emulated), o.width())) + "\n")
		}
	}
	if err := writeDifferences(&b, c, o); err != nil {
		return err
	}
	n := c.Verdicts()
	fmt.Fprintf(&b, "\n%s\n", o.style(bold, fmt.Sprintf("Verdicts on %s", plural(len(c.Cells), "metric"))))
	paragraph(&b, o, fmt.Sprintf("%d slower, %d faster, %d inconclusive, %d equivalent", n[stats.Slower], n[stats.Faster], n[stats.Inconclusive], n[stats.Equivalent]))
	for _, note := range c.Notes {
		paragraph(&b, o, note)
	}
	if err := writeCells(&b, c, o); err != nil {
		return err
	}
	if err := writeGroups(&b, c, o); err != nil {
		return err
	}
	writeUnmatched(&b, c, o)
	_, err := w.Write(b.Bytes())
	return err
}

func writeDifferences(b *bytes.Buffer, c *results.Comparison, o TableOptions) error {
	if len(c.Differences) == 0 {
		b.WriteString("\nMachines and settings do not differ.\n")
		return nil
	}
	fmt.Fprintf(b, "\n%s\n", o.style(bold, "What differs between the runs"))
	t := table{head: []string{""}, left: map[int]bool{}}
	column := max(12, (o.width()-30)/len(c.Runs)-gap)
	for i, r := range c.Runs {
		t.head = append(t.head, short(r.Label, column))
		t.left[i+1] = true
	}
	for _, d := range c.Differences[:min(len(c.Differences), mostDifferences)] {
		row := []string{clean(d.Key)}
		for _, v := range d.Values {
			if v == "" {
				v = "–"
			}
			row = append(row, short(v, column))
		}
		t.rows = append(t.rows, row)
	}
	err := t.write(b, o)
	if left := len(c.Differences) - mostDifferences; left > 0 {
		fmt.Fprintf(b, "and %d more; --json has all\n", left)
	}
	return err
}

// writeCells writes the cells that have a verdict other than equivalent, as the comparison sorts them.
func writeCells(b *bytes.Buffer, c *results.Comparison, o TableOptions) error {
	t := table{head: []string{"case", "metric", "verdict", "ratio", "p", "base", "this"}, left: map[int]bool{1: true, 2: true}, drop: []string{"p", "this", "base"}}
	several := len(c.Runs) > 2
	first := func(i int) string { return clean(c.Runs[i].Label) }
	left := 0
	pairs := slices.ContainsFunc(c.Cells, func(x results.Cell) bool {
		return x.Case.Producer != c.Cells[0].Case.Producer || x.Case.Consumer != c.Cells[0].Case.Consumer
	})
	for i := range c.Cells {
		x := &c.Cells[i]
		if x.Verdict == stats.Equivalent {
			continue
		}
		if len(t.rows) == mostCells {
			left++
			continue
		}
		name := wayName(x.Case) + " " + share.FormatSize(x.Case.Size)
		if pairs {
			name += " " + share.ShortID(x.Case.Producer) + "→" + share.ShortID(x.Case.Consumer)
		}
		if several {
			name = short(first(x.Run), 16) + ": " + name
		}
		t.rows = append(t.rows, []string{clean(name), short(strings.TrimPrefix(x.Metric, "kernel/"), 18),
			verdictWord(x.Verdict), results.FormatRatio(x.Test.Ratio, x.Test.CI), results.FormatP(x.AdjustedP), results.FormatQuantity(x.A.Median, x.Unit),
			results.FormatQuantity(x.B.Median, x.Unit)})
	}
	if len(t.rows) == 0 {
		return nil
	}
	b.WriteByte('\n')
	paragraph(b, o, "medians, ratio with its 95 % interval, p adjusted over all metrics; the worst first (--csv has every column)")
	err := t.write(b, o)
	if left > 0 {
		fmt.Fprintf(b, "and %d more that are not equivalent; --csv has all\n", left)
	}
	return err
}

func verdictWord(v stats.Verdict) string {
	if v == stats.Inconclusive {
		return "inconcl."
	}
	return string(v)
}

// writeGroups writes a row for each path, and for each metric the mean ratio with the counts behind it.
func writeGroups(b *bytes.Buffer, c *results.Comparison, o TableOptions) error {
	t := table{head: []string{"path"}}
	for _, g := range c.Groups {
		metric, kernel := strings.CutPrefix(g.Metric, "kernel/")
		if strings.Contains(metric, "/") && !kernel {
			continue // steps: their phase has a column
		}
		name := clean(g.Path)
		if len(c.Runs) > 2 {
			name = short(c.Runs[g.Run].Label, 16) + ": " + name
		}
		metric = short(strings.ReplaceAll(metric, "_", " "), 18)
		column := slices.Index(t.head, metric)
		if column < 0 {
			column = len(t.head)
			t.head = append(t.head, metric)
			for i := range t.rows {
				t.rows[i] = append(t.rows[i], "–")
			}
		}
		row := slices.IndexFunc(t.rows, func(r []string) bool { return r[0] == name })
		if row < 0 {
			row = len(t.rows)
			t.rows = append(t.rows, append([]string{name}, slices.Repeat([]string{"–"}, len(t.head)-1)...))
		}
		t.rows[row][column] = fmt.Sprintf("%s %d/%d/%d", results.FormatRatio(g.GeoMean, stats.Interval{Low: nan, High: nan}), g.Verdicts[stats.Slower],
			g.Verdicts[stats.Faster], g.Cells)
	}
	if len(t.rows) == 0 {
		return nil
	}
	b.WriteByte('\n')
	paragraph(b, o, "by path and metric: geometric mean of the ratios of matched cases, and how many are slower/faster/in all")
	return t.write(b, o)
}

func writeUnmatched(b *bytes.Buffer, c *results.Comparison, o TableOptions) {
	type key struct {
		in, not int
		why     string
	}
	counts := make(map[key]int)
	example := make(map[key]string)
	var order []key
	for _, u := range c.Unmatched {
		k := key{u.In, u.NotIn, u.Why}
		if counts[k] == 0 {
			order = append(order, k)
			example[k] = strings.TrimSpace(u.Case.String() + " " + u.Metric)
		}
		counts[k]++
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", o.style(bold, fmt.Sprintf("Not compared: %d", len(c.Unmatched))))
	slices.SortStableFunc(order, func(x, y key) int { return counts[y] - counts[x] })
	for _, k := range order[:min(len(order), mostUnmatched)] {
		entry(b, o, fmt.Sprintf("× %d", counts[k]), "in "+c.Runs[k.in].Label+", such as "+example[k], "not in "+c.Runs[k.not].Label+": "+k.why)
	}
	if left := len(order) - mostUnmatched; left > 0 {
		fmt.Fprintf(b, "  and %s; --csv and --json have all\n", plural(left, "further reason"))
	}
}
