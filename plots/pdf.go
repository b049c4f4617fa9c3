package plots

import (
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas writes text as vgpdf can: it has no bold fonts, and its characters are those of Windows code page 1252.
type pdfCanvas struct{ *vgpdf.Canvas }

var pdfText = strings.NewReplacer("→", "->", "−", "-", "≥", ">=", "≤", "<=")

func (c pdfCanvas) FillString(f font.Face, at vg.Point, text string) {
	if f.Font.Weight != xfont.WeightNormal {
		regular := f.Font
		regular.Weight = xfont.WeightNormal
		f = font.DefaultCache.Lookup(regular, regular.Size)
	}
	c.Canvas.FillString(f, at, strings.Map(latin, pdfText.Replace(text)))
}

// latin replaces what the code page does not have.
func latin(r rune) rune {
	if r < 0x100 || strings.ContainsRune("…–—‘’“”•€™", r) {
		return r
	}
	return '?'
}
