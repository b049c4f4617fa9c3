package results

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// cellOf is a cell with the comparison it belongs to.
type cellOf struct {
	*Cell
	in *Comparison
}

var compareColumns = []column[cellOf]{
	{"base", func(c *cellOf) string { return cell(c.in.Runs[0].Label) }},
	{"run", func(c *cellOf) string { return cell(c.in.Runs[c.Run].Label) }},
	{"backend", func(c *cellOf) string { return cell(c.Case.Backend) }},
	{"path", func(c *cellOf) string { return cell(c.Case.Path) }},
	{"allocator", func(c *cellOf) string { return cell(c.Case.Allocator) }},
	{"producer", func(c *cellOf) string { return cell(c.Case.Producer) }},
	{"consumer", func(c *cellOf) string { return cell(c.Case.Consumer) }},
	{"link", func(c *cellOf) string { return cell(c.Link) }},
	{"transport", func(c *cellOf) string { return cell(c.Case.Transport) }},
	{"receiver", func(c *cellOf) string { return cell(c.Case.Receiver) }},
	{"cache", func(c *cellOf) string { return cell(c.Case.Cache) }},
	{"size_bytes", func(c *cellOf) string { return strconv.FormatInt(c.Case.Size, 10) }},
	{"offset", func(c *cellOf) string { return strconv.FormatInt(c.Case.Offset, 10) }},
	{"live", func(c *cellOf) string { return strconv.Itoa(c.Case.Live) }},
	{"variant", func(c *cellOf) string { return cell(c.Case.Variant) }},
	{"metric", func(c *cellOf) string { return cell(c.Metric) }},
	{"unit", func(c *cellOf) string { return cell(c.Unit) }},
	{"base_n", func(c *cellOf) string { return strconv.Itoa(c.A.N) }},
	{"base_repeats", func(c *cellOf) string { return strconv.Itoa(c.RepeatsA) }},
	{"base_median", func(c *cellOf) string { return decimal(c.A.Median) }},
	{"base_ci_low", func(c *cellOf) string { return decimal(c.A.CI.Low) }},
	{"base_ci_high", func(c *cellOf) string { return decimal(c.A.CI.High) }},
	{"run_n", func(c *cellOf) string { return strconv.Itoa(c.B.N) }},
	{"run_repeats", func(c *cellOf) string { return strconv.Itoa(c.RepeatsB) }},
	{"run_median", func(c *cellOf) string { return decimal(c.B.Median) }},
	{"run_ci_low", func(c *cellOf) string { return decimal(c.B.CI.Low) }},
	{"run_ci_high", func(c *cellOf) string { return decimal(c.B.CI.High) }},
	{"ratio", func(c *cellOf) string { return decimal(c.Test.Ratio) }},
	{"ratio_low", func(c *cellOf) string { return decimal(c.Test.CI.Low) }},
	{"ratio_high", func(c *cellOf) string { return decimal(c.Test.CI.High) }},
	{"ratio_level", func(c *cellOf) string { return decimal(c.Test.CI.Level) }},
	{"p", func(c *cellOf) string { return probability(c.Test.P) }},
	{"p_adjusted", func(c *cellOf) string { return probability(c.AdjustedP) }},
	{"basis", func(c *cellOf) string { return cell(string(c.Test.Basis)) }},
	{"threshold", func(c *cellOf) string { return decimal(c.Threshold) }},
	{"verdict", func(c *cellOf) string { return cell(string(c.Verdict)) }},
	{"base_warnings", func(c *cellOf) string { return cell(warningCodes(c.WarningsA)) }},
	{"run_warnings", func(c *cellOf) string { return cell(warningCodes(c.WarningsB)) }},
	{"notes", func(c *cellOf) string { return cell(strings.Join(c.Notes, "; ")) }},
	{"run_producer", func(c *cellOf) string { return cell(c.Other.Producer) }},
	{"run_consumer", func(c *cellOf) string { return cell(c.Other.Consumer) }},
	{"run_link", func(c *cellOf) string { return cell(c.OtherLink) }},
	{"step", func(c *cellOf) string { return strconv.FormatBool(c.Step) }},
	{"peers", func(c *cellOf) string { return strconv.Itoa(c.Case.Peers) }},
}

// probability writes a p-value. One below 0.0001 has an exponent, "1.2e-47": as a decimal it could have 300 digits.
func probability(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return strconv.FormatFloat(p, 'g', -1, 64)
}

// WriteCSV writes the cells, one row each, as summary.csv is written.
func (c *Comparison) WriteCSV(w io.Writer) error {
	rows := make([]cellOf, len(c.Cells))
	for i := range c.Cells {
		rows[i] = cellOf{&c.Cells[i], c}
	}
	return writeTable(w, compareColumns, rows)
}

