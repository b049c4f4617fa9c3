package plots

import (
	"image/color"
	"math"
)

// nearBlack stands for black, which vgsvg leaves out.
var nearBlack = rgb(0x010101)

// luminance is the relative luminance of WCAG 2.2, from 0 for black to 1 for white.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix goes from a to b by a part from 0 to 1.
func mix(a, b color.NRGBA, part float64) color.NRGBA {
	between := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*part)) }
	return color.NRGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

// leastContrast is what WCAG 2.2 asks of graphical objects (success criterion 1.4.11).
const leastContrast = 3

// bounded darkens or lightens a colour as little as needed to stand out from paper, and from that of a page on dark.
func bounded(c color.NRGBA) color.NRGBA {
	toward := nearBlack
	if contrast(c, darkPaper) < leastContrast {
		toward = rgb(0xFFFFFF)
	}
	for part := 0.0; part <= 1; part += 1.0 / 256 {
		if m := mix(c, toward, part); contrast(m, paper) >= leastContrast && contrast(m, darkPaper) >= leastContrast {
			return m
		}
	}
	return c
}
