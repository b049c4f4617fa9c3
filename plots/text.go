package plots

import (
	"strings"
	"unicode"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plain makes any text drawable on one line: control and formatting characters, line and paragraph separators become
// spaces, what is no UTF-8 becomes U+FFFD.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// longest bounds texts before they are measured; no line of a picture holds more.
const longest = 400

func cut(s string, n int) (string, bool) {
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}

// fit shortens the text with … to the width.
func fit(st text.Style, s string, width vg.Length) string {
	s, shortened := cut(plain(s), longest)
	if !shortened && st.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes)
	for low < high {
		mid := (low + high + 1) / 2
		if st.Width(string(runes[:mid])+"…") <= width {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.TrimRight(string(runes[:low]), " ") + "…"
}

// wrap breaks the text at spaces into at most n lines of the width; the last one is shortened.
func wrap(st text.Style, s string, width vg.Length, n int) []string {
	s, _ = cut(plain(s), longest)
	words := strings.Fields(s)
	var lines []string
	for len(words) > 0 {
		line := words[0]
		k := 1
		for k < len(words) && st.Width(line+" "+words[k]) <= width {
			line += " " + words[k]
			k++
		}
		if len(lines) == n-1 {
			line, k = strings.Join(words, " "), len(words)
		}
		lines = append(lines, fit(st, line, width))
		words = words[k:]
	}
	return lines
}

// write draws text whose middle is at the height of the point. gonum's YCenter leaves it a descent too low.
func write(c draw.Canvas, st text.Style, at vg.Point, s string) {
	st.YAlign = draw.YCenter
	at.Y += st.FontExtents().Descent
	c.FillText(st, at, s)
}
