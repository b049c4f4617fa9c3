package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// ErrNoSummary is matched when a file's first line lacks columns of summary.csv.
var ErrNoSummary = errors.New("not a summary.csv")

// ReadSummary reads what [WriteSummary] wrote; name is for messages. Columns are found by their names, those that it does
// not know are ignored, and those after "warnings" may be missing. What summary.csv does not have is not in the rows
// either: warnings have codes only, and the summaries' Lag1, EffectiveN and Tick are NaN. A row that can't be read fails
// the whole with a [*SyntaxError].
func ReadSummary(r io.Reader, name string) ([]Row, error) {
	cr := csv.NewReader(r)
	cr.ReuseRecord = true
	head, err := cr.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrNoSummary, err)
	}
	at := make(map[string]int)
	for i, h := range head {
		if _, twice := at[h]; twice {
			return nil, fmt.Errorf("%s: %w: column %q occurs twice", name, ErrNoSummary, h)
		}
		at[h] = i
	}
	needed := SummaryColumns()
	for _, n := range needed[:1+slices.Index(needed, "warnings")] {
		if _, ok := at[n]; !ok {
			return nil, fmt.Errorf("%s: %w: column %q is missing", name, ErrNoSummary, n)
		}
	}
	var rows []Row
	for {
		record, err := cr.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		p := &cells{record: record, at: at}
		row := p.row()
		if p.err != nil {
			line, _ := cr.FieldPos(0)
			return nil, &SyntaxError{name, line, p.err.Error()}
		}
		rows = append(rows, row)
	}
}

// cells reads the cells of one record and keeps the first error.
type cells struct {
	record []string
	at     map[string]int
	err    error
}

func (p *cells) raw(column string) string {
	i, ok := p.at[column]
	if !ok {
		return ""
	}
	return p.record[i]
}

// text returns a cell as it was before it was made safe for spreadsheets.
func (p *cells) text(column string) string { return strings.Clone(uncell(p.raw(column))) }

func (p *cells) fail(column string, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("column %s: %w", column, err)
	}
}

// integer reads a whole number from low to high; an empty cell is 0.
func (p *cells) integer(column string, low, high int64) int64 {
	s := p.raw(column)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < low || v > high {
		p.fail(column, fmt.Errorf("%q is no whole number from %d to %d", s, low, high))
	}
	return v
}

// number reads a finite number from 0 to maxValue; an empty cell is NaN.
func (p *cells) number(column string) float64 {
	s := p.raw(column)
	if s == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil {
		err = checkValue(v)
	}
	if err != nil {
		p.fail(column, fmt.Errorf("%q is no finite number from 0 to %g", s, float64(maxValue)))
	}
	return v
}

func (p *cells) row() Row {
	nan := math.NaN()
	row := Row{
		Run: p.text("run"), Host: p.text("host"), Emulated: p.text("emulated"),
		Case: share.Case{
			Backend: p.text("backend"), Path: p.text("path"), Allocator: p.text("allocator"),
			Producer: p.text("producer"), Consumer: p.text("consumer"), Transport: p.text("transport"),
			Receiver: p.text("receiver"), Cache: p.text("cache"),
			Size: p.integer("size_bytes", 1, share.MaxSize), Offset: p.integer("offset", 0, share.MaxSize),
			Live: int(p.integer("live", 0, maxCount)), Variant: p.text("variant"),
			Peers: int(p.integer("peers", 0, maxCount)),
		},
		Link: p.text("link"), Allocated: p.integer("allocated_bytes", 0, 4*share.MaxSize),
		Status: share.Status(p.text("status")), Reason: p.text("reason"),
		Metric: p.text("metric"), Unit: p.text("unit"),
		Stats: stats.Summary{
			N: int(p.integer("n", 0, math.MaxInt)), Median: p.number("median"),
			CI:   stats.Interval{Low: p.number("ci_low"), High: p.number("ci_high"), Level: p.number("ci_level")},
			Mean: p.number("mean"), StdDev: p.number("stddev"), MAD: p.number("mad"), Min: p.number("min"),
			P5: p.number("p5"), P95: p.number("p95"), P99: p.number("p99"), Max: p.number("max"),
			Outliers: int(p.integer("outliers", 0, math.MaxInt)), Lag1: nan, EffectiveN: nan, Tick: nan,
		},
		Repeats: int(p.integer("repeats", 0, maxCount)), StopReason: stats.StopReason(p.text("stop_reason")),
	}
	if v := p.number("first"); !math.IsNaN(v) {
		row.First = &v
	}
	if s := p.text("warnings"); s != "" {
		for code := range strings.SplitSeq(s, ";") {
			row.Warnings = append(row.Warnings, Warning{Code: code})
		}
	}
	if !row.Status.Valid() {
		p.fail("status", fmt.Errorf("unknown status %q", row.Status))
	}
	if row.Case.Size == 0 {
		p.fail("size_bytes", errors.New("empty"))
	}
	if row.Metric != "" && !knownUnit(row.Unit) {
		p.fail("unit", fmt.Errorf("unknown unit %q", row.Unit))
	}
	return row
}