// The JSON form of a comparison. Numbers that are not estimable are null.
type (
	comparisonJSON struct {
		Schema      int                   `json:"schema"` // 1
		Runs        []RunInfo             `json:"runs"`   // the base first
		Differences []Difference          `json:"differences"`
		Notes       []string              `json:"notes"`
		Threshold   float64               `json:"threshold"`
		Thresholds  map[string]float64    `json:"thresholds"`
		Verdicts    map[stats.Verdict]int `json:"verdicts"`
		Steps       map[stats.Verdict]int `json:"step_verdicts"`
		ExitStatus  int                   `json:"exit_status"`
		Worse       []worseJSON           `json:"worse"`
		Groups      []groupJSON           `json:"groups"`
		Cells       []cellJSON            `json:"cells"`
		Unmatched   []unmatchedJSON       `json:"unmatched"`
	}
	groupJSON struct {
		Run      int                   `json:"run"` // index in runs
		Path     string                `json:"path"`
		Metric   string                `json:"metric"`
		Unit     string                `json:"unit"`
		Cells    int                   `json:"cells"`
		GeoMean  float64               `json:"geomean_ratio"`
		Verdicts map[stats.Verdict]int `json:"verdicts"`
	}
	sideJSON struct {
		N        int      `json:"n"`
		Repeats  int      `json:"repeats"`
		Median   float64  `json:"median"`
		Low      *float64 `json:"ci_low"`
		High     *float64 `json:"ci_high"`
		Level    *float64 `json:"ci_level"`
		Warnings []string `json:"warnings"`
	}
	cellJSON struct {
		Run       int           `json:"run"` // index in runs
		Case      share.Case    `json:"case"`
		Other     share.Case    `json:"run_case"`
		Link      string        `json:"link"`
		OtherLink string        `json:"run_link"`
		Metric    string        `json:"metric"`
		Unit      string        `json:"unit"`
		A         sideJSON      `json:"base"`
		B         sideJSON      `json:"other"`
		Ratio     float64       `json:"ratio"`
		Low       *float64      `json:"ratio_low"`
		High      *float64      `json:"ratio_high"`
		Level     *float64      `json:"ratio_level"`
		P         float64       `json:"p"`
		AdjustedP float64       `json:"p_adjusted"`
		Basis     stats.Basis   `json:"basis"`
		Threshold float64       `json:"threshold"`
		Verdict   stats.Verdict `json:"verdict"`
		Step      bool          `json:"step"`
		Notes     []string      `json:"notes"`
	}
	worseJSON struct {
		Run     int          `json:"run"` // index in runs
		Case    share.Case   `json:"case"`
		Other   share.Case   `json:"run_case"`
		From    share.Status `json:"base_status"`
		To      share.Status `json:"status"`
		Repeats int          `json:"repeats"`
		Of      int          `json:"of_repeats"`
		Reason  string       `json:"reason"`
	}
	unmatchedJSON struct {
		In     int        `json:"in"`     // index in runs
		NotIn  int        `json:"not_in"` // index in runs
		Case   share.Case `json:"case"`
		Metric string     `json:"metric"` // "" for the whole case
		Why    string     `json:"why"`
	}
)

// WriteJSON writes the comparison as one JSON object.
func (c *Comparison) WriteJSON(w io.Writer) error {
	v := comparisonJSON{Schema: 1, Runs: c.Runs, Differences: c.Differences, Notes: orEmpty(c.Notes), Threshold: c.Options.Threshold,
		Thresholds: c.Options.Thresholds, Verdicts: allVerdicts(c.Verdicts()), Steps: allVerdicts(c.StepVerdicts()), ExitStatus: c.ExitStatus(),
		Worse: []worseJSON{}, Groups: []groupJSON{}, Cells: []cellJSON{}, Unmatched: []unmatchedJSON{}}
	if v.Thresholds == nil {
		v.Thresholds = map[string]float64{}
	}
	for _, w := range c.Worse {
		v.Worse = append(v.Worse, worseJSON(w))
	}
	for _, g := range c.Groups {
		g.Verdicts = allVerdicts(g.Verdicts)
		v.Groups = append(v.Groups, groupJSON(g))
	}
	for i := range c.Cells {
		x := &c.Cells[i]
		v.Cells = append(v.Cells, cellJSON{Run: x.Run, Case: x.Case, Other: x.Other, Link: x.Link, OtherLink: x.OtherLink, Metric: x.Metric, Unit: x.Unit,
			A: side(&x.A, x.RepeatsA, x.WarningsA), B: side(&x.B, x.RepeatsB, x.WarningsB),
			Ratio: x.Test.Ratio, Low: orNull(x.Test.CI.Low), High: orNull(x.Test.CI.High), Level: orNull(x.Test.CI.Level),
			P: x.Test.P, AdjustedP: x.AdjustedP, Basis: x.Test.Basis, Threshold: x.Threshold, Verdict: x.Verdict, Step: x.Step, Notes: orEmpty(x.Notes)})
	}
	for _, u := range c.Unmatched {
		v.Unmatched = append(v.Unmatched, unmatchedJSON(u))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func side(s *stats.Summary, repeats int, ws []Warning) sideJSON {
	codes := []string{}
	if len(ws) > 0 {
		codes = strings.Split(warningCodes(ws), ";")
	}
	return sideJSON{s.N, repeats, s.Median, orNull(s.CI.Low), orNull(s.CI.High), orNull(s.CI.Level), codes}
}

// orNull turns NaN, "not estimable", and infinities, which JSON does not have, into null.
func orNull(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// verdicts in the order in which they are shown.
var verdicts = []stats.Verdict{stats.Slower, stats.Faster, stats.Inconclusive, stats.Equivalent}

func allVerdicts(n map[stats.Verdict]int) map[stats.Verdict]int {
	all := make(map[stats.Verdict]int)
	for _, v := range verdicts {
		all[v] = n[v]
	}
	return all
}
