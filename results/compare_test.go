package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// compared returns two runs of the example, the second changed in every way that a comparison shows.
func compared(t testing.TB) (a, b *Run) {
	a, b = repeated(exampleRun(t), 6), repeated(exampleRun(t), 6)
	b.Header.Run, b.Header.Host, b.Header.Version = "second|run", "node-b", "v1.1.0"
	b.Header.Details = map[string]string{"driver": "590.10"}
	b.Header.Environment = json.RawMessage(`{"kernel":"6.18.0","cpu":{"model":"Example CPU","cores":2},"boot_id":"b2","load":{"load_1m":3}}`)
	b.Header.Settings.MaxSamples = 500
	const gpu = "GPU-22222222-0000-0000-0000-000000000002"
	b.Header.Devices[1].ID = gpu
	scale := func(m *Metric, f float64) {
		for i := range m.Samples {
			m.Samples[i] *= f
		}
	}
	for i := range b.Cases {
		c := &b.Cases[i]
		if c.Case.Backend == "cuda" {
			c.Case.Producer, c.Case.Consumer = gpu, gpu
			c.After.SMClockHz, c.Before.SMClockHz = ptr(int64(1200e6)), nil
		}
	}
	for r := range 6 {
		cases := b.Cases[6*r : 6*r+6]
		scale(&cases[0].Metrics[0], 1.5)  // export: slower
		scale(&cases[0].Metrics[1], 0.8)  // setup: faster
		scale(&cases[0].Metrics[2], 0.92) // about the threshold
		cases[0].Warnings = []Warning{{Code: "throttled", Text: "…"}}
		cases[1].Case.Receiver = share.ReceiverBlocked
		cases[2].Status, cases[2].Metrics = share.StatusOK, []Metric{{Name: "export", Unit: Nanoseconds, Samples: []float64{1, 2, 3}}}
		cases[3].Status, cases[3].Reason = share.StatusTimeout, "cuMemMap did not return"
	}
	corrupt := &b.Cases[6*2+4]
	corrupt.Status, corrupt.Reason, corrupt.Metrics = share.StatusCorrupt, "8 bytes differ | from <offset> 4096 on", nil
	b.Cases = slices.DeleteFunc(b.Cases, func(c CaseResult) bool { return c.Order == 5 })
	b.End = nil
	return a, b
}

// repeated gives the run each case in as many repeats, which differ by up to 2 %.
func repeated(run *Run, n int) *Run {
	once := run.Cases
	run.Cases, run.Header.Repeats = nil, n
	for r := range n {
		for i, c := range once {
			c.Repeat, c.Order = r, i
			c.Metrics = slices.Clone(c.Metrics)
			for k := range c.Metrics {
				m := &c.Metrics[k]
				m.Samples = slices.Clone(m.Samples)
				for j := range m.Samples {
					m.Samples[j] *= 1 + 0.01*float64((r*(k+2)+i)%5-2)
				}
			}
			run.Cases = append(run.Cases, c)
		}
	}
	return run
}

