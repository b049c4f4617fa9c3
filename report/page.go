package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
)

//go:embed page.tmpl
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// ErrNoRuns says that there is no run to make a page of.
var ErrNoRuns = errors.New("no runs")

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// largest bounds the pictures in a page, in bytes: a page with all of them stays under 5 MB. Pictures beyond it, always of
// sizes and pairs that are not shown first, are left out and the page says so.
const largest = 3 << 20

// page is what the template is given. Strings are plain text, which the template escapes; only pictures are markup.
type page struct {
	Title    string // of the document
	Heading  string
	Style    template.CSS
	Script   template.JS
	Policy   string
	Emulated bool
	Runs     []pageRun
	Method   template.HTML
}

// Page writes one self-contained HTML page about the runs: no network, no external font or script. Selecting sizes, pairs and
// metrics needs its script; without it the page shows its default selection, and all that is not a selection.
func Page(w io.Writer, runs []*results.Run) error {
	if len(runs) == 0 {
		return fmt.Errorf("write page: %w", ErrNoRuns)
	}
	p := page{Heading: "Sharing memory between processes", Style: template.CSS(pageStyle), Script: template.JS(pageScript)}
	how, err := theMethod()
	if err != nil {
		return fmt.Errorf("write page: the method: %w", err)
	}
	p.Method = how.HTML
	hash := sha256.Sum256([]byte(pageScript))
	// Should escaping ever fail, the browser still runs this script only and asks the network for nothing.
	p.Policy = fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-%s'",
		base64.StdEncoding.EncodeToString(hash[:]))
	budget := largest
	for i, run := range runs {
		r, err := newPageRun(run, fmt.Sprintf("run%d", i+1), &budget)
		if err != nil {
			return fmt.Errorf("write page: %w", err)
		}
		p.Emulated = p.Emulated || run.Header.Emulated != ""
		p.Runs = append(p.Runs, r)
	}
	// Distributions come last, so that none of them takes the room of another run's pictures.
	room := min(spreadRoom, budget)
	for i := range p.Runs {
		part := room / (len(runs) - i)
		left := part
		p.Runs[i].distributions(&left)
		room -= part - max(0, left)
	}
	p.Title = p.Heading + ": " + p.Runs[0].Machine
	if len(runs) > 1 {
		p.Title = p.Heading + ": " + plural(len(runs), "run")
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	if err := pageTemplate.Execute(bw, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return bw.Flush()
}

// alternative is one of several parts of a page of which the selection shows one.
type alternative struct {
	Pair, Size, Metric, Way string // what must be selected; "" for any
	Shown                   bool   // part of the default selection
	Figure                  *figure
	Verdict                 *verdict
	Matrix                  *matrix
	Rows                    [][]string // of a table whose head the section has
	Head                    []string
	Text                    string // above the table, or why there is nothing else
}

// figure is a picture with the text around it.
type figure struct {
	SVG      template.HTML
	Alt      string
	Title    string
	Subtitle string
	Notes    []string
	Emulated bool
}

// picture renders a figure for the page. It is nil without data, and when the budget is spent and it is not among what is
// shown first.
func (r *pageRun) picture(f plots.Figure, err error, first bool, budget *int) *figure {
	if err != nil {
		return nil
	}
	if *budget <= 0 && !first {
		r.LeftOut++
		return nil
	}
	svg, err := f.Bare().Inline()
	if err != nil {
		return nil
	}
	*budget -= len(svg)
	notes := make([]string, 0, len(f.Notes))
	for _, n := range f.Notes {
		notes = append(notes, clean(n))
	}
	return &figure{SVG: template.HTML(svg), Alt: clean(f.Alt), Title: clean(f.Title), Subtitle: clean(f.Subtitle), Notes: notes,
		Emulated: strings.TrimSpace(f.Emulated) != ""}
}
