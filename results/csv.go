package results

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Names of the CSV files in a run directory.
const (
	SummaryName = "summary.csv"
	SamplesName = "samples.csv"
)

// column is one column of a table of T: its name and how it is written.
type column[T any] struct {
	name string
	text func(*T) string
}

// SummaryColumns lists the columns of summary.csv in their order. New ones are only added at the end.
func SummaryColumns() []string { return columnNames(summaryColumns) }

func columnNames[T any](columns []column[T]) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

var summaryColumns = []column[Row]{
	{"run", func(r *Row) string { return cell(r.Run) }},
	{"host", func(r *Row) string { return cell(r.Host) }},
	{"backend", func(r *Row) string { return cell(r.Case.Backend) }},
	{"path", func(r *Row) string { return cell(r.Case.Path) }},
	{"allocator", func(r *Row) string { return cell(r.Case.Allocator) }},
	{"producer", func(r *Row) string { return cell(r.Case.Producer) }},
	{"consumer", func(r *Row) string { return cell(r.Case.Consumer) }},
	{"link", func(r *Row) string { return cell(r.Link) }},
	{"transport", func(r *Row) string { return cell(r.Case.Transport) }},
	{"receiver", func(r *Row) string { return cell(r.Case.Receiver) }},
	{"cache", func(r *Row) string { return cell(r.Case.Cache) }},
	{"size_bytes", func(r *Row) string { return strconv.FormatInt(r.Case.Size, 10) }},
	{"allocated_bytes", func(r *Row) string { return unlessZero(r.Allocated) }},
	{"status", func(r *Row) string { return cell(string(r.Status)) }},
	{"reason", func(r *Row) string { return cell(r.Reason) }},
	{"metric", func(r *Row) string { return cell(r.Metric) }},
	{"unit", func(r *Row) string { return cell(r.Unit) }},
	{"n", func(r *Row) string { return strconv.Itoa(r.Stats.N) }},
	{"median", func(r *Row) string { return decimal(r.Stats.Median) }},
	{"ci_low", func(r *Row) string { return decimal(r.Stats.CI.Low) }},
	{"ci_high", func(r *Row) string { return decimal(r.Stats.CI.High) }},
	{"ci_level", func(r *Row) string { return decimal(r.Stats.CI.Level) }},
	{"mean", func(r *Row) string { return decimal(r.Stats.Mean) }},
	{"stddev", func(r *Row) string { return decimal(r.Stats.StdDev) }},
	{"mad", func(r *Row) string { return decimal(r.Stats.MAD) }},
	{"min", func(r *Row) string { return decimal(r.Stats.Min) }},
	{"p5", func(r *Row) string { return decimal(r.Stats.P5) }},
	{"p95", func(r *Row) string { return decimal(r.Stats.P95) }},
	{"p99", func(r *Row) string { return decimal(r.Stats.P99) }},
	{"max", func(r *Row) string { return decimal(r.Stats.Max) }},
	{"first", func(r *Row) string { return optional(r.First) }},
	{"stop_reason", func(r *Row) string { return cell(string(r.StopReason)) }},
	{"warnings", func(r *Row) string { return cell(warningCodes(r.Warnings)) }},
	{"offset", func(r *Row) string { return strconv.FormatInt(r.Case.Offset, 10) }},
	{"live", func(r *Row) string { return strconv.Itoa(r.Case.Live) }},
	{"variant", func(r *Row) string { return cell(r.Case.Variant) }},
	{"repeats", func(r *Row) string { return strconv.Itoa(r.Repeats) }},
	{"emulated", func(r *Row) string { return cell(r.Emulated) }},
	{"peers", func(r *Row) string { return strconv.Itoa(r.Case.Peers) }},
	{"outliers", func(r *Row) string { return strconv.Itoa(r.Stats.Outliers) }},
}

// WriteSummary writes summary.csv: RFC 4180 with line feeds, a header line, one row per case and metric. Absent values
// are empty, numbers are plain decimals.
func WriteSummary(w io.Writer, run *Run) error { return WriteRows(w, Summaries(run)) }

