package plots

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Size of pictures in points: 1440 pixels wide as PNG.
const (
	figureWidth  = vg.Length(720)
	figureHeight = vg.Length(450)
)

const intervalNote = "Points are medians, bands their 95 % confidence intervals."

// curvesOf are the ways of a view that have the metric.
func (v *View) curvesOf(metric string) (curves []curve, sizes []int64, zeros int) {
	for _, w := range v.Ways {
		cv := curve{label: w.Label, style: w.style}
		for _, size := range w.sizes {
			r := w.Row(size, metric)
			if r == nil {
				continue
			}
			if r.Stats.Median <= 0 {
				zeros++
				continue
			}
			low, high := Interval(r)
			cv.points = append(cv.points, point{float64(size), r.Stats.Median, low, high, cached(r)})
			sizes = append(sizes, size)
		}
		if len(cv.points) > 0 {
			curves = append(curves, cv)
		}
	}
	return curves, sorted(sizes), zeros
}

func zeroNote(zeros int) []string {
	if zeros == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d medians are 0 ns, below the clock's step: they have no place on a logarithmic axis.", zeros)}
}

// Latency shows how a phase, or setup, scales with size.
func (d *Data) Latency(v *View, metric string) (Figure, error) {
	curves, sizes, zeros := v.curvesOf(metric)
	f := Figure{
		Name: "latency-" + fileName(metric), Title: capital(timeOf(metric, MetricTitle(metric))),
		Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth, Height: figureHeight,
		Notes: append([]string{intervalNote}, zeroNote(zeros)...),
	}
	return f.withChart(chart{yLabel: timeOf(metric, shortTitle(metric)), unit: results.Nanoseconds, curves: curves, sizes: sizes})
}

// withChart makes the figure of a chart: curves, or a row of marks each where there is but one size.
func (f Figure) withChart(c chart) (Figure, error) {
	if err := c.check(); err != nil {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	f.Alt = fmt.Sprintf("%s. %s", f.Title, c.describe())
	if len(c.sizes) > 1 {
		f.Title += " by shared size"
		f.body = c.draw
		return f, nil
	}
	f.Notes = slices.Clone(f.Notes)
	for i, n := range f.Notes {
		f.Notes[i] = strings.Replace(n, "bands their 95 %", "bars their 95 %", 1)
	}
	f.Title += ", sharing " + share.FormatSize(c.sizes[0])
	marks := forest{xLabel: c.yLabel, unit: c.unit, levels: c.levels}
	for _, cv := range c.curves {
		p := cv.points[0]
		marks.rows = append(marks.rows, forestRow{label: cv.label, style: cv.style, y: p.y, low: p.low, high: p.high, open: p.open,
			value: results.FormatQuantity(p.y, c.unit)})
	}
	f.Height = marks.height() + f.headHeight() + f.footHeight() + 20
	f.body = marks.draw
	return f, nil
}

// describe says in words what the chart's ends are.
func (c *chart) describe() string {
	s := ""
	for _, cv := range c.curves {
		first, last := cv.points[0], cv.points[len(cv.points)-1]
		s += fmt.Sprintf("%s: %s at %s", plain(cv.label), results.FormatQuantity(first.y, c.unit), share.FormatSize(int64(first.x)))
		if len(cv.points) > 1 {
			s += fmt.Sprintf(", %s at %s", results.FormatQuantity(last.y, c.unit), share.FormatSize(int64(last.x)))
		}
		s += ". "
	}
	return s
}

// subtitle says which machine, which pair, and the settings that all ways of the view share.
func (d *Data) subtitle(v *View) string { return d.machine() + "; " + v.Heading() }

// Phases shows all phases beside each other on one scale.
func (d *Data) Phases(v *View) (Figure, error) {
	f := Figure{Name: "latency-phases", Title: "Time of each phase of a cycle by shared size", Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth}
	var grid panels
	zeros := 0
	for _, metric := range LatencyMetrics()[1:] {
		curves, sizes, z := v.curvesOf(metric)
		zeros += z
		c := chart{unit: results.Nanoseconds, curves: curves, sizes: sizes}
		if err := c.check(); err == nil {
			grid.add(shortTitle(metric), c)
		}
	}
	f.Notes = append([]string{intervalNote + " All panels have the same axes."}, zeroNote(zeros)...)
	return f.withPanels(grid, v.legend())
}

// legend lists all ways of the view that have any samples.
func (v *View) legend() []curve {
	var all []curve
	for _, w := range v.Ways {
		for _, size := range w.sizes {
			if w.measured(size) {
				all = append(all, curve{label: w.Label, style: w.style})
				break
			}
		}
	}
	return all
}

// panels are small charts with the same axes.
type panels struct {
	titles []string
	charts []chart
}

func (g *panels) add(title string, c chart) {
	g.titles = append(g.titles, title)
	g.charts = append(g.charts, c)
}

const (
	panelHeight = vg.Length(190)
	panelTitle  = vg.Length(18)
)

// withPanels makes the figure of panels with a legend below them.
func (f Figure) withPanels(g panels, legend []curve) (Figure, error) {
	if len(g.charts) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	columns := min(4, len(g.charts))
	if len(g.charts) == 5 || len(g.charts) == 6 {
		columns = 3
	}
	rows := (len(g.charts) + columns - 1) / columns
	width := f.Width - 2*margin
	legendHeight := legendRows(nil, legend, width)
	f.Height = f.headHeight() + f.footHeight() + vg.Length(rows)*panelHeight + legendHeight + 16
	f.Alt = f.Title + ". "
	for i, c := range g.charts {
		f.Alt += g.titles[i] + ": " + c.describe()
	}
	low, high, small, large := math.Inf(1), 0.0, int64(math.MaxInt64), int64(0)
	for i := range g.charts {
		l, h := g.charts[i].yRange()
		low, high = min(low, l), max(high, h)
		small, large = min(small, g.charts[i].sizes[0]), max(large, g.charts[i].sizes[len(g.charts[i].sizes)-1])
	}
	f.body = func(dc draw.Canvas) {
		legendRows(&dc, legend, width)
		area := draw.Crop(dc, 0, 0, legendHeight+6, 0)
		tiles := make([][]*plot.Plot, rows)
		for i := range rows * columns {
			var p *plot.Plot
			if i < len(g.charts) {
				p = g.charts[i].plot(3)
				p.X.Label.Text, p.Y.Label.Text = "", ""
				p.Y.Min, p.Y.Max = low, high
				p.Y.Tick.Marker = logTicks(low, high, g.charts[i].unit)
				p.X.Min, p.X.Max = around(float64(small), float64(large), 4)
				p.X.Tick.Marker = sizeTicks(spanOf(small, large), 3)
				if i%columns != 0 {
					p.Y.Tick.Marker = unlabelled(p.Y.Tick.Marker)
				}
			}
			tiles[i/columns] = append(tiles[i/columns], p)
		}
		canvases := plot.Align(tiles, draw.Tiles{Rows: rows, Cols: columns, PadX: 10, PadY: panelTitle, PadTop: panelTitle, PadRight: 8}, area)
		for i := range g.charts {
			row, column := i/columns, i%columns
			p, tile := tiles[row][column], canvases[row][column]
			st := aligned(colored(labelStyle, ink), draw.XCenter, draw.YBottom)
			st.Font.Weight = titleStyle.Font.Weight
			data := p.DataCanvas(tile)
			at := vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: tile.Max.Y + 3}
			dc.FillText(st, at, fit(st, g.titles[i], tile.Max.X-tile.Min.X))
			p.Draw(tile)
		}
	}
	return f, nil
}

