package report

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
)

func renderPage(t testing.TB, runs ...*results.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, runs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageOfNothing(t *testing.T) {
	if err := Page(&bytes.Buffer{}, nil); !errors.Is(err, ErrNoRuns) {
		t.Errorf("no runs: %v", err)
	}
	page := renderPage(t, &results.Run{})
	for _, want := range []string{"did not end in order", "Everything that was planned was measured"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of an empty run lacks %q", want)
		}
	}
}

func TestPageAnswersInOrder(t *testing.T) {
	oneThread(t)
	page := renderPage(t, resultstest.GPURun(3, "", resultstest.Powers(2<<20, 32, 2)...))
	at := 0
	for _, question := range []string{"Which path should I use?", "What does a cycle cost, and where does the time go?", "How does each phase scale with size?",
		"What bandwidth does the consumer get?", "All pairs: rows produce, columns consume", "What is behind the medians?", "When does sharing pay off?",
		"What was not measured, and why", ">Warnings <a", "The machine", "How it was measured", ">Again<"} {
		i := strings.Index(page, question)
		if i < at {
			t.Errorf("%q is at %d, before what should precede it (%d)", question, i, at)
		}
		at = i
	}
	for _, want := range []string{"CUDA_ERROR_NOT_PERMITTED", "gpushare-bench sweep --backend cuda --pair all --seed 42", "4.82 TB/s"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// external matches what would make a browser ask for something.
var external = regexp.MustCompile(`(?i)(src|href|action|data|poster|srcset)\s*=\s*["']?\s*(https?:|//|file:)|url\(|@import|<(iframe|object|embed|form|base)\b`)

func TestPageIsSelfContained(t *testing.T) {
	oneThread(t)
	for name, run := range map[string]*results.Run{"host": resultstest.HostRun(resultstest.Powers(4096, 16, 4)...), "gpu": resultstest.GPURun(2, "h200-580", 2<<20, 64<<20), "odd": resultstest.OddRun()} {
		page := renderPage(t, run)
		if m := external.FindString(page); m != "" {
			t.Errorf("%s: the page asks for something: %q", name, m)
		}
		if !strings.Contains(page, "Content-Security-Policy") {
			t.Errorf("%s: no policy", name)
		}
	}
}

func TestHostileTextIsInert(t *testing.T) {
	page := renderPage(t, resultstest.OddRun())
	body := page[strings.Index(page, "<body>"):]
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d script elements, want 1", n)
	}
	for _, bad := range []string{"<img", "<b>bold", "<i>key", "</script><script>", "\x1b", "\x00", "\u2028", "\u202e", "ZgotmplZ"} {
		if strings.Contains(body, bad) {
			i := strings.Index(body, bad)
			t.Errorf("the page has %q: …%s…", bad, body[max(0, i-60):i+60])
		}
	}
	if !strings.Contains(body, "&lt;img src=x onerror=alert(1)&gt;") {
		t.Error("the host's name is not shown as text")
	}
}

func TestPageHasSeveralRuns(t *testing.T) {
	page := renderPage(t, resultstest.HostRun(4096), resultstest.GPURun(1, "h200-580", 2<<20))
	ids := regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1)
	seen := map[string]bool{}
	for _, m := range ids {
		if seen[m[1]] {
			t.Errorf("id %s twice", m[1])
		}
		seen[m[1]] = true
	}
	if !seen["run1"] || !seen["run2"] || !strings.Contains(page, `href="#run2"`) {
		t.Error("the page does not lead to both runs")
	}
}

// large is a run of a million samples.
func large() *results.Run {
	run := resultstest.GPURun(1, "", resultstest.Powers(4096, 2, 20)...)
	total := 0
	for i := range run.Cases {
		for k := range run.Cases[i].Metrics {
			total += len(run.Cases[i].Metrics[k].Samples)
		}
	}
	n := resultstest.Noise(7)
	for i := range run.Cases {
		for k := range run.Cases[i].Metrics {
			m := &run.Cases[i].Metrics[k]
			base := m.Samples[0]
			m.Samples = n.Samples(base, len(m.Samples)*1_000_000/total+1)
		}
	}
	return run
}

func TestAMillionSamplesFit(t *testing.T) {
	oneThread(t)
	if testing.Short() {
		t.Skip("renders a page of a million samples: left out with -short")
	}
	run := large()
	start := time.Now()
	page := renderPage(t, run)
	t.Logf("%d bytes in %s", len(page), time.Since(start))
	if len(page) > 5_000_000 {
		t.Errorf("the page has %d bytes, at most 5000000", len(page))
	}
	if !strings.Contains(page, "the points drawn are exact") {
		t.Error("the page does not say that distributions are drawn through some points only")
	}
}

