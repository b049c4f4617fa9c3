package results

import (
	"fmt"
	"math"
	"strconv"

	"gpushare-bench/stats"
)

// FormatQuantity writes a value of a metric for people, with three significant digits at least and none of a whole number
// lost below 1000: times as ns, µs, ms or s, rates as B/s, kB/s, MB/s, GB/s or TB/s (powers of 1000). NaN, "not
// estimable", is "–".
func FormatQuantity(v float64, unit string) string {
	digits, scale := scaleOf(v, unit)
	if math.IsNaN(v) {
		return "–"
	}
	return significant(v/digits) + " " + scale
}

// FormatInterval writes an estimate and its interval in the estimate's unit: "12.3 µs [12.1, 12.6]". An interval that is
// not estimable is left out.
func FormatInterval(v float64, ci stats.Interval, unit string) string {
	if math.IsNaN(v) || !ci.Estimable() {
		return FormatQuantity(v, unit)
	}
	divisor, _ := scaleOf(v, unit)
	return fmt.Sprintf("%s [%s, %s]", FormatQuantity(v, unit), significant(ci.Low/divisor), significant(ci.High/divisor))
}

// scaleOf returns the divisor and the name of the unit in which v reads best.
func scaleOf(v float64, unit string) (divisor float64, name string) {
	names := []string{unit}
	switch unit {
	case Nanoseconds:
		names = []string{"ns", "µs", "ms", "s"}
	case BytesPerSecond:
		names = []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"}
	}
	divisor = 1
	for len(names) > 1 && math.Abs(v)/divisor >= 999.5 {
		divisor, names = divisor*1000, names[1:]
	}
	return divisor, names[0]
}

// significant writes three significant digits, more before the point.
func significant(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995 || a == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// FormatRatio writes a ratio with its interval: "×1.07 [1.05, 1.09]".
func FormatRatio(v float64, ci stats.Interval) string {
	s := "×" + ratioDigits(v)
	if ci.Estimable() {
		s += fmt.Sprintf(" [%s, %s]", ratioDigits(ci.Low), ratioDigits(ci.High))
	}
	return s
}

// ratioDigits writes ratios near 1 with three decimals, because a threshold may be a fraction of a percent.
func ratioDigits(v float64) string {
	if v >= 0.1 && v < 9.9995 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return significant(v)
}

// FormatP writes a p-value: two significant digits, "<0.0001" below that.
func FormatP(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < 0.0001:
		return "<0.0001"
	case p > 0.9995:
		return "1"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}
