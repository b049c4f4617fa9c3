package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

func exampleRun(t testing.TB) *Run { return readBytes(t, exampleJournal(t)) }

func TestSummaryText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSummary(&b, exampleRun(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.csv", b.Bytes())
	const columns = "run,host,backend,path,allocator,producer,consumer,link,transport,receiver,cache,size_bytes,allocated_bytes,status,reason," +
		"metric,unit,n,median,ci_low,ci_high,ci_level,mean,stddev,mad,min,p5,p95,p99,max,first,stop_reason,warnings,"
	if !strings.HasPrefix(b.String(), columns) {
		t.Errorf("columns are %s", strings.SplitN(b.String(), "\n", 2)[0])
	}
}

func TestSamplesText(t *testing.T) {
	run := exampleRun(t)
	for i := range run.Cases {
		for k, m := range run.Cases[i].Metrics {
			run.Cases[i].Metrics[k].Samples = m.Samples[:3]
		}
	}
	var b bytes.Buffer
	if err := WriteSamples(&b, run); err != nil {
		t.Fatal(err)
	}
	golden(t, "samples.csv", b.Bytes())
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(records) != 1+5*3 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if v, _ := strconv.ParseFloat(records[2][17], 64); v != run.Cases[0].Metrics[0].Samples[1] || records[2][16] != "1" {
		t.Errorf("second sample is %q", records[2])
	}
}

// TestNumbersArePlain reads every cell of a number column as a reader without options would.
func TestNumbersArePlain(t *testing.T) {
	run := exampleRun(t)
	run.Cases[0].Metrics[0].Samples = append(run.Cases[0].Metrics[0].Samples, 1e18, 1e-9, 3e17)
	var b bytes.Buffer
	if err := WriteSummary(&b, run); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	numeric := map[string]bool{"size_bytes": true, "allocated_bytes": true, "offset": true, "live": true, "repeats": true, "n": true,
		"median": true, "ci_low": true, "ci_high": true, "ci_level": true, "mean": true, "stddev": true, "mad": true, "min": true,
		"p5": true, "p95": true, "p99": true, "max": true, "first": true}
	for _, record := range records[1:] {
		for i, text := range record {
			if numeric[records[0][i]] && strings.Trim(text, "0123456789.") != "" {
				t.Errorf("%s is %q", records[0][i], text)
			}
		}
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "memfd": "memfd", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "' =1", "\r\n=1": "'  =1",
		"a\nb": "a b", "a\x00\x1b[31mb": "a  [31mb", "\xff": "\uFFFD", "'=x": "''=x", "'x": "'x", "＝1": "'＝1", "a\u2028b": "a b", "\u0085": " ",
	} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %q, want %q", in, got, want)
		}
	}
	for _, s := range []string{"=1", "'=1", "''=1", "'", "''", "x", "-"} {
		if got := uncell(cell(s)); got != s {
			t.Errorf("uncell(cell(%q)) = %q", s, got)
		}
	}
}

