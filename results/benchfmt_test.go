package results

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/perf/benchfmt"
)

func TestBenchfmtText(t *testing.T) {
	run := exampleRun(t)
	for i := range run.Cases {
		for k, m := range run.Cases[i].Metrics {
			run.Cases[i].Metrics[k].Samples = m.Samples[:3]
		}
	}
	run.Cases[1].Case.Offset, run.Cases[1].Case.Live, run.Cases[1].Case.Peers, run.Cases[1].Case.Variant = 512, 3, 2, "isolate pid/ipc"
	run.Header.Emulated = "h200-580"
	var b bytes.Buffer
	if err := WriteBenchfmt(&b, run); err != nil {
		t.Fatal(err)
	}
	golden(t, "benchfmt.txt", b.Bytes())
	n := 0
	r := benchfmt.NewReader(&b, "benchfmt.txt")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			n++
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if r.Err() != nil || n != 5*3 {
		t.Errorf("%d results, %v", n, r.Err())
	}
}

// TestBenchstat has the real benchstat read two runs and compare them.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat, which takes a while the first time; not in -short")
	}
	dir := t.TempDir()
	for name, base := range map[string]float64{"old.txt": 1000, "new.txt": 1500} {
		run := exampleRun(t)
		run.Header.Host = name // must not keep the two apart
		m := &run.Cases[0].Metrics[0]
		m.Samples = nil
		for i := range 11 {
			m.Samples = append(m.Samples, base+float64(i-5)) // median base
		}
		var b bytes.Buffer
		if err := WriteBenchfmt(&b, run); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "tool", "benchstat", "-format", "csv", "-filter", "/metric:export /size:4096",
		filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")).CombinedOutput()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, out)
	}
	row := regexp.MustCompile(`(?m)^Share/path=memfd/alloc=memfd/pair=cpu:cpu/transport=scm-rights/receiver=polling/cache=cold/size=4096/metric=export,` +
		`([^,]*),0%,([^,]*),0%,\+50.00%,p=0.000 n=11$`).FindStringSubmatch(string(out))
	if row == nil {
		t.Fatalf("benchstat said\n%s", out)
	}
	for i, want := range []float64{1000e-9, 1500e-9} {
		if got, err := strconv.ParseFloat(row[1+i], 64); err != nil || math.Abs(got-want) > 1e-18 {
			t.Errorf("benchstat's median is %s s, want %g s", row[1+i], want)
		}
	}
}
