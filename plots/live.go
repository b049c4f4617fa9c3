package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// liveMetrics are what live mappings may slow down.
var liveMetrics = []string{share.Setup, share.Import.String(), share.Map.String()}

// Live shows setup, import and map by the number of other mappings that were alive, at the size that most ways have. It is
// empty where the ways of the view differ in nothing of the kind.
func (d *Data) Live(v *View) (Figure, error) {
	size := v.DefaultSize()
	f := Figure{
		Name: "live", Title: fmt.Sprintf("Time of setup, import and map by the number of other live mappings, sharing %s", share.FormatSize(size)),
		Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth,
		Notes: []string{intervalNote + " All panels have the same axes."},
	}
	groups, counts := v.byLive(size)
	if len(counts) < 2 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	var titles []string
	var charts []chart
	f.Alt = f.Title + ". "
	for _, metric := range liveMetrics {
		c := chart{unit: results.Nanoseconds}
		alt := ""
		for _, g := range groups {
			cv := curve{label: g.label, style: g.style}
			for _, w := range g.ways {
				r := w.Row(size, metric)
				if r == nil || r.Stats.Median <= 0 {
					continue
				}
				low, high := Interval(r)
				cv.points = append(cv.points, point{x: liveAt(w.Case.Live), y: r.Stats.Median, low: low, high: high})
				c.sizes = append(c.sizes, int64(liveAt(w.Case.Live)))
				alt += fmt.Sprintf("%s, %d live: %s. ", plain(g.label), w.Case.Live, results.FormatQuantity(r.Stats.Median, results.Nanoseconds))
			}
			if len(cv.points) > 0 {
				c.curves = append(c.curves, cv)
			}
		}
		c.sizes = sorted(c.sizes)
		if err := c.check(); err == nil {
			titles, charts = append(titles, shortTitle(metric)), append(charts, c)
			f.Alt += shortTitle(metric) + ": " + alt
		}
	}
	if len(charts) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	f.Notes = append(f.Notes, limitNotes(groups, size)...)
	var legend []curve
	for _, g := range groups {
		legend = append(legend, curve{label: g.label, style: g.style})
	}
	legendHeight := legendRows(nil, legend, f.Width-2*margin)
	f.Height = f.headHeight() + f.footHeight() + livePanelHeight + legendHeight + 16
	f.body = func(dc draw.Canvas) {
		legendRows(&dc, legend, f.Width-2*margin)
		drawLive(draw.Crop(dc, 0, 0, legendHeight+6, 0), titles, charts, counts)
	}
	return f, nil
}

// liveGroup is one curve: the ways that differ in the number of live mappings only.
type liveGroup struct {
	label string
	style style
	ways  []*Way // by number of live mappings
}

// byLive groups the ways that were asked for more than one number of live mappings. counts are all numbers that were
// measured at the size.
func (v *View) byLive(size int64) (groups []liveGroup, counts []int) {
	var bases []*Way
	members := make(map[share.Case][]*Way)
	for _, w := range v.Ways { // in the order of Live within what is the same otherwise
		base := w.Case
		base.Live = 0
		if members[base] == nil {
			bases = append(bases, &Way{Case: base})
		}
		members[base] = append(members[base], w)
	}
	nameWays(bases)
	for _, b := range bases {
		ways := members[b.Case]
		measured := slices.DeleteFunc(slices.Clone(ways), func(w *Way) bool { return !w.measured(size) })
		if len(ways) < 2 || len(measured) == 0 {
			continue
		}
		st := distinct(styleOf(b.Case), func(st style) bool {
			return slices.ContainsFunc(groups, func(g liveGroup) bool { return alike(g.style, st) })
		})
		groups = append(groups, liveGroup{label: b.Label, style: st, ways: ways})
		for _, w := range measured {
			counts = append(counts, w.Case.Live)
		}
	}
	slices.Sort(counts)
	return groups, slices.Compact(counts)
}

// liveAt is where a number of live mappings lies on a logarithmic axis: twice the number, so that there is room for none
// left of one.
func liveAt(n int) float64 { return math.Max(1, float64(2*n)) }

// limitNotes say where the machine had no room for as many as were asked for.
func limitNotes(groups []liveGroup, size int64) []string {
	var notes []string
	for _, g := range groups {
		for _, w := range g.ways {
			if _, reason := w.Status(size); strings.Contains(reason, "live mappings reached") {
				notes = append(notes, plain(g.label)+": "+reason)
			}
		}
	}
	const most = 4
	if len(notes) > most {
		notes = append(notes[:most], fmt.Sprintf("and %d other limits that were reached, see the list of what was not measured.", len(notes)-most))
	}
	return notes
}

const livePanelHeight = vg.Length(260)

// drawLive draws the panels side by side, on the same axes.
func drawLive(dc draw.Canvas, titles []string, charts []chart, counts []int) {
	low, high := math.Inf(1), 0.0
	for i := range charts {
		l, h := charts[i].yRange()
		low, high = min(low, l), max(high, h)
	}
	var ticks plot.ConstantTicks
	for _, n := range counts {
		ticks = append(ticks, plot.Tick{Value: liveAt(n), Label: strconv.Itoa(n)})
	}
	thin(ticks, 5)
	row := make([]*plot.Plot, len(charts))
	for i := range charts {
		p := charts[i].plot(3)
		p.X.Label.Text, p.Y.Label.Text = "other live mappings", ""
		p.Y.Min, p.Y.Max = low, high
		p.Y.Tick.Marker = logTicks(low, high, charts[i].unit)
		p.X.Min, p.X.Max = around(liveAt(counts[0]), liveAt(counts[len(counts)-1]), 4)
		p.X.Tick.Marker = ticks
		if i > 0 {
			p.Y.Tick.Marker = unlabelled(p.Y.Tick.Marker)
		}
		row[i] = p
	}
	canvases := plot.Align([][]*plot.Plot{row}, draw.Tiles{Rows: 1, Cols: len(row), PadX: 10, PadTop: panelTitle, PadRight: 8}, dc)
	for i, p := range row {
		tile := canvases[0][i]
		st := aligned(colored(labelStyle, ink), draw.XCenter, draw.YBottom)
		st.Font.Weight = titleStyle.Font.Weight
		data := p.DataCanvas(tile)
		dc.FillText(st, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: tile.Max.Y + 3}, fit(st, titles[i], tile.Max.X-tile.Min.X))
		p.Draw(tile)
	}
}

// thin takes the labels of ticks that lie too close to a labelled one where most of them would fill the axis. The first and
// the last keep theirs.
func thin(ticks plot.ConstantTicks, most int) {
	last, end := 0, len(ticks)-1
	span := math.Log(ticks[end].Value / ticks[0].Value)
	near := func(i, j int) bool { return math.Log(ticks[j].Value/ticks[i].Value) < span/float64(most) }
	for i := 1; i < end; i++ {
		if near(last, i) || near(i, end) {
			ticks[i].Label = ""
			continue
		}
		last = i
	}
}
