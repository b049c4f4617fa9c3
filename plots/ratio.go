package plots

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// mostRatios bounds the rows of a ratio plot; a comparison's cells come sorted by what matters.
const mostRatios = 40

// verdictStyles are a colour and a glyph of each verdict.
var verdictStyles = map[stats.Verdict]style{
	stats.Slower:       {rgb(0xD55E00), mark{solid, draw.BoxGlyph{}}},
	stats.Faster:       {rgb(0x0072B2), mark{solid, draw.CircleGlyph{}}},
	stats.Equivalent:   {rgb(0x6E7681), mark{solid, draw.RingGlyph{}}},
	stats.Inconclusive: {rgb(0xA99A00), mark{solid, draw.CrossGlyph{}}},
}

// Ratios shows the ratios of run number i of the comparison to the base, with intervals. metrics keeps those that it accepts.
func Ratios(c *results.Comparison, i int, name string, metrics func(string) bool) (Figure, error) {
	f := Figure{
		Name: "ratio-" + name, Title: fmt.Sprintf("%s against %s: ratios of %s", c.Runs[i].Label, c.Runs[0].Label, name),
		Subtitle: "ratio of " + c.Runs[i].Label + " to " + c.Runs[0].Label + " with 95 % confidence interval, slower ones first",
		Emulated: emulated(c), Width: figureWidth,
	}
	plot := forest{xLabel: "ratio (for times above 1 is slower, for bandwidths above 1 is faster)", unit: unitRatio}
	thresholds := map[float64]bool{}
	left := 0
	var shown []*results.Cell
	for k := range c.Cells {
		cell := &c.Cells[k]
		if cell.Run != i || !metrics(cell.Metric) || !cell.Test.CI.Estimable() || finite(cell.Test.Ratio) != nil || cell.Test.Ratio <= 0 {
			continue
		}
		if len(shown) == mostRatios {
			left++
			continue
		}
		shown = append(shown, cell)
	}
	distinctions := c.Distinctions()
	for _, cell := range shown {
		label := cellLabel(cell)
		if words := distinctions(cell); len(words) > 0 {
			label += ", " + strings.Join(words, " ")
		}
		plot.rows = append(plot.rows, forestRow{label: label, style: verdictStyles[cell.Verdict], y: cell.Test.Ratio, low: cell.Test.CI.Low,
			high: cell.Test.CI.High, value: fmt.Sprintf("%s  %s", results.FormatRatio(cell.Test.Ratio, stats.Interval{Low: nan, High: nan}), cell.Verdict)})
		thresholds[cell.Threshold] = true
	}
	if err := plot.check(); err != nil {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	plot.levels = []level{{"", 1}}
	if len(thresholds) == 1 && plot.rows != nil {
		for t := range thresholds {
			if t > 0 {
				percent := fmt.Sprintf("%.3g %%", 100*t)
				plot.levels = []level{{"−" + percent, 1 / (1 + t)}, {"", 1}, {"+" + percent, 1 + t}}
			}
		}
	}
	if left > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d further metrics, which matter less, are in the CSV.", left))
	}
	f.Height = plot.height() + f.headHeight() + f.footHeight() + 20
	f.Alt = f.Title + ". "
	for _, r := range plot.rows {
		f.Alt += plain(r.label) + ": " + r.value + ". "
	}
	f.body = plot.draw
	return f, nil
}

func emulated(c *results.Comparison) string {
	var names []string
	for _, r := range c.Runs {
		if r.Emulated != "" && !slices.Contains(names, r.Emulated) {
			names = append(names, r.Emulated)
		}
	}
	return strings.Join(names, ", ")
}

// cellLabel names a cell but for its distinctions.
func cellLabel(c *results.Cell) string {
	name := c.Case.Path
	if c.Case.Allocator != c.Case.Path {
		name += " " + c.Case.Allocator
	}
	return fmt.Sprintf("%s, %s, %s", shortTitle(c.Metric), name, share.FormatSize(c.Case.Size))
}

// BothCurves shows a metric of the base and of run number i over size, one panel for each way of sharing.
func BothCurves(c *results.Comparison, i int, metric string) (Figure, error) {
	unit := ""
	type key = share.Case
	var keys []key
	pairs := map[key][2][]point{}
	sizes := map[key][]int64{}
	for k := range c.Cells {
		cell := &c.Cells[k]
		if cell.Run != i || cell.Metric != metric || cell.A.Median <= 0 || cell.B.Median <= 0 {
			continue
		}
		unit = cell.Unit
		id := cell.Case
		id.Size = 0
		if sizes[id] == nil {
			keys = append(keys, id)
		}
		sizes[id] = append(sizes[id], cell.Case.Size)
		p := pairs[id]
		p[0] = append(p[0], pointOf(cell.Case.Size, cell.A))
		p[1] = append(p[1], pointOf(cell.Case.Size, cell.B))
		pairs[id] = p
	}
	f := Figure{
		Name: "both-" + fileName(metric), Title: fmt.Sprintf("%s by shared size: %s against %s", capital(axisTitle(metric, unit)), c.Runs[i].Label, c.Runs[0].Label),
		Subtitle: "one panel for each way of sharing", Emulated: emulated(c), Width: figureWidth, Notes: []string{intervalNote + " All panels have the same axes."},
	}
	slices.SortStableFunc(keys, func(a, b key) int { return pathOrder(a.Path) - pathOrder(b.Path) })
	base := style{rgb(0x808890), mark{dashed, draw.RingGlyph{}}}
	other := style{rgb(0x0072B2), mark{solid, draw.CircleGlyph{}}}
	var grid panels
	for _, id := range keys {
		if len(grid.charts) == 12 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d further ways and pairs are in the table.", len(keys)-12))
			break
		}
		p := pairs[id]
		ch := chart{unit: unit, sizes: sorted(sizes[id]), curves: []curve{{c.Runs[0].Label, base, byX(p[0])}, {c.Runs[i].Label, other, byX(p[1])}}}
		if err := ch.check(); err != nil {
			return Figure{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		title := id.Path
		if id.Allocator != id.Path {
			title += " " + id.Allocator
		}
		if many(keys) {
			title += " " + c.PairName(id)
		}
		grid.add(title, ch)
	}
	return f.withPanels(grid, []curve{{label: c.Runs[0].Label + " (base)", style: base}, {label: c.Runs[i].Label, style: other}})
}

// many reports whether the keys are of more than one pair of devices.
func many(keys []share.Case) bool {
	return slices.ContainsFunc(keys, func(k share.Case) bool { return k.Producer != keys[0].Producer || k.Consumer != keys[0].Consumer })
}

func pointOf(size int64, s stats.Summary) point {
	p := point{x: float64(size), y: s.Median, low: s.Median, high: s.Median}
	if s.CI.Estimable() {
		p.low, p.high = s.CI.Low, s.CI.High
	}
	return p
}
