package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"gpushare-bench/results"
)

// clean makes any text safe for a line of a terminal: control and formatting characters and line separators become
// spaces, what is no UTF-8 becomes U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// short cuts clean text to a number of columns, with … at the end.
func short(s string, columns int) string {
	s = clean(s)
	if twwidth.Width(s) <= columns {
		return s
	}
	var b strings.Builder
	used := 1 // of the …
	for _, r := range s {
		w := twwidth.Width(string(r))
		if used+w > columns {
			break
		}
		used += w
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// shortName cuts the name of a row. One that ends in parentheses is cut in its middle: what is in them tells it from rows
// of the same path and allocator.
func shortName(s string, columns int) string {
	s = clean(s)
	if twwidth.Width(s) <= columns || !strings.HasSuffix(s, ")") {
		return short(s, columns)
	}
	runes := []rune(s)
	from, used := len(runes), 0
	for from > 0 {
		w := twwidth.Width(string(runes[from-1]))
		if used+w > columns/2 {
			break
		}
		from, used = from-1, used+w
	}
	return short(s, columns-used) + string(runes[from:])
}

// wrapped breaks clean text at spaces into lines of at most a number of columns, at most a number of lines; the last one is
// shortened if need be.
func wrapped(s string, columns, most int) []string {
	words := strings.Fields(clean(s))
	var lines []string
	for len(words) > 0 && len(lines) < most {
		if len(lines) == most-1 {
			return append(lines, short(strings.Join(words, " "), columns))
		}
		line := short(words[0], columns)
		k := 1
		for k < len(words) && twwidth.Width(line)+1+twwidth.Width(words[k]) <= columns {
			line += " " + words[k]
			k++
		}
		lines = append(lines, line)
		words = words[k:]
	}
	return lines
}

// scale is one unit for all numbers of a column.
type scale struct {
	divisor  float64
	unit     string
	decimals int
}

// scaleFor chooses the unit in which the smallest of the values has three significant digits.
func scaleFor(values []float64, unit string) scale {
	smallest := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			smallest = min(smallest, v)
		}
	}
	if math.IsInf(smallest, 1) {
		smallest = 1
	}
	s := scale{1, unit, 0}
	names := map[string][]string{results.Nanoseconds: {"ns", "µs", "ms", "s"}, results.BytesPerSecond: {"B/s", "kB/s", "MB/s", "GB/s"}}[unit]
	for i, name := range names {
		if i == 0 || smallest >= s.divisor*1000 {
			s.unit = name
			if i > 0 {
				s.divisor *= 1000
			}
		}
	}
	s.decimals = decimalsFor(smallest / s.divisor)
	return s
}

// decimalsFor gives the value three significant digits, with at most three decimals.
func decimalsFor(v float64) int {
	switch {
	case v < 0.9995:
		return 3
	case v < 9.995:
		return 2
	case v < 99.95:
		return 1
	}
	return 0
}

func (s scale) format(v float64) string {
	return strconv.FormatFloat(v/s.divisor, 'f', s.decimals, 64)
}

// wide is the half of an interval, as a fraction of the median, from which on both ends are written: ± would hide that the
// sides differ, and could reach below zero.
const wide = 0.1

// estimate writes a median and the wider side of its interval, "12.31 ±0.12", or both ends of a wide one, "12.3 [9.8, 21.0]".
func (s scale) estimate(r *results.Row) string {
	text := s.format(r.Stats.Median)
	ci := r.Stats.CI
	if !ci.Estimable() {
		return text + " (n=" + strconv.Itoa(r.Stats.N) + ")"
	}
	half := max(ci.High-r.Stats.Median, r.Stats.Median-ci.Low)
	if half > wide*r.Stats.Median {
		return fmt.Sprintf("%s [%s, %s]", text, s.format(ci.Low), s.format(ci.High))
	}
	return text + s.plusMinus(half)
}

// plusMinus writes half an interval, " ±0.12".
func (s scale) plusMinus(half float64) string {
	side := s.format(half)
	if half > 0 && strings.Trim(side, "0.") == "" {
		side = "<" + strconv.FormatFloat(math.Pow10(-s.decimals), 'f', s.decimals, 64)
	}
	return " ±" + side
}

var nan = math.NaN()

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
