package plots

import (
	"bytes"
	"errors"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
)

// comparison compares two made-up runs of which the second is slower here and faster there.
func comparison(t *testing.T) *results.Comparison {
	t.Helper()
	a, b := resultstest.Repeat(resultstest.GPURun(1, "", resultstest.Powers(2<<20, 4, 5)...), 8), resultstest.Repeat(resultstest.GPURun(1, "", resultstest.Powers(2<<20, 4, 5)...), 8)
	b.Header.Run = "synthetic-b"
	for i := range b.Cases {
		for k, m := range b.Cases[i].Metrics {
			f := 1 + 0.07*float64((i%(len(b.Cases)/8)+3*k)%7-3)
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

func TestWriteAllFormats(t *testing.T) {
	oneThread(t)
	dir := filepath.Join(t.TempDir(), "plots")
	run := resultstest.HostRun(resultstest.Powers(4096, 16, 3)...)
	files, err := Write(dir, run, Formats())
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * len(Figures(run)); len(files) != want || want == 0 {
		t.Errorf("%d files, want %d", len(files), want)
	}
	magic := map[string]string{".png": "\x89PNG", ".svg": "<?xml", ".pdf": "%PDF"}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(raw), magic[filepath.Ext(f)]) {
			t.Errorf("%s begins with %q", f, raw[:8])
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files) {
		t.Errorf("%d files in the directory, %d reported: temporary files were left", len(entries), len(files))
	}
}

func TestWriteRefusesFormats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	_, err := Write(dir, resultstest.HostRun(4096), []string{"png", "gif"})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `"gif"`) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made all the same: %v", err)
	}
}

func TestWriteFollowsNoLink(t *testing.T) {
	oneThread(t)
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "latency-setup.png")); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, resultstest.HostRun(4096), []string{"png"}); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(outside); string(raw) != "mine" {
		t.Error("the file outside was written through a link")
	}
}

