package report

import (
	"bytes"
	"fmt"
	"html/template"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// matrix is a table of all pairs.
type matrix struct {
	Caption string
	Devices []string
	Lines   []matrixLine
	Reasons []string
}

type matrixLine struct {
	Device string
	Cells  []matrixCell
}

type matrixCell struct {
	Text   string
	Title  string
	Reason int // number of the reason why it is missing; 0: measured
	Style  template.CSS
}

// mostMatrices bounds the ways that have matrices; they are ordered by the pairs measured.
const mostMatrices = 16

// matrices adds one table for each way and metric, if there is more than one pair, and takes their bytes from the budget.
func (r *pageRun) matrices(d *plots.Data, budget *int) {
	if len(d.Views) < 2 {
		return
	}
	for _, metric := range plots.MatrixMetrics() {
		ways := d.MatrixWays(metric)
		if len(ways) == 0 {
			continue
		}
		o := option{metric, plots.MetricTitle(metric), len(r.MatrixOf) == 0}
		r.MatrixOf = append(r.MatrixOf, o)
		for i, way := range ways[:min(len(ways), mostMatrices)] {
			label := clean(way.Label)
			if o.Selected {
				r.Ways = append(r.Ways, option{label, label, i == 0})
			}
			size := d.MatrixSize(way, metric)
			m := newMatrix(d.Matrix(way, size, metric))
			*budget -= m.bytes()
			r.Matrices = append(r.Matrices, alternative{Metric: metric, Way: label, Shown: o.Selected && i == 0, Matrix: m})
		}
	}
}

func newMatrix(m plots.Matrix) *matrix {
	x := &matrix{Caption: fmt.Sprintf("%s, %s, sharing %s; %s: rows produce, columns consume. Medians; darker is more.", plots.MetricTitle(m.Metric), clean(m.Way),
		share.FormatSize(m.Size), clean(m.Settings))}
	for _, name := range m.Devices {
		x.Devices = append(x.Devices, clean(name))
	}
	for _, reason := range m.Reasons {
		x.Reasons = append(x.Reasons, clean(reason))
	}
	for i, line := range m.Cells {
		l := matrixLine{Device: x.Devices[i]}
		for k, c := range line {
			if c.Row == nil {
				l.Cells = append(l.Cells, matrixCell{Text: "—", Reason: c.Reason, Title: x.Reasons[c.Reason-1]})
				continue
			}
			background, text := plots.ShadeColor(c.Shade)
			l.Cells = append(l.Cells, matrixCell{
				Text:  results.FormatQuantity(c.Row.Stats.Median, c.Row.Unit),
				Title: fmt.Sprintf("%s → %s: %s", x.Devices[i], x.Devices[k], results.FormatInterval(c.Row.Stats.Median, c.Row.Stats.CI, c.Row.Unit)),
				Style: template.CSS(fmt.Sprintf("background:#%02x%02x%02x;color:#%02x%02x%02x", background.R, background.G, background.B, text.R, text.G, text.B)),
			})
		}
		x.Lines = append(x.Lines, l)
	}
	return x
}

// bytes is about how long the table is in the page.
func (m *matrix) bytes() int {
	n := 0
	for _, line := range m.Lines {
		for _, c := range line.Cells {
			n += len(`<td title="" style=""></td>`) + len(c.Title) + len(c.Style) + len(c.Text)
		}
	}
	return n
}

// matrixTable is a matrix as text: rows produce, columns consume. Its title says what it shows, and in which unit.
func matrixTable(m plots.Matrix) (t *table, title string) {
	var all []float64
	untried, declined := false, false
	for _, line := range m.Cells {
		for _, c := range line {
			switch {
			case c.Row != nil:
				all = append(all, c.Row.Stats.Median)
			case c.Status == "":
				untried = true
			default:
				declined = true
			}
		}
	}
	s := scaleFor(all, m.Unit)
	t = &table{head: []string{"producer"}}
	for _, name := range m.Devices {
		t.head = append(t.head, clean(name))
	}
	for i, line := range m.Cells {
		row := []string{clean(m.Devices[i])}
		for _, c := range line {
			if c.Row != nil {
				row = append(row, s.format(c.Row.Stats.Median))
			} else {
				row = append(row, statusWord(c.Status))
			}
		}
		t.rows = append(t.rows, row)
	}
	title = fmt.Sprintf("%s between all pairs, rows produce, columns consume: %s, sharing %s, %s; medians in %s", plots.MetricTitle(m.Metric), clean(m.Way),
		share.FormatSize(m.Size), clean(m.Settings), s.unit)
	switch {
	case declined && untried:
		title += "; words: why there is none, see below; –: not measured"
	case declined:
		title += "; words: why there is none, see below"
	case untried:
		title += "; –: not measured"
	}
	return t, title
}

// writeMatrices writes setup and the bandwidths of the read kernel and of the copy engine between all pairs, if there is more
// than one, each for the way that was measured between most pairs.
func writeMatrices(b *bytes.Buffer, d *plots.Data, o TableOptions) error {
	for _, metric := range []string{share.Setup, plots.KernelMetric(share.KernelRead), plots.KernelMetric(share.KernelMemcpy)} {
		m, ok := d.MainMatrix(metric)
		if !ok {
			continue
		}
		t, title := matrixTable(m)
		b.WriteByte('\n')
		paragraph(b, o, title)
		if err := t.write(b, o); err != nil {
			return err
		}
	}
	return nil
}