func TestComparisonText(t *testing.T) {
	a, b := compared(t)
	c, err := Compare([]*Run{a, b}, CompareOptions{Thresholds: map[string]float64{"kernel": 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		"compare.csv": c.WriteCSV, "compare.json": c.WriteJSON, "compare.md": c.WriteMarkdown,
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
		if err := write(failingWriter{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, ".csv") {
			if _, err := csv.NewReader(&out).ReadAll(); err != nil {
				t.Error(err)
			}
		}
	}
	if c.ExitStatus() != ExitRegression {
		t.Errorf("exit status %d", c.ExitStatus())
	}
	var order []string
	for _, x := range c.Cells {
		order = append(order, fmt.Sprintf("%s %s", x.Verdict, x.Metric))
	}
	if want := []string{"slower export", "faster setup", "inconclusive kernel/read", "equivalent export"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// runOf makes a run with GPUs of the given names, joined by class, and one case for each ordered pair.
func runOf(prefix string, names []string, class func(i, k int) string) *Run {
	run := &Run{Header: Header{Schema: 1, Run: prefix, Repeats: 1}}
	for i, n := range names {
		run.Header.Devices = append(run.Header.Devices, share.DeviceInfo{ID: fmt.Sprintf("GPU-%s-%d", prefix, i), Backend: "cuda", Index: i, Name: n})
	}
	for i := range names {
		for k := range names {
			c := exampleCase("cumemmap", "vmm", 1<<21)
			c.Backend, c.Producer, c.Consumer = "cuda", run.Header.Devices[i].ID, run.Header.Devices[k].ID
			run.Cases = append(run.Cases, CaseResult{Case: c, Status: share.StatusOK, Link: class(i, k), Metrics: []Metric{
				{Name: "map", Unit: Nanoseconds, Samples: samplesAbout(1000, 30, uint64(i*8+k))}}})
		}
	}
	return run
}

func TestMatching(t *testing.T) {
	nvlink := func(i, k int) string {
		if i == k {
			return "same"
		}
		return "NV18"
	}
	crossed := func(i, k int) string { // 0-1 over SYS, 0-2 over NV18
		if i == k {
			return "same"
		}
		if (i+k)%2 == 1 {
			return "SYS"
		}
		return "NV18"
	}
	h := []string{"H200", "H200", "H200"}
	a, again, b := runOf("a", h, nvlink), runOf("a", h, nvlink), runOf("b", h, nvlink)
	for _, test := range []struct {
		name             string
		base, other      *Run
		how              string
		cells, unmatched int
	}{
		{"same machine", a, again, MatchedByID, 9, 0},
		{"same kind of machine", a, b, MatchedByIndex, 9, 0},
		{"fewer devices", a, runOf("c", h[:1], nvlink), MatchedByLink, 1, 8},
		{"more devices", runOf("c", h[:2], nvlink), a, MatchedByLink, 4, 5},
		{"other devices", a, runOf("d", []string{"B200", "B200", "B200"}, nvlink), MatchedByLink, 9, 0},
		{"other links", a, runOf("e", h, crossed), MatchedByLink, 5, 8},
	} {
		c, err := Compare([]*Run{test.base, test.other}, CompareOptions{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if c.Runs[1].Matching != test.how || len(c.Cells) != test.cells || len(c.Unmatched) != test.unmatched {
			t.Errorf("%s: matched by %s, %d cells, %d unmatched; want %s, %d, %d", test.name, c.Runs[1].Matching, len(c.Cells), len(c.Unmatched),
				test.how, test.cells, test.unmatched)
		}
		for _, x := range c.Cells {
			if x.Link != x.OtherLink {
				t.Errorf("%s: a link %s is compared with %s", test.name, x.Link, x.OtherLink)
			}
		}
	}
}

func TestUnmatchedSaysWhy(t *testing.T) {
	a, b := compared(t)
	c, err := Compare([]*Run{a, b}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range c.Unmatched {
		got = append(got, fmt.Sprintf("%d not %d %s %s %s: %s", u.In, u.NotIn, u.Case.Path, share.FormatSize(u.Case.Size), u.Metric, u.Why))
	}
	want := []string{
		`1 not 0 memfd 1 MiB : there only with receiver "polling"`,
		`0 not 1 memfd 1 MiB : there only with receiver "blocked"`,
		"1 not 0 dma-buf 4 KiB export: 6 of 6 repeats not used: unsupported: open /dev/udmabuf: no such file or directory; load the module udmabuf",
		"0 not 1 dma-buf 4 KiB : corrupt here, timeout there; nothing was measured",
		"0 not 1 memfd 4 KiB : no such case there",
	}
	if !slices.Equal(got, want) {
		t.Errorf("unmatched\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCompareRefuses(t *testing.T) {
	a, b := exampleRun(t), exampleRun(t)
	b.Header.Emulated = "h200-580"
	_, err := Compare([]*Run{a, b}, CompareOptions{})
	if want := "emulated and real runs don't compare: example is real and example#2 is emulated (h200-580); --force compares them all the same"; !errors.Is(err, ErrEmulated) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if c, err := Compare([]*Run{a, b}, CompareOptions{Force: true}); err != nil || c.Differences[0].Key != "emulated" {
		t.Errorf("with force: %v", err)
	}
	_, err = Compare([]*Run{a, a}, CompareOptions{Thresholds: map[string]float64{"setup": 0.1, "first_touch": 0.1, "kernel": 0.1, "kernel/read": 0.1, "exprot": 0.1}})
	if want := `threshold of "exprot": no such metric; there are allocate, export, transfer, import, map, first_touch, unmap, release, setup, kernel, ` +
		"kernel/read, and steps of phases such as map/mmap"; !errors.Is(err, ErrUnknownMetric) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	b = exampleRun(t)
	for i := range b.Cases {
		b.Cases[i].Case.Path = "other"
	}
	if _, err = Compare([]*Run{a, b}, CompareOptions{}); !errors.Is(err, ErrNothingMatches) {
		t.Errorf("nothing in common: %v", err)
	}
	if _, err = Compare([]*Run{a}, CompareOptions{}); err == nil {
		t.Error("one run is compared with nothing")
	}
	for _, o := range []CompareOptions{{Threshold: -1}, {Threshold: math.NaN()}, {Thresholds: map[string]float64{"map": 11}}} {
		if _, err = Compare([]*Run{a, a}, o); err == nil {
			t.Errorf("threshold %v, %v is accepted", o.Threshold, o.Thresholds)
		}
	}
}

func TestThreshold(t *testing.T) {
	o := CompareOptions{Threshold: 0.05, Thresholds: map[string]float64{"map": 0.1, "map/cuMemMap": 0.2, "kernel": 0.3}}
	for metric, want := range map[string]float64{"map": 0.1, "map/cuMemMap": 0.2, "map/mmap": 0.1, "kernel/read": 0.3, "export": 0.05, "mapping": 0.05} {
		if got := o.threshold(metric); got != want {
			t.Errorf("threshold of %s is %v, want %v", metric, got, want)
		}
	}
}

func TestDirection(t *testing.T) {
	for unit, want := range map[string]stats.Verdict{Nanoseconds: stats.Slower, BytesPerSecond: stats.Faster} {
		random := rand.New(rand.NewPCG(3, 3))
		a, b := noisy("a", 4, 1, 1, 0, 0.01, random), noisy("b", 4, 1, 2, 0, 0.01, random)
		for i := range a.Cases {
			a.Cases[i].Metrics[0].Unit, b.Cases[i].Metrics[0].Unit = unit, unit
		}
		c, err := Compare([]*Run{a, b}, CompareOptions{})
		if err != nil || c.Cells[0].Verdict != want {
			t.Errorf("twice the %s is %v, %v; want %s", unit, c.Verdicts(), err, want)
		}
	}
}

func TestBadRepeatsAreLeftOut(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	a, b := noisy("a", 2, 1, 1, 0.01, 0.01, random), noisy("b", 2, 1, 1, 0.01, 0.01, random)
	b.Cases[1].Status, b.Cases[1].Reason = share.StatusCorrupt, "8 bytes differ"
	c, err := Compare([]*Run{a, b}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x := c.Cells[0]; x.RepeatsB != 1 || x.B.N != 40 || !slices.Equal(x.Notes, []string{"b: 1 of 2 repeats not used: corrupt: 8 bytes differ"}) {
		t.Errorf("%d repeats, %d samples, notes %q", x.RepeatsB, x.B.N, x.Notes)
	}
	a.Cases[0].Status, a.Cases[1].Status = share.StatusFailed, share.StatusFailed
	if _, err = Compare([]*Run{a, b}, CompareOptions{}); !errors.Is(err, ErrNothingMatches) || !strings.Contains(err.Error(), "2 of 2 repeats not used: failed") {
		t.Errorf("no good repeat: %v", err)
	}
}

func TestZeroSamplesHaveNoRatio(t *testing.T) {
	a, b := exampleRun(t), exampleRun(t)
	b.Cases[0].Metrics[0].Samples[3] = 0
	c, err := Compare([]*Run{a, b}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u := c.Unmatched; len(u) != 1 || u[0].Metric != "export" || u[0].Why != "a sample is 0, the clock is too coarse for a ratio" {
		t.Errorf("unmatched %+v", u)
	}
}

func TestNames(t *testing.T) {
	a := exampleRun(t)
	c, err := Compare([]*Run{a, a, a, a}, CompareOptions{Names: []string{"old", "new", "new"}})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, r := range c.Runs {
		labels = append(labels, r.Label)
	}
	if want := []string{"old", "new", "new#2", "example"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}

// TestDistinctions names what differs between cells of a way, and nothing else.
func TestDistinctions(t *testing.T) {
	run := runOf("a", []string{"H200", "H200"}, func(i, k int) string { return "NV18" })
	only := run.Cases[1]
	only.Case.Path, only.Case.Allocator = "staged", "pinned"
	live := run.Cases[0]
	live.Case.Live, live.Case.Consumer = 3, "cpu"
	run.Cases = append(run.Cases, only, live)
	c, err := Compare([]*Run{run, run}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := c.Distinctions()
	var got []string
	for i := range c.Cells {
		got = append(got, strings.Join(of(&c.Cells[i]), " "))
	}
	if got := c.PairName(share.Case{Producer: "cpu", Consumer: "GPU-a-1"}); got != "cpu→GPU 1" {
		t.Errorf("pair %s", got)
	}
	slices.Sort(got)
	if want := []string{"", "GPU 0→0 live 0", "GPU 0→1 live 0", "GPU 0→cpu live 3", "GPU 1→0 live 0", "GPU 1→1 live 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestThreeRuns(t *testing.T) {
	a, b := compared(t)
	c, err := Compare([]*Run{a, b, repeated(exampleRun(t), 6)}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[int]int{}
	for _, x := range c.Cells {
		n[x.Run]++
		if x.Run == 2 && x.Verdict == stats.Slower || x.Run == 2 && x.Test.Ratio != 1 {
			t.Errorf("the same run compared with itself: %+v", x)
		}
	}
	if n[1] != 4 || n[2] != 5 || len(c.Differences[0].Values) != 3 || c.Runs[2].Label != "example#2" {
		t.Errorf("cells %v, runs %+v", n, c.Runs)
	}
}

func TestFormat(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ got, want string }{
		{FormatQuantity(0, "ns"), "0.00 ns"}, {FormatQuantity(30, "ns"), "30.0 ns"}, {FormatQuantity(999.4, "ns"), "999 ns"},
		{FormatQuantity(999.6, "ns"), "1.00 µs"}, {FormatQuantity(12345, "ns"), "12.3 µs"}, {FormatQuantity(9.9951e6, "ns"), "10.0 ms"},
		{FormatQuantity(1e18, "ns"), "1000000000 s"}, {FormatQuantity(4.8e12, "B/s"), "4.80 TB/s"}, {FormatQuantity(1.5e3, "B/s"), "1.50 kB/s"},
		{FormatQuantity(nan, "ns"), "–"}, {FormatQuantity(0.00012, "ns"), "0.00012 ns"}, {FormatQuantity(-1500, "ns"), "-1.50 µs"},
		{FormatInterval(12345, stats.Interval{Low: 999, High: 13456, Level: 0.95}, "ns"), "12.3 µs [0.999, 13.5]"},
		{FormatInterval(12345, stats.Interval{Low: nan, High: nan}, "ns"), "12.3 µs"},
		{FormatRatio(1.0701, stats.Interval{Low: 1.05, High: 12.3}), "×1.070 [1.050, 12.3]"}, {FormatRatio(0.01234, stats.Interval{Low: nan, High: nan}), "×0.0123"},
		{FormatP(nan), "–"}, {FormatP(1), "1"}, {FormatP(0.0286), "0.029"}, {FormatP(1e-20), "<0.0001"},
		{md("a|b<script>*_`\n@me"), "a\\|b&lt;script&gt;\\*\\_\\` &#64;me"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