// equalRows compares rows with NaN equal to NaN.
func equalRows(a, b []Row) bool {
	var x, y bytes.Buffer
	return WriteRows(&x, a) == nil && WriteRows(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func TestReadSummary(t *testing.T) {
	rows := Summaries(exampleRun(t))
	var b bytes.Buffer
	if err := WriteRows(&b, rows); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSummary(&b, "summary.csv")
	if err != nil || !equalRows(got, rows) {
		t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, rows)
	}
	if !reflect.DeepEqual(got[0].Case, rows[0].Case) || got[0].Stats.Median != rows[0].Stats.Median || *got[0].First != *rows[0].First ||
		got[3].Warnings[0].Code != "few-samples" || got[0].Stats.N != 40 || !math.IsNaN(got[0].Stats.P99) {
		t.Errorf("got %+v", got[0])
	}
}

func TestReadSummaryErrors(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSummary(&b, exampleRun(t)); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	replace := func(from, to string) string {
		if !strings.Contains(whole, from) {
			t.Fatalf("%q is not in the file", from)
		}
		return strings.Replace(whole, from, to, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "s.csv: not a summary.csv: EOF"},
		"other":     {"a,b\n1,2\n", `s.csv: not a summary.csv: column "run" is missing`},
		"twice":     {strings.Replace(whole, "run,host", "run,run", 1), `s.csv: not a summary.csv: column "run" occurs twice`},
		"status":    {replace(",ok,", ",fine,"), `s.csv:2: column status: unknown status "fine"`},
		"size":      {replace(",4096,4096,", ",-4096,4096,"), `s.csv:2: column size_bytes: "-4096" is no whole number from 1 to 1125899906842624`},
		"no size":   {replace(",4096,4096,", ",,4096,"), `s.csv:2: column size_bytes: empty`},
		"number":    {replace(",5000,", ",NaN,"), `s.csv:2: column first: "NaN" is no finite number from 0 to 1e+18`},
		"unit":      {replace(",ns,", ",s,"), `s.csv:2: column unit: unknown unit "s"`},
		"few cells": {whole + "a,b\n", "read s.csv: record on line 10: wrong number of fields"},
	} {
		if _, err := ReadSummary(strings.NewReader(c.text), "s.csv"); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestRepeatsArePooled(t *testing.T) {
	h := exampleHeader()
	h.Repeats = 4
	var cases []CaseResult
	for r, base := range []float64{1000, 1100, 1200, 1300} {
		cases = append(cases, CaseResult{Case: exampleCase("memfd", "memfd", 4096), Repeat: r, Status: share.StatusOK, Metrics: []Metric{
			{Name: "map", Unit: Nanoseconds, Samples: []float64{base, base, base}, First: ptr(base * 2), StopReason: stats.StopPrecision}}})
	}
	cases[2].Status, cases[2].Reason = share.StatusTimeout, "hung"
	cases[3].Metrics[0].StopReason = stats.StopMaxTime
	rows := Summaries(&Run{Header: h, Cases: []CaseResult{cases[3], cases[1], cases[0], cases[2]}})
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	r := rows[0]
	// The medians' standard deviation is 129.0994, Student's quantile for 3 degrees of freedom 3.182446 (R: sd(c(1000,
	// 1100,1200,1300)), qt(0.975, 3)), so the half-width is 3.182446·129.0994/2 = 205.426.
	if r.Status != share.StatusTimeout || r.Reason != "hung" || r.Repeats != 4 || r.Stats.N != 12 || r.Stats.Median != 1150 ||
		math.Abs(r.Stats.CI.Low-944.574) > 0.001 || math.Abs(r.Stats.CI.High-1355.426) > 0.001 || r.Stats.CI.Level != 0.95 ||
		*r.First != 2300 || r.StopReason != "precision;max-time" || !reflect.DeepEqual(r.Processes, []float64{1000, 1100, 1200, 1300}) {
		t.Errorf("row %+v", r)
	}
	rows = Summaries(&Run{Header: h, Cases: cases[:3]})
	pooled, _ := stats.Summarize([]float64{1000, 1000, 1000, 1100, 1100, 1100, 1200, 1200, 1200})
	if got := rows[0].Stats.CI; got.Estimable() != pooled.CI.Estimable() || got.Estimable() && got != pooled.CI {
		t.Errorf("three repeats: %+v, want %+v", got, pooled.CI)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWritersReportErrors(t *testing.T) {
	run := exampleRun(t)
	for name, write := range map[string]func(io.Writer, *Run) error{"summary": WriteSummary, "samples": WriteSamples} {
		if err := write(failingWriter{}, run); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadSummary(f *testing.F) {
	var b bytes.Buffer
	if err := WriteSummary(&b, exampleRun(f)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(strings.Join(strings.SplitAfter(b.String(), "\n")[:3], ""))
	f.Fuzz(func(t *testing.T, s string) {
		rows, err := ReadSummary(strings.NewReader(s), "fuzz.csv")
		if err != nil {
			return
		}
		var once bytes.Buffer
		if err := WriteRows(&once, rows); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSummary(bytes.NewReader(once.Bytes()), "again.csv")
		if err != nil || !equalRows(rows, again) {
			t.Fatalf("what was read is written differently: %v", err)
		}
	})
}
