package report

import (
	"regexp"
	"strings"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
)

// TestLinksIntoTheMethodLead wants every link of a page to have its target in the page, and every warning that the tool
// knows to lead to what it means.
func TestLinksIntoTheMethodLead(t *testing.T) {
	oneThread(t)
	run := resultstest.GPURun(2, "", 2<<20)
	for _, code := range warningOrder {
		run.Cases[0].Warnings = append(run.Cases[0].Warnings, results.Warning{Code: code, Text: "seen"})
	}
	run.Cases[0].Warnings = append(run.Cases[0].Warnings, results.Warning{Code: "of a newer version", Text: "seen"})
	page := renderPage(t, run, resultstest.HostRun(4096))
	ids := make(map[string]int)
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the ID %s", n, id)
		}
	}
	links := make(map[string]bool)
	for _, m := range regexp.MustCompile(`<a [^>]*href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		to, inside := strings.CutPrefix(m[1], "#")
		if !inside || ids[to] == 0 {
			t.Errorf("a link leads to %q, which is not in the page", m[1])
		}
		links[to] = true
	}
	for _, code := range warningOrder {
		if !links["warning-"+code] {
			t.Errorf("the warning %s leads nowhere", code)
		}
	}
	for key, anchor := range methodOf {
		if ids[anchor] == 0 {
			t.Errorf("%s leads to %s, which is not in the page", key, anchor)
		}
	}
	if n := strings.Count(page, `id="method-the-clock"`); n != 1 {
		t.Errorf("the method is there %d times in a page of two runs", n)
	}
}

func TestMethodIsInert(t *testing.T) {
	m, err := renderMethod([]byte("# Title\n\n## A <b>section</b>\n\n<script>alert(1)</script>\n\n[there](results.md) [here](https://example.com/x) [results.md](results.md#a)\n\n" +
		"| what |\n| --- |\n| `none` |\n\n## Warnings\n\n| code | x |\n| --- | --- |\n| `drift` | <img src=x> |\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(m.HTML)
	for _, bad := range []string{"<script", "<img", "<b>", "href", "Title", "warning-none"} {
		if strings.Contains(s, bad) {
			t.Errorf("the method has %q: %s", bad, s)
		}
	}
	for _, want := range []string{`<h3 id="method-a-section">`, `<tr id="warning-drift">`, "there (docs/results.md)", "here (https://example.com/x)"} {
		if !strings.Contains(s, want) {
			t.Errorf("the method lacks %q: %s", want, s)
		}
	}
}
