package results

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// numericSummary are the columns of summary.csv that hold a number or nothing.
var numericSummary = []string{"size_bytes", "allocated_bytes", "n", "median", "ci_low", "ci_high", "ci_level", "mean", "stddev", "mad",
	"min", "p5", "p95", "p99", "max", "first", "offset", "live", "repeats"}

// An independent reader, Python's csv module, finds the same columns and numbers in summary.csv as Go's does.
func TestSummaryReadsElsewhere(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: summary.csv was not read by an independent reader")
	}
	run := exampleRun(t)
	var buf bytes.Buffer
	if err := WriteSummary(&buf, run); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(bytes.NewReader(buf.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, len(numericSummary))
	for i, name := range numericSummary {
		c := slices.Index(records[0], name)
		if c < 0 {
			t.Fatalf("no column %q", name)
		}
		for _, rec := range records[1:] {
			if rec[c] == "" {
				continue
			}
			v, err := strconv.ParseFloat(rec[c], 64)
			if err != nil {
				t.Fatalf("column %s: %v", name, err)
			}
			want[i] += v
		}
	}
	path := filepath.Join(t.TempDir(), "summary.csv")
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	const script = `import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(len(rows), len(rows[0]))
for name in sys.argv[2:]:
    print(repr(sum(float(r[name]) for r in rows if r[name] != "")))`
	out, err := exec.Command(python, append([]string{"-c", script, path}, numericSummary...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
	lines := strings.Fields(string(out))
	if lines[0] != strconv.Itoa(len(records)-1) || lines[1] != strconv.Itoa(len(records[0])) {
		t.Fatalf("python3 read %s rows of %s columns, Go %d of %d", lines[0], lines[1], len(records)-1, len(records[0]))
	}
	for i, name := range numericSummary {
		got, err := strconv.ParseFloat(lines[2+i], 64)
		if err != nil || got != want[i] {
			t.Errorf("column %s adds up to %s in Python, to %v in Go", name, lines[2+i], want[i])
		}
	}
}
