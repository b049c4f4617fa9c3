package results

import (
	"io"
	"math"
	"slices"
	"strconv"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Names of the files with the fits in a run directory.
const (
	FitsName       = "fits.csv"
	BreakEvensName = "breakeven.csv"
)

// keyColumns are the columns that name a run and a case.
func keyColumns[T any](key func(*T) (run, host, emulated string, c share.Case, link string)) []column[T] {
	text := func(pick func(run, host, emulated string, c share.Case, link string) string) func(*T) string {
		return func(t *T) string { return cell(pick(key(t))) }
	}
	return []column[T]{
		{"run", text(func(run, _, _ string, _ share.Case, _ string) string { return run })},
		{"host", text(func(_, host, _ string, _ share.Case, _ string) string { return host })},
		{"emulated", text(func(_, _, emulated string, _ share.Case, _ string) string { return emulated })},
		{"backend", text(func(_, _, _ string, c share.Case, _ string) string { return c.Backend })},
		{"path", text(func(_, _, _ string, c share.Case, _ string) string { return c.Path })},
		{"allocator", text(func(_, _, _ string, c share.Case, _ string) string { return c.Allocator })},
		{"producer", text(func(_, _, _ string, c share.Case, _ string) string { return c.Producer })},
		{"consumer", text(func(_, _, _ string, c share.Case, _ string) string { return c.Consumer })},
		{"link", text(func(_, _, _ string, _ share.Case, link string) string { return link })},
		{"transport", text(func(_, _, _ string, c share.Case, _ string) string { return c.Transport })},
		{"receiver", text(func(_, _, _ string, c share.Case, _ string) string { return c.Receiver })},
		{"cache", text(func(_, _, _ string, c share.Case, _ string) string { return c.Cache })},
		{"offset", text(func(_, _, _ string, c share.Case, _ string) string { return strconv.FormatInt(c.Offset, 10) })},
		{"live", text(func(_, _, _ string, c share.Case, _ string) string { return strconv.Itoa(c.Live) })},
		{"variant", text(func(_, _, _ string, c share.Case, _ string) string { return c.Variant })},
	}
}

// orInf writes a number that may be infinite.
func orInf(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return decimal(v)
}

// fitted writes a number of the fitted line, nothing where there is no line.
func fitted(pick func(*stats.Line) float64) func(*Fit) string {
	return func(f *Fit) string {
		if f.Why != "" {
			return ""
		}
		return orInf(pick(&f.Line))
	}
}

// even writes a number of the break-even, nothing where there is none.
func even(pick func(*stats.BreakEven) float64) func(*Fit) string {
	return func(f *Fit) string {
		if f.Against == "" {
			return ""
		}
		return orInf(pick(&f.Even))
	}
}

var fitColumns = slices.Concat(
	keyColumns(func(f *Fit) (string, string, string, share.Case, string) {
		return f.Run, f.Host, f.Emulated, f.Series, f.Link
	}),
	[]column[Fit]{
		{"metric", func(f *Fit) string { return f.Metric }},
		{"sizes", func(f *Fit) string { return strconv.Itoa(f.Sizes) }},
		{"low_bytes", func(f *Fit) string { return strconv.FormatInt(f.Low, 10) }},
		{"high_bytes", func(f *Fit) string { return strconv.FormatInt(f.High, 10) }},
		{"first_byte_ns", func(f *Fit) string { return decimal(f.FirstByte.Median) }},
		{"first_byte_ci_low", func(f *Fit) string { return decimal(f.FirstByte.CI.Low) }},
		{"first_byte_ci_high", func(f *Fit) string { return decimal(f.FirstByte.CI.High) }},
		{"latency_ns", fitted(func(l *stats.Line) float64 { return l.Latency })},
		{"latency_ci_low", fitted(func(l *stats.Line) float64 { return l.LatencyCI.Low })},
		{"latency_ci_high", fitted(func(l *stats.Line) float64 { return l.LatencyCI.High })},
		{"bandwidth", fitted(func(l *stats.Line) float64 { return l.Bandwidth * 1e9 })},
		{"bandwidth_ci_low", fitted(func(l *stats.Line) float64 { return l.BandwidthCI.Low * 1e9 })},
		{"bandwidth_ci_high", fitted(func(l *stats.Line) float64 { return l.BandwidthCI.High * 1e9 })},
		{"half_bytes", fitted(func(l *stats.Line) float64 { return l.HalfBytes })},
		{"half_bytes_ci_low", fitted(func(l *stats.Line) float64 { return l.HalfBytesCI.Low })},
		{"half_bytes_ci_high", fitted(func(l *stats.Line) float64 { return l.HalfBytesCI.High })},
		{"misfit", fitted(func(l *stats.Line) float64 { return l.Misfit })},
		{"no_fit", func(f *Fit) string { return cell(f.Why) }},
		{"against", func(f *Fit) string { return f.Against }},
		{"even_bytes", even(func(b *stats.BreakEven) float64 { return b.At })},
		{"even_bytes_ci_low", even(func(b *stats.BreakEven) float64 { return b.CI.Low })},
		{"even_bytes_ci_high", even(func(b *stats.BreakEven) float64 { return b.CI.High })},
		{"peers", func(f *Fit) string { return strconv.Itoa(f.Series.Peers) }},
	})

// WriteFits writes fits.csv, one row per fit, as summary.csv is written. "inf" is never (a break-even) or no limit (a
// bandwidth).
func WriteFits(w io.Writer, fits []Fit) error { return writeTable(w, fitColumns, fits) }

var breakEvenColumns = slices.Concat(
	keyColumns(func(b *BreakEven) (string, string, string, share.Case, string) {
		return b.Run, b.Host, b.Emulated, b.Case, b.Link
	}),
	[]column[BreakEven]{
		{"size_bytes", func(b *BreakEven) string { return strconv.FormatInt(b.Case.Size, 10) }},
		{"against", func(b *BreakEven) string { return b.Against }},
		{"once_ns", func(b *BreakEven) string { return decimal(b.Once) }},
		{"use_ns", func(b *BreakEven) string { return decimal(b.Use) }},
		{"other_use_ns", func(b *BreakEven) string { return decimal(b.OtherUse) }},
		{"reads", func(b *BreakEven) string { return strconv.FormatBool(b.Reads) }},
		{"uses", func(b *BreakEven) string { return b.number(b.Uses.At) }},
		{"uses_ci_low", func(b *BreakEven) string { return b.number(b.Uses.CI.Low) }},
		{"uses_ci_high", func(b *BreakEven) string { return b.number(b.Uses.CI.High) }},
		{"no_break_even", func(b *BreakEven) string { return cell(b.Why) }},
		{"peers", func(b *BreakEven) string { return strconv.Itoa(b.Case.Peers) }},
	})

func (b *BreakEven) number(v float64) string {
	if b.Why != "" {
		return ""
	}
	return orInf(v)
}

// WriteBreakEvens writes breakeven.csv, one row per case, as summary.csv is written. "inf" is never.
func WriteBreakEvens(w io.Writer, rows []BreakEven) error {
	return writeTable(w, breakEvenColumns, rows)
}