func TestEmptyRunsHaveNoPictures(t *testing.T) {
	unsupported := resultstest.HostRun(4096)
	unsupported.Cases = slices.DeleteFunc(unsupported.Cases, func(c results.CaseResult) bool { return c.Status != share.StatusUnsupported })
	for name, run := range map[string]*results.Run{"no cases": {}, "all unsupported": unsupported} {
		if f := Figures(run); len(f) != 0 {
			t.Errorf("%s: %d figures", name, len(f))
		}
		if files, err := Write(filepath.Join(t.TempDir(), "p"), run, []string{"png"}); err != nil || len(files) != 0 {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
}

func TestChartRefuses(t *testing.T) {
	good := point{x: 4096, y: 5, low: 4, high: 6}
	for _, x := range []struct {
		name string
		p    []point
		want error
	}{
		{"good", []point{good}, nil},
		{"nothing", nil, ErrEmpty},
		{"NaN", []point{good, {x: 8192, y: math.NaN(), low: 1, high: 2}}, ErrNotFinite},
		{"infinite", []point{{x: 8192, y: 5, low: 1, high: math.Inf(1)}}, ErrNotFinite},
		{"zero", []point{{x: 8192, y: 0}}, ErrNotPositive},
		{"no size", []point{{x: 0, y: 1, low: 1, high: 1}}, ErrNotPositive},
	} {
		c := chart{curves: []curve{{label: "a", style: styleOf(share.Case{}), points: x.p}}, sizes: []int64{4096}}
		if _, err := (Figure{Name: "f"}).withChart(c); !errors.Is(err, x.want) || (err == nil) != (x.want == nil) {
			t.Errorf("%s: error %v, want %v", x.name, err, x.want)
		}
	}
}

func TestDistributionRefusesAndIsExact(t *testing.T) {
	if _, _, err := newSteps(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no samples: %v", err)
	}
	if _, _, err := newSteps([]float64{1, math.NaN()}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	samples := make([]float64, 100000)
	for i := range samples {
		samples[i] = float64((i*7919)%len(samples)) + 1 // 1 … n in some order: the fraction at most v is v/n
	}
	x, p, err := newSteps(samples)
	if err != nil {
		t.Fatal(err)
	}
	if len(x) > ecdfPoints || x[0] != 1 || x[len(x)-1] != 100000 || p[len(p)-1] != 1 {
		t.Errorf("%d points from %v to %v, last fraction %v", len(x), x[0], x[len(x)-1], p[len(p)-1])
	}
	for i := range x {
		if p[i] != x[i]/100000 {
			t.Errorf("fraction at most %v is %v", x[i], p[i])
		}
		if i > 0 && p[i]-p[i-1] > 0.01 {
			t.Errorf("a gap of %v before %v", p[i]-p[i-1], x[i])
		}
	}
}

// TestBandwidthIsHeldAgainstWhatIsDrawn wants the note to name the lines that are there, and local memory to be one of them
// between two processes on one device too: it is what the copy of a staged buffer reads from.
func TestBandwidthIsHeldAgainstWhatIsDrawn(t *testing.T) {
	const peak, local = "the physical peak of the producer's memory", "the best that the consumer reached on memory of its own"
	one, two := resultstest.GPURun(1, "", 2<<20, 64<<20), resultstest.GPURun(2, "", 2<<20, 64<<20)
	unstaged := resultstest.GPURun(1, "", 2<<20, 64<<20)
	unstaged.Cases = slices.DeleteFunc(unstaged.Cases, func(c results.CaseResult) bool { return c.Case.Path == Baseline })
	metric := KernelMetric(share.KernelRead)
	for _, x := range []struct {
		name  string
		run   *results.Run
		view  int
		notes []string
	}{
		{"one GPU", one, 0, []string{peak, local}},
		{"one GPU without staging", unstaged, 0, []string{peak}},
		{"between two", two, 1, []string{peak, local}},
		{"no GPU", resultstest.HostRun(4096, 1<<20), 0, nil},
	} {
		d := NewData(x.run)
		v := d.Views[x.view]
		f, err := d.Bandwidth(v, metric)
		if err != nil {
			t.Fatal(err)
		}
		for _, note := range []string{peak, local} {
			if got, want := strings.Contains(f.Notes[0], note), slices.Contains(x.notes, note); got != want {
				t.Errorf("%s: the note %q has %q: %v, want %v", x.name, f.Notes[0], note, got, want)
			}
		}
		if strings.Contains(f.Notes[0], "Dashed") != (len(x.notes) > 0) || len(d.references(v, metric)) != len(x.notes) {
			t.Errorf("%s: %q, %d lines", x.name, f.Notes[0], len(d.references(v, metric)))
		}
	}
	d := NewData(one)
	best := 0.0
	for _, w := range d.Views[0].Ways {
		for _, size := range w.sizes {
			if r := w.Row(size, metric); r != nil && w.Case.Path == Baseline {
				best = max(best, r.Stats.Median)
			}
		}
	}
	if got := d.Local(d.Views[0], metric); got != best || best == 0 {
		t.Errorf("local is %v, what staging reads from gives %v", got, best)
	}
}

func TestColorsAreOfPathsAlone(t *testing.T) {
	seen := map[string]string{}
	for path, c := range pathColors {
		key := string([]byte{c.R, c.G, c.B})
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the same colour", path, other)
		}
		seen[key] = path
		if got := styleOf(share.Case{Path: path, Allocator: "any", Producer: "x", Size: 7}).color; got != c {
			t.Errorf("%s: %v in a picture, %v in the table", path, got, c)
		}
	}
	if PathColor("new-path") == (color.NRGBA{}) {
		t.Error("a new path has no colour")
	}
}

func TestEveryPictureSaysEmulated(t *testing.T) {
	oneThread(t)
	for _, f := range Figures(resultstest.GPURun(2, "h200-580", 2<<20, 64<<20)) {
		var b bytes.Buffer
		if err := f.Encode(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), ">"+emulatedTag+"<") || !strings.Contains(b.String(), "h200-580") {
			t.Errorf("%s does not say that it is emulated", f.Name)
		}
	}
}

func TestInlineTakesThePagesColors(t *testing.T) {
	oneThread(t)
	for _, f := range Figures(resultstest.OddRun()) {
		s, err := f.Bare().Inline()
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"#1B1F24", "#57606A", "#DADFE5", "font-family", "<b>", "<script", "\x1b", "\x00", "<?xml"} {
			if strings.Contains(s, bad) {
				t.Errorf("%s: has %q", f.Name, bad)
			}
		}
		if !strings.Contains(s, "var(--ink)") || !strings.Contains(s, "textLength=") {
			t.Errorf("%s: text does not take the page's colour, or not its own room", f.Name)
		}
	}
}

func TestSpread(t *testing.T) {
	places := toLengths(100, 99, 98, 50, 1)
	spread(places, 10, 0, 100)
	for i := 1; i < len(places); i++ {
		if gap := places[i-1] - places[i]; gap < 9.9 {
			t.Errorf("places %v: %v apart", places, gap)
		}
	}
	if places[0] > 100.1 || places[len(places)-1] < -0.1 {
		t.Errorf("places %v leave the range", places)
	}
}
func toLengths(v ...float64) []vg.Length {
	var out []vg.Length
	for _, x := range v {
		out = append(out, vg.Length(x))
	}
	return out
}

func TestTextOfPDFs(t *testing.T) {
	if got, want := latin(pdfText.Replace("5 µs ±2 … → −1 – メ\u0080")), "5 \xb5s \xb12 \x85 -> -1 \x96 ??"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShortPath(t *testing.T) {
	for in, want := range map[string]string{
		`d="M424.17,72.035L424.17,72.289L424.28,72.289L430.02,70.1"`: `d="M424.2,72v.3h.1l5.7,-2.2"`,
		`d="M-0.5,10L20,10.04L10.04,0.5Z"`:                           `d="M-.5,10h20.5l-10,-9.5Z"`,
		`d="M1e5,x"`:                                                 `d="M1e5,x"`,
	} {
		if got := shortPath(in); got != want {
			t.Errorf("shortPath(%s) = %s, want %s", in, got, want)
		}
	}
}
