package report

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// comparison compares two made-up runs of which the second is slower here and faster there.
func comparison(t testing.TB, emulated string) *results.Comparison {
	t.Helper()
	a, b := resultstest.Repeat(resultstest.GPURun(1, emulated, resultstest.Powers(2<<20, 16, 3)...), 8), resultstest.Repeat(resultstest.GPURun(1, emulated, resultstest.Powers(2<<20, 16, 3)...), 8)
	b.Header.Run, b.Header.Host = "synthetic-b", "made-up-2"
	b.Header.Settings.MaxSamples = 500
	b.Header.Details = map[string]string{"driver": "999.1"}
	last := b.Cases[len(b.Cases)-1].Case
	b.Cases = slices.DeleteFunc(b.Cases, func(c results.CaseResult) bool { return c.Case == last })
	n := len(b.Cases) / 8
	b.Cases[n+1].Status, b.Cases[n+1].Reason = share.StatusCorrupt, "8 bytes of 2097152 differ"
	for r := range 8 {
		b.Cases[r*n+8].Status, b.Cases[r*n+8].Reason, b.Cases[r*n+8].Metrics = share.StatusUnsupported, "cuMemCreate: CUDA_ERROR_NOT_SUPPORTED", nil
	}
	for i := range b.Cases {
		for k, m := range b.Cases[i].Metrics {
			f := 1 + 0.07*float64((i%n+3*k)%7-3)
			for j := range m.Samples {
				m.Samples[j] *= f
			}
		}
	}
	c, err := results.Compare([]*results.Run{a, b}, results.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// texts are all tables that a person may see.
func texts(t testing.TB) map[string]func(*bytes.Buffer, TableOptions) error {
	runs := map[string]*results.Run{
		"host": resultstest.HostRun(resultstest.Powers(4096, 4, 9)...), "one-size": resultstest.HostRun(1 << 21), "gpu-emulated": resultstest.GPURun(8, "h200-580", resultstest.Powers(2<<20, 32, 2)...),
		"twenty-sizes": resultstest.GPURun(1, "", resultstest.Powers(4096, 2, 20)...), "odd": resultstest.OddRun(), "empty": {},
	}
	all := make(map[string]func(*bytes.Buffer, TableOptions) error)
	for name, run := range runs {
		all["summary-"+name] = func(b *bytes.Buffer, o TableOptions) error { return Summary(b, run, o) }
	}
	c, e := comparison(t, ""), comparison(t, "h200-580")
	all["compare"] = func(b *bytes.Buffer, o TableOptions) error { return Comparison(b, c, o) }
	all["compare-emulated"] = func(b *bytes.Buffer, o TableOptions) error { return Comparison(b, e, o) }
	return all
}

func TestTablesGolden(t *testing.T) {
	oneThread(t)
	for name, write := range texts(t) {
		var b bytes.Buffer
		if err := write(&b, TableOptions{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, name+".txt", b.Bytes())
	}
}

func TestTablesFitAndArePlain(t *testing.T) {
	oneThread(t)
	for name, write := range texts(t) {
		for _, width := range []int{60, 80, 100, 200} {
			var b bytes.Buffer
			if err := write(&b, TableOptions{Width: width}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, line := range strings.Split(b.String(), "\n") {
				if w := twwidth.Width(line); w > width {
					t.Errorf("%s at %d columns: line %d has %d: %s", name, width, i+1, w, line)
				}
				if strings.ContainsFunc(line, unicode.IsControl) {
					t.Errorf("%s: control characters in line %d: %q", name, i+1, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s: line %d ends in spaces: %q", name, i+1, line)
				}
			}
		}
	}
}

func TestColorIsAllThatDiffers(t *testing.T) {
	oneThread(t)
	for name, write := range texts(t) {
		var plain, colored bytes.Buffer
		if err := write(&plain, TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := write(&colored, TableOptions{Color: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(colored.String(), bold) {
			t.Errorf("%s: no emphasis", name)
		}
		s := colored.String()
		for _, code := range []string{bold, red, "\x1b[0m"} {
			s = strings.ReplaceAll(s, code, "")
		}
		if s != plain.String() {
			t.Errorf("%s: colour changes the text", name)
		}
	}
}

func TestEmulatedIsSaid(t *testing.T) {
	run := resultstest.GPURun(1, "h200-580", 2<<20)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"summary":  func(b *bytes.Buffer) error { return Summary(b, run, TableOptions{}) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, run) },
		"page":     func(b *bytes.Buffer) error { return Page(b, []*results.Run{run}) },
		"compare":  func(b *bytes.Buffer) error { return Comparison(b, comparison(t, "h200-580"), TableOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "EMULATED") || !strings.Contains(b.String(), "h200-580") {
			t.Errorf("%s does not say that it is emulated", name)
		}
	}
}

func TestMarkdownGolden(t *testing.T) {
	for name, run := range map[string]*results.Run{"host": resultstest.HostRun(resultstest.Powers(4096, 16, 5)...), "odd": resultstest.OddRun(), "empty": {}} {
		var b bytes.Buffer
		if err := Markdown(&b, run); err != nil {
			t.Fatal(err)
		}
		golden(t, "markdown-"+name+".md", b.Bytes())
	}
}

func TestCommandHasTheSeedAndNoOut(t *testing.T) {
	run := &results.Run{Header: results.Header{Args: []string{"sweep", "--out", "d", "--size", "4K", "--out=e"}, Seed: 7}}
	if got, want := command(run), "gpushare-bench sweep --size 4K --seed 7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	run.Header.Args = []string{"sweep", "--seed", "9"}
	if got, want := command(run), "gpushare-bench sweep --seed 9"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestShortNamesKeepWhatTellsThemApart(t *testing.T) {
	for _, x := range []struct {
		name    string
		columns int
		want    string
	}{
		{"cumemmap vmm (live 16)", 24, "cumemmap vmm (live 16)"},
		{"cumemmap vmm-rdma (pidfd, live 1024)", 24, "cumemmap vm…, live 1024)"},
		{"a name that is too long for it", 12, "a name that…"},
		{"メモリ共有 (live 1024)", 15, "メモリ…e 1024)"},
	} {
		if got := shortName(x.name, x.columns); got != x.want || twwidth.Width(got) > x.columns {
			t.Errorf("shortName(%q, %d) = %q, want %q", x.name, x.columns, got, x.want)
		}
	}
}

func TestScaleFor(t *testing.T) {
	for _, x := range []struct {
		values []float64
		unit   string
		value  float64
		want   string
	}{
		{[]float64{1234}, results.Nanoseconds, 1234, "1.23 µs"},
		{[]float64{140, 530000}, results.Nanoseconds, 530000, "530000 ns"},
		{[]float64{10, 5e9}, results.Nanoseconds, 5e9, "5000000000.0 ns"},
		{[]float64{51.3e9, 4.5e12}, results.BytesPerSecond, 4.5e12, "4500.0 GB/s"},
		{[]float64{0.5e9}, results.BytesPerSecond, 0.5e9, "500 MB/s"},
		{nil, results.Nanoseconds, 0, "0.00 ns"},
	} {
		s := scaleFor(x.values, x.unit)
		if got := s.format(x.value) + " " + s.unit; got != x.want {
			t.Errorf("%v of %v: %s, want %s", x.value, x.values, got, x.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	row := func(median, low, high float64) *results.Row {
		return &results.Row{Stats: stats.Summary{N: 9, Median: median, CI: stats.Interval{Low: low, High: high, Level: 0.95}}}
	}
	s := scale{divisor: 1000, unit: "µs", decimals: 2}
	for _, x := range []struct {
		row  *results.Row
		want string
	}{
		{row(12310, 12200, 12430), "12.31 ±0.12"},
		{row(12310, 12309, 12312), "12.31 ±<0.01"},
		{row(12310, 12310, 12310), "12.31 ±0.00"},
		{row(50000, 27000, 112200), "50.00 [27.00, 112.20]"},
		{row(12310, math.NaN(), math.NaN()), "12.31 (n=9)"},
	} {
		if got := s.estimate(x.row); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
}

func TestNotMeasuredCountsEveryCase(t *testing.T) {
	run := resultstest.OddRun()
	want := 0
	for _, c := range run.Cases {
		if c.Status != share.StatusOK {
			want++
		}
	}
	got := 0
	all := notMeasured(plots.NewData(run))
	for _, m := range all {
		got += m.Cases
	}
	if got != want || all[0].Status != share.StatusCorrupt {
		t.Errorf("%d cases of %d, first %s", got, want, all[0].Status)
	}
}

// TestNotMeasuredNamesLiveMappings wants to be told at how many live mappings a limit was reached.
func TestNotMeasuredNamesLiveMappings(t *testing.T) {
	run := resultstest.OddRun()
	first := run.Cases[0]
	run.Cases = nil
	for _, live := range []int{0, 64, 1024} {
		c := first
		c.Case.Live, c.Status, c.Reason = live, share.StatusUnsupported, "no more"
		if live == 0 {
			c.Status = share.StatusOK
		}
		run.Cases = append(run.Cases, c)
	}
	all := notMeasured(plots.NewData(run))
	if len(all) != 1 || !strings.HasSuffix(all[0].where(), ", 64 – 1024 live") {
		t.Errorf("%+v", all)
	}
}