// spanOf lists the ends of a range of sizes, and the power of two in their middle where there is room.
func spanOf(small, large int64) []int64 {
	if small == large {
		return []int64{small}
	}
	if middle := int64(1) << ((bits.Len64(uint64(small)) + bits.Len64(uint64(large)) - 2) / 2); middle > 4*small && 4*middle < large {
		return []int64{small, middle, large}
	}
	return []int64{small, large}
}

// unlabelled keeps the marks and the grid, without text.
func unlabelled(t plot.Ticker) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := t.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = " "
			}
		}
		return ticks
	})
}

// legendRows draws the names of curves with their marks in as many rows as they need, from the canvas's lower end up, and
// returns their height. A nil canvas only measures.
func legendRows(dc *draw.Canvas, curves []curve, width vg.Length) vg.Length {
	const leading, sample, gap = vg.Length(15), vg.Length(30), vg.Length(16)
	st := labelStyle
	type place struct {
		x   vg.Length
		row int
	}
	var places []place
	x, row := vg.Length(0), 0
	for _, cv := range curves {
		w := sample + min(st.Width(fit(st, cv.label, width/2)), width/2)
		if x > 0 && x+w > width {
			x, row = 0, row+1
		}
		places = append(places, place{x, row})
		x += w + gap
	}
	rows := vg.Length(row + 1)
	if dc == nil {
		return rows * leading
	}
	for i, cv := range curves {
		left := dc.Min.X + places[i].x
		y := dc.Min.Y + (rows-vg.Length(places[i].row))*leading - leading/2
		dc.StrokeLines(cv.style.line(), []vg.Point{{X: left, Y: y}, {X: left + 24, Y: y}})
		dc.DrawGlyph(cv.style.point(2.6), vg.Point{X: left + 12, Y: y})
		write(*dc, st, vg.Point{X: left + sample, Y: y}, fit(st, cv.label, width/2))
	}
	return rows * leading
}
