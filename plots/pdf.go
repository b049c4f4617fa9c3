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
	c.Canvas.FillString(f, at, latin(pdfText.Replace(text)))
}

// beyondLatin1 are the characters of the code page that Latin-1 does not have, with their bytes.
var beyondLatin1 = map[rune]byte{'€': 0x80, '…': 0x85, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97, '™': 0x99}

// latin encodes text in the code page; what it does not have becomes a question mark.
func latin(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := beyondLatin1[r]
		switch {
		case ok:
			out = append(out, b)
		case r < 0x80 || r >= 0xA0 && r <= 0xFF:
			out = append(out, byte(r))
		default:
			out = append(out, '?')
		}
	}
	return string(out)
}
