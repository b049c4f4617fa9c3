package plots

import (
	"hash/fnv"
	"image/color"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/share"
)

// The four colours that a page replaces by its own. None of them is pure black: vgsvg leaves black out.
var (
	ink   = rgb(0x1B1F24)
	muted = rgb(0x57606A)
	grid  = rgb(0xDADFE5)
	paper = rgb(0xFFFFFF)
	alarm = rgb(0xB3261E) // what must not be overlooked
)

// darkPaper is the background of a page on dark: its --paper.
var darkPaper = rgb(0x14171C)

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func faded(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// pathColors are M. Okabe and K. Ito's colours ("Color Universal Design", 2008), which people with any kind of colour
// vision tell apart; orange and sky blue, too faint for lines on white, are darkened, and vermilion with them. The baseline is grey. All of them,
// and all shades of them, stand out from light and dark paper ([leastContrast]).
var pathColors = map[string]color.NRGBA{
	"dma-buf":      rgb(0x0072B2), // blue
	"dma-buf-pcie": rgb(0x6F55B6), // violet
	"cumemmap":     rgb(0xBF4F00), // vermilion
	"cuda-ipc":     rgb(0x009E73), // bluish green
	"opaque-fd":    rgb(0xC58800), // orange
	"mempool":      rgb(0xCC79A7), // reddish purple
	"fabric":       rgb(0x4A9BC8), // sky blue
	"memfd":        rgb(0x8C564B), // brown: the host's own path
	"staged":       rgb(0x808890), // grey: the baseline
}

// rest are the colours of paths without one of their own, chosen by their names.
var rest = []color.NRGBA{rgb(0xA39400), rgb(0x3C7A1E), rgb(0x00808C)}

// PathColor is the colour of a path in all pictures.
func PathColor(path string) color.NRGBA {
	if c, ok := pathColors[path]; ok {
		return c
	}
	h := fnv.New32a()
	h.Write([]byte(path))
	return rest[h.Sum32()%uint32(len(rest))]
}

// phaseColors go from the producer's side (cool) over the way (blue) to the consumer's (warm); neighbours in a bar also
// differ in lightness.
var phaseColors = map[string]color.NRGBA{
	"allocate":    rgb(0xB8BEC6),
	"export":      rgb(0x08519C),
	"transfer":    rgb(0x6BAED6),
	"import":      rgb(0x1B7837),
	"map":         rgb(0x8CCB82),
	"first_touch": rgb(0xC75B12),
	"unmap":       rgb(0xF3C178),
	"release":     rgb(0x6E7681),
}

// PhaseColor is the colour of a phase in stacked bars.
func PhaseColor(p share.Phase) color.NRGBA { return phaseColors[p.String()] }

// marks of allocators: a dash pattern and a glyph.
type mark struct {
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

var (
	solid     = []vg.Length(nil)
	dashed    = []vg.Length{6, 3}
	dotted    = []vg.Length{1.5, 2.5}
	dashDot   = []vg.Length{7, 2.5, 1.5, 2.5}
	longDash  = []vg.Length{11, 4}
	dashDot2  = []vg.Length{7, 2.5, 1.5, 2.5, 1.5, 2.5}
	shortDash = []vg.Length{3, 2}
)

var allocatorMarks = map[string]mark{
	"device":     {solid, draw.CircleGlyph{}},
	"vmm":        {solid, draw.BoxGlyph{}},
	"async":      {dashed, draw.PyramidGlyph{}},
	"pinned":     {dotted, draw.RingGlyph{}},
	"vmm-rdma":   {dashDot, draw.SquareGlyph{}},
	"vmm-host":   {longDash, draw.TriangleGlyph{}},
	"managed":    {dashDot2, draw.CrossGlyph{}},
	"pool":       {shortDash, draw.PlusGlyph{}},
	"memfd":      {solid, draw.CircleGlyph{}},
	"memfd-huge": {dashed, draw.BoxGlyph{}},
	"udmabuf":    {solid, draw.PyramidGlyph{}},
	"dma-heap":   {dashDot, draw.SquareGlyph{}},
	"drm-dumb":   {dotted, draw.RingGlyph{}},
}

var otherMarks = []mark{{longDash, draw.CrossGlyph{}}, {dashDot2, draw.PlusGlyph{}}, {shortDash, draw.TriangleGlyph{}}}

// What marks are made of where the allocator's own is taken.
var (
	dashPatterns = [][]vg.Length{longDash, dashDot2, shortDash, dashed, dotted, dashDot, solid}
	glyphs       = []draw.GlyphDrawer{draw.CrossGlyph{}, draw.PlusGlyph{}, draw.TriangleGlyph{}, draw.CircleGlyph{}, draw.BoxGlyph{},
		draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}}
)

func allocatorMark(name string) mark {
	if m, ok := allocatorMarks[name]; ok {
		return m
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return otherMarks[h.Sum32()%uint32(len(otherMarks))]
}

// style is how a curve looks.
type style struct {
	color color.NRGBA
	mark
}

// shades lighten (above 0) or darken the path's colour for an allocator, so that the ways of one path differ a little in
// colour too.
var shades = map[string]float64{"pinned": -0.4, "async": 0.3, "vmm-rdma": -0.4, "vmm-host": 0.4, "managed": -0.2, "memfd-huge": 0.45,
	"dma-heap": -0.4, "drm-dumb": 0.4}

// WayColor is the colour of a way of sharing in all pictures: its path's, lightened or darkened for its allocator as far as
// it can still be seen on any page.
func WayColor(c share.Case) color.NRGBA {
	base, shade := PathColor(c.Path), shades[c.Allocator]
	if shade < 0 {
		return bounded(mix(base, nearBlack, -shade))
	}
	return bounded(mix(base, rgb(0xFFFFFF), shade))
}

// styleOf is how a way looks, as far as path and allocator say.
func styleOf(c share.Case) style { return style{WayColor(c), allocatorMark(c.Allocator)} }

// alike reports whether two styles can't be told apart.
func alike(a, b style) bool {
	return a.color == b.color && a.glyph == b.glyph && slices.Equal(a.dashes, b.dashes)
}

// distinct gives a style marks by which it is told from those that are taken: ways of the same path and allocator, which
// differ in something else, look the same otherwise. When all marks are taken it returns the style as it is.
func distinct(st style, taken func(style) bool) style {
	next := st
	for i := 0; taken(next); i++ {
		if i == len(dashPatterns)*len(glyphs) {
			return st
		}
		// Dashes and glyph change both with each step: one of them alone is hard to see.
		next.mark = mark{dashPatterns[i%len(dashPatterns)], glyphs[(i+i/len(dashPatterns))%len(glyphs)]}
	}
	return next
}

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 1.6, Dashes: s.dashes}
}

func (s style) point(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color, Radius: radius, Shape: s.glyph}
}

func textStyle(size float64, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, XAlign: draw.XLeft, YAlign: draw.YTop, Handler: handler}
}

var (
	handler       = text.Plain{Fonts: font.DefaultCache}
	titleStyle    = textStyle(14, ink, true)
	subtitleStyle = textStyle(10, muted, false)
	noteStyle     = textStyle(9, muted, false)
	labelStyle    = textStyle(10, ink, false)
	tickStyle     = textStyle(9.5, ink, false)
)

// aligned returns the style with another alignment.
func aligned(s text.Style, x draw.XAlignment, y draw.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

func colored(s text.Style, c color.Color) text.Style {
	s.Color = c
	return s
}
