package plots

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Errors by which a caller decides.
var (
	// ErrEmpty says that there is nothing to draw.
	ErrEmpty = errors.New("nothing to draw")
	// ErrNotFinite says that a value to be drawn is NaN or infinite.
	ErrNotFinite = errors.New("not a finite number")
	// ErrNotPositive says that a value on a logarithmic axis is not above zero.
	ErrNotPositive = errors.New("not above zero")
	// ErrFormat says that a format is none of png, svg and pdf.
	ErrFormat = errors.New("unknown picture format")
)

// Formats lists the formats of pictures.
func Formats() []string { return []string{"png", "svg", "pdf"} }

// pngDPI makes a figure of 720 points 1440 pixels wide: sharp on slides and in two columns of a paper.
const pngDPI = 144

// Figure is one picture, ready to be drawn in any format.
type Figure struct {
	Name     string   // name of the file without extension: "latency-setup"
	Title    string   // what is shown
	Subtitle string   // machine, pair, settings
	Emulated string   // name of the emulated machine; "" on real hardware
	Alt      string   // what a person who can't see the picture should know
	Notes    []string // lines under the picture
	Width    vg.Length
	Height   vg.Length
	body     func(draw.Canvas) // draws below the title and above the notes
	bare     bool              // without title and notes: the page says them
}

// Bare returns the figure without title, subtitle and notes, for a page that says them itself.
func (f Figure) Bare() Figure {
	head := f.headHeight()
	foot := f.footHeight()
	f.Height -= head + foot
	f.bare = true
	return f
}

func (f Figure) headHeight() vg.Length {
	if f.bare {
		return 0
	}
	return 44
}

func (f Figure) footHeight() vg.Length {
	if f.bare || len(f.Notes) == 0 {
		return 0
	}
	return vg.Length(len(f.footLines()))*noteLeading + 6
}

// emulatedTag stands before the title of what was measured on an emulated driver.
const emulatedTag = "EMULATED"

const (
	margin      = vg.Length(12)
	noteLeading = vg.Length(12)
)

func (f Figure) footLines() []string {
	var lines []string
	for _, n := range f.Notes {
		lines = append(lines, wrap(noteStyle, n, f.Width-2*margin, 2)...)
	}
	return lines
}

func (f Figure) drawOn(c draw.Canvas) {
	if !f.bare {
		c.SetColor(paper)
		c.Fill(c.Rectangle.Path())
		width := f.Width - 2*margin
		at := vg.Point{X: c.Min.X + margin, Y: c.Max.Y - 10}
		if f.Emulated != "" {
			tag := colored(titleStyle, alarm)
			c.FillText(tag, at, emulatedTag)
			step := tag.Width(emulatedTag) + 8
			at.X += step
			width -= step
		}
		c.FillText(titleStyle, at, fit(titleStyle, f.Title, width))
		width = f.Width - 2*margin
		subtitle := f.Subtitle
		if f.Emulated != "" {
			subtitle = "no measurement: emulated machine " + f.Emulated + "; " + subtitle
		}
		c.FillText(subtitleStyle, vg.Point{X: c.Min.X + margin, Y: c.Max.Y - 28}, fit(subtitleStyle, subtitle, width))
		y := c.Min.Y + f.footHeight() - 4
		for _, line := range f.footLines() {
			c.FillText(noteStyle, vg.Point{X: c.Min.X + margin, Y: y}, line)
			y -= noteLeading
		}
	}
	f.body(draw.Crop(c, margin, -margin, f.footHeight()+4, -f.headHeight()-10))
}

// Encode writes the picture in one of the formats png, svg and pdf.
func (f Figure) Encode(w io.Writer, format string) error {
	if f.body == nil {
		return fmt.Errorf("draw %s: %w", f.Name, ErrEmpty)
	}
	var c vg.CanvasWriterTo
	switch format {
	case "png":
		return f.encodePNG(w, pngDPI)
	case "svg":
		var b bytes.Buffer
		if err := f.writeTo(&b, vgsvg.New(f.Width, f.Height)); err != nil {
			return err
		}
		_, err := io.WriteString(w, roomed(b.String()))
		return err
	case "pdf":
		c = pdfCanvas{vgpdf.New(f.Width, f.Height)}
	default:
		return fmt.Errorf("draw %s as %q: %w; want png, svg or pdf", f.Name, format, ErrFormat)
	}
	return f.writeTo(w, c)
}

func (f Figure) encodePNG(w io.Writer, dpi int) error {
	img := vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	return f.writeTo(w, vgimg.PngCanvas{Canvas: img})
}