// WriteRows writes rows that were already computed, possibly those of several runs, as [WriteSummary] does.
func WriteRows(w io.Writer, rows []Row) error { return writeTable(w, summaryColumns, rows) }

func writeTable[T any](w io.Writer, columns []column[T], rows []T) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(columnNames(columns)); err != nil {
		return err
	}
	record := make([]string, len(columns))
	for i := range rows {
		for k, c := range columns {
			record[k] = c.text(&rows[i])
		}
		if err := cw.Write(record); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// sampleColumns are the columns of samples.csv. Those of the same name as in summary.csv hold the same.
var (
	samplesBefore = []string{"run", "host", "backend", "path", "allocator", "producer", "consumer", "link", "transport", "receiver",
		"cache", "size_bytes", "allocated_bytes", "repeat", "metric", "unit"}
	samplesAfter = []string{"offset", "live", "variant", "emulated", "peers"}
)

// SamplesColumns lists the columns of samples.csv in their order. New ones are only added at the end.
func SamplesColumns() []string {
	return slices.Concat(samplesBefore, []string{"index", "value"}, samplesAfter)
}

// WriteSamples writes samples.csv: one row per sample, in time order with index from 0. First cycles, which are no
// samples of the steady state, are not in it.
func WriteSamples(w io.Writer, run *Run) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	bw.WriteString(strings.Join(SamplesColumns(), ",") + "\n")
	summary := make(map[string]func(*Row) string)
	for _, c := range summaryColumns {
		summary[c.name] = c.text
	}
	var number []byte
	for i := range run.Cases {
		c := &run.Cases[i]
		summary["repeat"] = func(*Row) string { return strconv.Itoa(c.Repeat) }
		for _, m := range c.Metrics {
			row := Row{Run: run.Header.Run, Host: run.Header.Host, Emulated: run.Header.Emulated, Case: c.Case, Link: c.Link,
				Allocated: c.Allocated, Metric: m.Name, Unit: m.Unit}
			before, after := partOfLine(samplesBefore, summary, &row), partOfLine(samplesAfter, summary, &row)
			for index, v := range m.Samples {
				bw.Write(before)
				number = append(strconv.AppendInt(append(number[:0], ','), int64(index), 10), ',')
				bw.Write(append(strconv.AppendFloat(number, v, 'f', -1, 64), ','))
				bw.Write(after)
				bw.WriteByte('\n')
			}
		}
	}
	return bw.Flush() // bufio keeps the first error
}

// partOfLine encodes some columns of a row, without the line's end.
func partOfLine(names []string, texts map[string]func(*Row) string, row *Row) []byte {
	var record []string
	for _, name := range names {
		record = append(record, texts[name](row))
	}
	var b bytes.Buffer
	cw := csv.NewWriter(&b)
	if err := cw.Write(record); err != nil {
		panic(fmt.Sprintf("results: writing to memory: %v", err)) // only a bad delimiter could
	}
	cw.Flush()
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decimal writes a finite number without exponent, and NaN, "not estimable", as the empty cell.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func warningCodes(ws []Warning) string {
	var codes []string
	for _, w := range ws {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	return strings.Join(codes, ";")
}

// isFormula reports whether a spreadsheet would take the text for a formula, or for a text that was marked as none.
func isFormula(s string) bool {
	s = strings.TrimLeft(s, "' ")
	return s != "" && strings.ContainsAny(s[:1], "=+-@") || strings.HasPrefix(s, "＝") || strings.HasPrefix(s, "＋") ||
		strings.HasPrefix(s, "－") || strings.HasPrefix(s, "＠")
}

// plain makes any text a piece of a line: control characters become spaces, what is no UTF-8 becomes U+FFFD.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cell makes any text safe for CSV: plain, and what a spreadsheet would run as a formula gets an apostrophe before it, as
// spreadsheets themselves write it.
func cell(s string) string {
	s = plain(s)
	if isFormula(s) {
		return "'" + s
	}
	return s
}

// uncell takes cell's apostrophe away.
func uncell(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && isFormula(rest) {
		return rest
	}
	return s
}