func TestManyPairsFit(t *testing.T) {
	oneThread(t)
	start := time.Now()
	n := len(renderPage(t, resultstest.GPURun(8, "", resultstest.Powers(2<<20, 8, 3)...)))
	t.Logf("%d bytes in %s", n, time.Since(start))
	if n > 5_000_000 {
		t.Errorf("the page has %d bytes, at most 5000000", n)
	}
}

// TestDistributionsBehindWarningsAreDrawn wants those that a warning sends the reader to before others, however many sizes
// and metrics there are.
func TestDistributionsBehindWarningsAreDrawn(t *testing.T) {
	oneThread(t)
	run := resultstest.GPURun(1, "", resultstest.Powers(4096, 2, 20)...)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Case.Size == 8192 && c.Case.Path == "cumemmap" {
			c.Warnings = append(c.Warnings, results.Warning{Code: "bimodal", Metric: "unmap", Text: "two groups (see the distribution)"})
		}
	}
	budget := largest
	r, err := newPageRun(run, "run1", &budget)
	if err != nil {
		t.Fatal(err)
	}
	all := r.spreads(r.data)
	if first := all[0]; first.metric != share.Setup || !first.first {
		t.Errorf("first is %+v", first)
	}
	at := slices.IndexFunc(all, func(x spread) bool { return x.metric == "unmap" && x.size == 8192 })
	if at != 20 { // after setup at 20 sizes
		t.Errorf("the distribution that the warning is about is number %d of %d", at, len(all))
	}
	budget = 1 << 19
	r.distributions(&budget)
	has := func(metric, size string) bool {
		return slices.ContainsFunc(r.Spread, func(a alternative) bool { return a.Metric == metric && a.Size == size })
	}
	if !has("unmap", "8192") || !has("kernel/read", "2097152") || !has(share.Setup, "4096") {
		t.Errorf("missing among %d distributions", len(r.Spread))
	}
	if r.Undrawn != len(all)-len(r.Spread) || r.Undrawn == 0 {
		t.Errorf("%d drawn and %d not drawn of %d", len(r.Spread), r.Undrawn, len(all))
	}
}

// TestWhyNothingPaysOff wants the reason where staging was measured and nothing can be said all the same.
func TestWhyNothingPaysOff(t *testing.T) {
	oneThread(t)
	few := resultstest.GPURun(1, "", 2<<20)
	for i := range few.Cases {
		for k, m := range few.Cases[i].Metrics {
			few.Cases[i].Metrics[k].Samples = m.Samples[:3]
		}
	}
	alone := resultstest.GPURun(1, "", 2<<20)
	alone.Cases = slices.DeleteFunc(alone.Cases, func(c results.CaseResult) bool { return c.Case.Path == "staged" })
	dear := resultstest.GPURun(1, "", 2<<20)
	for i := range dear.Cases {
		if c := &dear.Cases[i]; c.Case.Path != "staged" { // each use of a shared buffer takes a second
			for k := range c.Metrics {
				if c.Metrics[k].Name == "kernel/read" {
					for j := range c.Metrics[k].Samples {
						c.Metrics[k].Samples[j] = 2 << 20
					}
				}
			}
		}
	}
	for _, x := range []struct {
		run  *results.Run
		want string
	}{
		{few, "A comparison with staging can&#39;t be made: fewer than 6 samples."},
		{alone, "neither staging nor a memcpy was measured"},
		{dear, "However often a buffer is used, no path gets cheaper than staging."},
	} {
		if page := renderPage(t, x.run); !strings.Contains(page, x.want) {
			t.Errorf("the page lacks %q", x.want)
		}
	}
}

func TestPicturesBeyondTheBudgetAreCounted(t *testing.T) {
	budget := 1
	r, err := newPageRun(resultstest.HostRun(resultstest.Powers(4096, 4, 6)...), "run1", &budget)
	if err != nil {
		t.Fatal(err)
	}
	r.distributions(&budget)
	if r.LeftOut == 0 || r.Undrawn == 0 {
		t.Errorf("%d pictures and %d distributions were left out", r.LeftOut, r.Undrawn)
	}
	for name, part := range map[string][]alternative{"cycle": r.Cycles, "scaling": r.Scaling, "bandwidth": r.Bandwidth, "distribution": r.Spread} {
		if len(part) != 1 || !part[0].Shown {
			t.Errorf("%s: %d pictures, want the one that is shown first", name, len(part))
		}
	}
}

func BenchmarkPageOfAMillionSamples(b *testing.B) {
	run := large()
	for b.Loop() {
		renderPage(b, run)
	}
}
