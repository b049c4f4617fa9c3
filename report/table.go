package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// defaultWidth is the width of tables in columns where nothing else was asked for.
const defaultWidth = 100

func (o TableOptions) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return max(o.Width, 40)
}

// Emphasis with ANSI escape sequences, only with TableOptions.Color.
const (
	bold = "\x1b[1m"
	red  = "\x1b[1;31m"
)

func (o TableOptions) style(sequence, s string) string {
	if !o.Color || s == "" {
		return s
	}
	return sequence + s + "\x1b[0m"
}

// table is text in columns. The first column holds names and is left-aligned, the others numbers, right-aligned.
type table struct {
	head  []string
	rows  [][]string
	left  map[int]bool // further left-aligned columns
	whole bool         // names are not shortened where that leaves half the width: columns rather go into a further block
}

const (
	gap       = 2  // spaces between columns
	shortest  = 12 // columns that names keep at least
	nameShare = 3  // names take at most this part of the width, if numbers need the rest
)

// write renders the table in blocks that fit the width: columns that find no room beside the others go into another block
// below, with the names again. Names are shortened, numbers never.
func (t *table) write(w io.Writer, o TableOptions) error {
	if len(t.rows) == 0 {
		return nil
	}
	widths := t.widths()
	room := o.width() - numbers(widths)
	if room < widths[0] && !(t.whole && widths[0] <= o.width()/2) {
		widths[0] = max(min(widths[0], max(room, o.width()/nameShare)), shortest)
	}
	for from := 1; from < len(t.head) || from == 1; {
		to, used := from, widths[0]
		for to < len(t.head) && (to == from || used+gap+widths[to] <= o.width()) {
			used += gap + widths[to]
			to++
		}
		if from > 1 {
			fmt.Fprintln(w)
		}
		if err := t.block(w, o, from, to, widths[0]); err != nil {
			return err
		}
		from = max(to, from+1)
	}
	return nil
}

// widths are those of the columns' longest texts.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = twwidth.Width(h)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], twwidth.Width(cell))
		}
	}
	return widths
}

// numbers is the room that all columns but the first need.
func numbers(widths []int) int {
	total := 0
	for _, width := range widths[1:] {
		total += gap + width
	}
	return total
}

// block renders the names and the columns from … to.
func (t *table) block(w io.Writer, o TableOptions, from, to, names int) error {
	pick := func(row []string) []string {
		return append([]string{shortName(row[0], names)}, row[from:to]...)
	}
	align := []tw.Align{tw.AlignLeft}
	for i := from; i < to; i++ {
		if t.left[i] {
			align = append(align, tw.AlignLeft)
		} else {
			align = append(align, tw.AlignRight)
		}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    tw.CellPadding{Global: tw.Padding{Left: "", Right: strings.Repeat(" ", gap), Overwrite: true}},
	}
	var b strings.Builder
	none := tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off}
	lines := tw.Lines{ShowHeaderLine: tw.Off, ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off}
	out := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: none, Symbols: tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: lines}})),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell, Behavior: tw.Behavior{TrimSpace: tw.Off}}))
	out.Header(pick(t.head))
	for _, row := range t.rows {
		if err := out.Append(pick(row)); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := out.Render(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		if i == 0 {
			line = o.style(bold, line)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
