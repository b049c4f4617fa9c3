package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Most rows of the parts of a comparison in a terminal; the rest is counted.
const (
	mostDifferences = 16
	mostUnmatched   = 8
	mostWorse       = 8
)

// mostCells bounds the rows of the metrics with a verdict; equivalent ones have none.
var mostCells = map[stats.Verdict]int{stats.Slower: 20, stats.Faster: 10, stats.Inconclusive: 10}

// Comparison writes the tables of a comparison: the cases that got worse, what differs between the runs, the metrics that
// matter, sorted, a summary by path and metric, and what was not compared.
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
	writeWorse(&b, c, o)
	if err := writeDifferences(&b, c, o); err != nil {
		return err
	}
	title := "Verdicts on " + plural(len(c.Cells)-c.Steps(), "metric")
	if n := c.Steps(); n > 0 {
		title += fmt.Sprintf(" (%s of phases are in --csv and do not count)", plural(n, "step"))
	}
	fmt.Fprintf(&b, "\n%s\n", o.style(bold, title))
	paragraph(&b, o, c.VerdictLine())
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

// writeWorse writes the cases that the base measured and another run did not, alike ones together.
func writeWorse(b *bytes.Buffer, c *results.Comparison, o TableOptions) {
	if len(c.Worse) == 0 {
		return
	}
	b.WriteByte('\n')
	for _, line := range c.WorseCounts(true) {
		b.WriteString(o.style(red, short("WORSE: "+line, o.width())) + "\n")
	}
	for _, line := range c.WorseCounts(false) {
		paragraph(b, o, line)
	}
	type key struct {
		run        int
		to         share.Status
		where, why string
	}
	counts := make(map[key]int)
	example := make(map[key]string)
	var order []key
	for _, w := range c.Worse {
		k := key{w.Run, w.To, w.Where(), w.Reason}
		if counts[k] == 0 {
			order = append(order, k)
			example[k] = w.Case.String()
		}
		counts[k]++
	}
	for _, k := range order[:min(len(order), mostWorse)] {
		where := example[k]
		if counts[k] > 1 {
			where = "such as " + where
		}
		if len(c.Runs) > 2 {
			where = c.Runs[k.run].Label + ": " + where
		}
		why := k.why
		if k.where != "" {
			why = strings.TrimSuffix(k.where+": "+why, ": ")
		}
		entry(b, o, fmt.Sprintf("× %d %s", counts[k], k.to), where, why)
	}
	if left := len(order) - mostWorse; left > 0 {
		fmt.Fprintf(b, "  and %s; --json has all\n", plural(left, "further reason"))
	}
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
		for _, v := range d.Short(column) {
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

// writeCells writes a table for each run and each verdict other than equivalent, as the comparison sorts its cells. Steps are
// left out.
func writeCells(b *bytes.Buffer, c *results.Comparison, o TableOptions) error {
	explained, name := false, cellNames(c)
	for run := 1; run < len(c.Runs); run++ {
		for _, verdict := range []stats.Verdict{stats.Slower, stats.Faster, stats.Inconclusive} {
			var cells []*results.Cell
			for i := range c.Cells {
				if x := &c.Cells[i]; x.Run == run && x.Verdict == verdict && !x.Step {
					cells = append(cells, x)
				}
			}
			if len(cells) == 0 {
				continue
			}
			b.WriteByte('\n')
			if !explained {
				explained = true
				paragraph(b, o, "medians of the base and of this run ± the wider side of the 95 % interval, ratio with its 95 % interval, p adjusted for the number of "+
					"metrics; the surest difference first (--csv has every column)")
				b.WriteByte('\n')
			}
			left := len(cells) - mostCells[verdict]
			t := cellTable(cells[:min(len(cells), mostCells[verdict])], name, o)
			t.head[0] = fmt.Sprintf("%s: %d", verdict, len(cells))
			if len(c.Runs) > 2 {
				t.head[0] = fmt.Sprintf("%s in %s: %d", verdict, short(c.Runs[run].Label, 16), len(cells))
			}
			if err := t.write(b, o); err != nil {
				return err
			}
			if left > 0 {
				fmt.Fprintf(b, "and %d more; --csv has all\n", left)
			}
		}
	}
	return nil
}

// leastName is how many columns the names of cells need at least in one block with all numbers.
const leastName = 36

// cellTable has a row for each cell. Of a name too long for one block its way is shortened, not what is behind it.
func cellTable(cells []*results.Cell, name func(x *results.Cell, less int) string, o TableOptions) *table {
	t := &table{head: []string{"", "base", "this", "ratio", "p"}, whole: true}
	for _, x := range cells {
		s := scaleFor([]float64{x.A.Median, x.B.Median}, x.Unit)
		t.rows = append(t.rows, []string{name(x, 0), withError(s, &x.A), withError(s, &x.B) + " " + s.unit,
			results.FormatRatio(x.Test.Ratio, x.Test.CI), results.FormatP(x.AdjustedP)})
	}
	room := o.width() - numbers(t.widths())
	for i, x := range cells {
		if less := twwidth.Width(t.rows[i][0]) - room; less > 0 && room >= leastName {
			t.rows[i][0] = name(x, less)
		}
	}
	return t
}

// cellNames returns what names a cell among others. With less above 0 the way takes that many columns fewer.
func cellNames(c *results.Comparison) func(x *results.Cell, less int) string {
	distinctions := c.Distinctions()
	return func(x *results.Cell, less int) string {
		way := wayName(x.Case)
		words := []string{short(way, max(shortest, twwidth.Width(way)-less)), share.FormatSize(x.Case.Size),
			strings.ReplaceAll(strings.TrimPrefix(x.Metric, "kernel/"), "_", " ")}
		return clean(strings.Join(append(words, distinctions(x)...), " "))
	}
}

// withError is a median ± the wider side of its interval.
func withError(s scale, x *stats.Summary) string {
	text := s.format(x.Median)
	if x.CI.Estimable() {
		text += s.plusMinus(max(x.CI.High-x.Median, x.Median-x.CI.Low))
	}
	return text
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
		fmt.Fprintf(b, "  and %s; --json has all\n", plural(left, "further reason"))
	}
}
