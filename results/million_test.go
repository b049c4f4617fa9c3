package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// millionJournal has 1,000,000 samples: as many metrics as asked for, in cases of eight or of one.
func millionJournal(t testing.TB, metrics int, seed uint64) []byte {
	names := []string{"export", "transfer", "import", "map", "first_touch", "unmap", "setup", "kernel/read"}
	if metrics < len(names) {
		names = names[:1]
	}
	var cases []CaseResult
	for i := range metrics / len(names) {
		c := CaseResult{Case: exampleCase("memfd", "memfd", int64(i+1)*4096), Status: "ok", Order: i, Link: "cpu"}
		for k, name := range names {
			m := Metric{Name: name, Unit: Nanoseconds, Samples: samplesAbout(float64(1000*(k+1)), 1000000/metrics, seed+uint64(i*8+k))}
			for n, v := range m.Samples {
				m.Samples[n] = math.Round(v)
			}
			if name == "kernel/read" {
				m.Unit, m.Samples = BytesPerSecond, samplesAbout(1e10, 1000000/metrics, seed+uint64(i))
			}
			c.Metrics = append(c.Metrics, m)
		}
		cases = append(cases, c)
	}
	return journalBytes(t, exampleHeader(), cases, nil)
}

func BenchmarkReadMillion(b *testing.B) {
	journal := millionJournal(b, 1000, 1)
	b.SetBytes(int64(len(journal)))
	b.ReportAllocs()
	for b.Loop() {
		readBytes(b, journal)
	}
}

func BenchmarkWriteMillion(b *testing.B) {
	run := readBytes(b, millionJournal(b, 1000, 1))
	for name, write := range map[string]func(io.Writer, *Run) error{"summary": WriteSummary, "samples": WriteSamples, "benchfmt": WriteBenchfmt} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(io.Discard, run); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// compareFiles is what the process that BenchmarkCompareMillion measures does.
const compareFiles = "GPUSHARE_TEST_COMPARE"

func TestMain(m *testing.M) {
	if files := os.Getenv(compareFiles); files != "" {
		err := compareTo(io.Discard, filepath.SplitList(files))
		status, readErr := os.ReadFile("/proc/self/status")
		if err := errors.Join(err, readErr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Stdout.Write(status)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func compareTo(w io.Writer, files []string) error {
	var runs []*Run
	for _, f := range files {
		run, err := Load(f)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	c, err := Compare(runs, CompareOptions{})
	if err != nil {
		return err
	}
	return c.WriteCSV(w)
}

// BenchmarkCompareMillion compares two runs of 1,000,000 samples each in a process of its own, from their journals to the
// CSV, and has benchstat compare the same samples. It reports seconds, peak memory, and our time over
// benchstat's: on a busy machine the ratio of processor times is the one to look at.
func BenchmarkCompareMillion(b *testing.B) {
	benchstat, err := exec.Command("go", "tool", "-n", "benchstat").Output()
	if err != nil {
		b.Fatalf("go tool -n benchstat: %v", err)
	}
	for _, metrics := range []int{1000, 1} {
		// The name is a part of the files' paths, in which benchstat takes "=" for a label.
		b.Run(fmt.Sprintf("metrics-%d", metrics), func(b *testing.B) {
			dir := b.TempDir()
			var journals, texts []string
			for i, name := range []string{"a", "b"} {
				journal := millionJournal(b, metrics, uint64(i)*1e6)
				var text bytes.Buffer
				if err := WriteBenchfmt(&text, readBytes(b, journal)); err != nil {
					b.Fatal(err)
				}
				journals = append(journals, filepath.Join(dir, name+".jsonl"))
				texts = append(texts, filepath.Join(dir, name+".txt"))
				if err := os.WriteFile(journals[i], journal, 0o644); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(texts[i], text.Bytes(), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			var ours, theirs, ourCPU, theirCPU time.Duration
			peak := 0 // KiB
			for b.Loop() {
				self := exec.Command(os.Args[0])
				self.Env = append(os.Environ(), compareFiles+"="+strings.Join(journals, string(os.PathListSeparator)))
				t, cpu, out := measure(b, self, `VmHWM:\s+(\d+) kB`)
				kib, _ := strconv.Atoi(out)
				ours, ourCPU, peak = ours+t, ourCPU+cpu, max(peak, kib)
				t, cpu, _ = measure(b, exec.Command(strings.TrimSpace(string(benchstat)), texts...), `n=(\d+)`)
				theirs, theirCPU = theirs+t, theirCPU+cpu
			}
			b.ReportMetric(ours.Seconds()/float64(b.N), "s/compare")
			b.ReportMetric(theirs.Seconds()/float64(b.N), "s/benchstat")
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
			b.ReportMetric(ourCPU.Seconds()/theirCPU.Seconds(), "cpu-ratio")
			b.ReportMetric(float64(peak)*1024/1e6, "peak-MB")
		})
	}
}

// measure runs a command and returns its wall time, its processor time and what its output must have: benchstat exits with 0 on an error.
func measure(b *testing.B, cmd *exec.Cmd, wanted string) (wall, cpu time.Duration, match string) {
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	found := regexp.MustCompile(wanted).FindSubmatch(out)
	if err != nil || found == nil {
		b.Fatalf("%s: %v\n%s", cmd.Path, err, out)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), string(found[1])
}
