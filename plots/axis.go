package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// sizeTicks are powers of two in bytes, labelled as far as there is room: every measured size if they are few, else every
// second, third … power.
func sizeTicks(sizes []int64, most int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	if len(sizes) <= most && apart(sizes, most) {
		for _, s := range sizes {
			ticks = append(ticks, plot.Tick{Value: float64(s), Label: share.FormatSize(s)})
		}
		return ticks
	}
	low, high := int(math.Ceil(math.Log2(float64(sizes[0])))), int(math.Floor(math.Log2(float64(sizes[len(sizes)-1]))))
	step := max(1, (high-low+most-1)/most)
	for e := low; e <= high; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-low)%step == 0 {
			t.Label = share.FormatSize(int64(1) << e)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// apart reports whether labels of all sizes find room beside each other where most of them would fill the axis.
func apart(sizes []int64, most int) bool {
	if len(sizes) < 2 {
		return true
	}
	span := math.Log2(float64(sizes[len(sizes)-1])) - math.Log2(float64(sizes[0]))
	for i := 1; i < len(sizes); i++ {
		if math.Log2(float64(sizes[i]))-math.Log2(float64(sizes[i-1])) < span/float64(most) {
			return false
		}
	}
	return true
}

// logTicks are 1, 2 and 5 times powers of ten; labels carry the unit, and only as many as fit.
func logTicks(low, high float64, unit string) plot.ConstantTicks {
	decades := math.Log10(high / low)
	if decades < 0.8 { // a straight scale's numbers read better
		return linearTicks(low, high, unit, 5)
	}
	labelled := []float64{1}
	switch {
	case decades < 1.3:
		labelled = []float64{1, 2, 3, 5, 7}
	case decades < 2.4:
		labelled = []float64{1, 2, 5}
	case decades < 3.2:
		labelled = []float64{1, 3}
	}
	every := max(1, int(math.Ceil(decades/9)))
	var ticks plot.ConstantTicks
	first := int(math.Floor(math.Log10(low)))
	for e := first; e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, float64(e))
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if slices.Contains(labelled, m) && (e-first)%every == 0 {
				t.Label = tickLabel(v, unit)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten, at most n of them.
func linearTicks(low, high float64, unit string, n int) plot.ConstantTicks {
	step := niceStep((high - low) / float64(n))
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, unit)})
	}
	return ticks
}

func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// Units of axes beside those of metrics.
const (
	unitRatio   = "×"
	unitPercent = "%"
	unitUses    = "uses"
)

func tickLabel(v float64, unit string) string {
	switch unit {
	case results.Nanoseconds, results.BytesPerSecond:
		if v == 0 {
			return "0"
		}
		s := results.FormatQuantity(v, unit)
		number, scale, _ := strings.Cut(s, " ")
		if strings.Contains(number, ".") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return number + " " + scale
	case unitRatio:
		return "×" + strconv.FormatFloat(v, 'g', 4, 64)
	case unitPercent:
		return strconv.FormatFloat(v, 'g', 4, 64) + " %"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// around widens a range of positive values a little, and to at least a factor of least.
func around(low, high, least float64) (float64, float64) {
	low, high = low/1.12, high*1.12
	if high/low < least {
		f := math.Sqrt(least * low / high)
		low, high = low/f, high*f
	}
	return low, high
}

// newPlot is an empty plot in our style.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = muted, muted
		a.Tick.Length = 4
		a.Padding = 0
		restyle(&a.Tick.Label, tickStyle)
		restyle(&a.Label.TextStyle, labelStyle)
		a.Label.Padding = 4
	}
	return p
}

// restyle takes over font and colour and leaves the alignment.
func restyle(to *text.Style, from text.Style) {
	to.Color, to.Font, to.Handler = from.Color, from.Font, from.Handler
}