func (f Figure) writeTo(w io.Writer, c vg.CanvasWriterTo) error {
	f.drawOn(draw.NewCanvas(c, f.Width, f.Height))
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return nil
}

// Inline returns the picture as an svg element for a page: it scales with the page and takes the colours of text, lines
// and background from the custom properties --ink, --muted, --grid and --paper of the page's style sheet. The
// element is hidden from screen readers; Alt belongs into the text around it.
func (f Figure) Inline() (string, error) {
	var b bytes.Buffer
	if err := f.Encode(&b, "svg"); err != nil {
		return "", err
	}
	s := b.String()
	start := strings.Index(s, "<g")
	if start < 0 {
		return "", fmt.Errorf("draw %s: unexpected SVG", f.Name)
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.5g %.5g" aria-hidden="true" focusable="false">`+"\n",
		f.Width.Points(), f.Height.Points())
	return head + compact(s[start:]), nil
}

var (
	fontFamily  = regexp.MustCompile(`font-family:[^;"]*;font-variant:[^;"]*;font-weight:([^;"]*);font-style:[^;"]*;?`)
	textElement = regexp.MustCompile(`<text([^>]*?)font-size:([0-9.]+)px([^>]*)>([^<]+)</text>`)
	spaceInTag  = regexp.MustCompile(`\s*\n\s*style=`)
	longPath    = regexp.MustCompile(`d="M[-0-9.,]+(L[-0-9.,]+){8,}Z?"`)
)

// roomed makes every text take the room that the picture left for it, whatever font the reader's system has, and names
// fonts of the same proportions that are nearly everywhere.
func roomed(s string) string {
	s = strings.ReplaceAll(s, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	return textElement.ReplaceAllStringFunc(s, func(m string) string {
		part := textElement.FindStringSubmatch(m)
		size, err := strconv.ParseFloat(part[2], 64)
		if err != nil {
			return m
		}
		width := textStyle(size, ink, strings.Contains(part[1], "bold")).Width(html.UnescapeString(part[4])).Points()
		return fmt.Sprintf(`<text textLength="%.1f" lengthAdjust="spacingAndGlyphs"%sfont-size:%spx%s>%s</text>`, width, part[1], part[2], part[3], part[4])
	})
}

// compact makes an SVG of vgsvg smaller and gives it the page's colours and font.
func compact(s string) string {
	s = fontFamily.ReplaceAllStringFunc(s, func(m string) string {
		if strings.Contains(m, "font-weight:bold") {
			return "font-weight:bold;"
		}
		return ""
	})
	s = spaceInTag.ReplaceAllString(s, " style=")
	s = longPath.ReplaceAllStringFunc(s, shortPath)
	pairs := []string{}
	for _, v := range []struct {
		c    color.Color
		name string
	}{{ink, "--ink"}, {muted, "--muted"}, {grid, "--grid"}, {paper, "--paper"}} {
		r, g, b, _ := v.c.RGBA()
		pairs = append(pairs, fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8), "var("+v.name+")")
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// shortPath writes a path of straight lines with relative coordinates, to a tenth of a point.
func shortPath(d string) string {
	body, end := strings.TrimPrefix(strings.TrimSuffix(d, `"`), `d="M`), `"`
	if rest, ok := strings.CutSuffix(body, "Z"); ok {
		body, end = rest, `Z"`
	}
	var b strings.Builder
	var x, y int // tenths
	for i, at := range strings.Split(body, "L") {
		xs, ys, _ := strings.Cut(at, ",")
		fx, errX := strconv.ParseFloat(xs, 64)
		fy, errY := strconv.ParseFloat(ys, 64)
		if errX != nil || errY != nil {
			return d
		}
		nx, ny := int(math.Round(10*fx)), int(math.Round(10*fy))
		switch {
		case i == 0:
			fmt.Fprintf(&b, `d="M%s,%s`, tenths(nx), tenths(ny))
		case nx != x && ny != y:
			fmt.Fprintf(&b, "l%s,%s", tenths(nx-x), tenths(ny-y))
		case nx != x:
			b.WriteString("h" + tenths(nx-x))
		case ny != y:
			b.WriteString("v" + tenths(ny-y))
		}
		x, y = nx, ny
	}
	return b.String() + end
}

// tenths writes a number of tenths as SVG may be written: "-.5", "12", "3.1".
func tenths(n int) string {
	s := strconv.FormatFloat(math.Abs(float64(n))/10, 'f', -1, 64)
	if n != 0 {
		s = strings.TrimPrefix(s, "0")
	}
	if n < 0 {
		s = "-" + s
	}
	return s
}
