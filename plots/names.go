package plots

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// shortTitle names a metric in a word or two.
func shortTitle(metric string) string {
	switch metric {
	case share.FirstTouch.String():
		return "first touch"
	}
	return strings.TrimPrefix(metric, "kernel/")
}

// timeOf says what a time is of.
func timeOf(metric, title string) string {
	if strings.HasPrefix(metric, "kernel/") {
		return title
	}
	return "time of " + title
}

// axisTitle names a metric for an axis.
func axisTitle(metric, unit string) string {
	if unit == results.Nanoseconds {
		return timeOf(metric, shortTitle(metric))
	}
	return MetricTitle(metric)
}

// capital makes the first letter, if it is ASCII, a capital one.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// fileName makes a name for files of any text: letters, digits and dashes.
func fileName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && r != ' ':
			b.WriteByte('-')
		}
	}
	name, _ := cut(strings.Trim(b.String(), "-."), 60)
	return name
}

func sorted(sizes []int64) []int64 {
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

var nan = math.NaN()

// byX sorts points by x.
func byX(points []point) []point {
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return points
}
