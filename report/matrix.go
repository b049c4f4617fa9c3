package report

import (
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

// matrices adds one table for each way and metric, if there is more than one pair.
func (r *pageRun) matrices(d *plots.Data) {
	if len(d.Views) < 2 {
		return
	}
	for _, metric := range []string{share.Setup, plots.KernelMetric(share.KernelRead), plots.KernelMetric(share.KernelWrite), plots.KernelMetric(share.KernelCopy)} {
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
			m := d.Matrix(way, size, metric)
			r.Matrices = append(r.Matrices, alternative{Metric: metric, Way: label, Shown: o.Selected && i == 0, Matrix: newMatrix(m)})
		}
	}
}

func newMatrix(m plots.Matrix) *matrix {
	x := &matrix{Caption: fmt.Sprintf("%s, %s, sharing %s: rows produce, columns consume. Medians; darker is more.", plots.MetricTitle(m.Metric), clean(m.Way), share.FormatSize(m.Size))}
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
