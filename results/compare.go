package results

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// DefaultThreshold is the relative difference that does not matter where nothing else was asked for: 5 %.
const DefaultThreshold = 0.05

// Exit statuses of a comparison.
const (
	ExitRegression   = 5
	ExitInconclusive = 6
)

var (
	// ErrNothingMatches is matched when two runs have no metric of any case in common.
	ErrNothingMatches = errors.New("nothing in these runs can be compared")
	// ErrEmulated is matched when emulated runs were to be compared with real ones.
	ErrEmulated = errors.New("emulated and real runs don't compare")
)

// CompareOptions say what is a difference.
type CompareOptions struct {
	Threshold float64 // relative difference that does not matter, 0.05 for 5 %; 0: DefaultThreshold
	// Thresholds has others for single metrics ("export") or, without an entry of their own, their steps ("export" also
	// covers "export/cuMemExportToShareableHandle", "kernel" covers all kernels).
	Thresholds         map[string]float64
	Force              bool // compare emulated with real runs
	FailOnInconclusive bool
}

// RunInfo names a run in a comparison.
type RunInfo struct {
	Label    string    `json:"label"` // Header.Run, with a number where two runs have the same
	Host     string    `json:"host"`
	Started  time.Time `json:"started"`
	Emulated string    `json:"emulated"` // name of the emulated machine; "" on real hardware
	Repeats  int       `json:"repeats"`
	Cases    int       `json:"cases"`    // distinct cases
	Complete bool      `json:"complete"` // the run ended in order with outcome "complete"
	Dropped  int       `json:"dropped"`  // journal lines that could not be read
	Matching string    `json:"matching"` // how its devices were matched with the base's; "" for the base
}

// Comparison compares runs with the first one, the base.
type Comparison struct {
	Runs        []RunInfo    // the base first
	Differences []Difference // of machines and settings
	Cells       []Cell       // slower ones first, then faster, inconclusive, equivalent; the largest effect first
	Groups      []Group
	Unmatched   []Unmatched
	Notes       []string       // what keeps the comparison as a whole from being conclusive
	Options     CompareOptions // as used, with defaults
}

// Cell is a metric of a case in two runs.
type Cell struct {
	Run       int        // index in Comparison.Runs of the run that is compared with the base
	Case      share.Case // as the base has it
	Other     share.Case // as the other run has it: its devices may have other names
	Link      string     // link class in the base
	OtherLink string
	Metric    string
	Unit      string
	A, B      stats.Summary // base and other run, over the repeats that are ok or partial
	RepeatsA  int           // repeats with samples
	RepeatsB  int
	// Test has the ratio B/A with its interval and the p-value, over processes where both have enough.
	Test      stats.Comparison
	AdjustedP float64 // Holm over all cells of the comparison
	Threshold float64
	Verdict   stats.Verdict
	WarningsA []Warning
	WarningsB []Warning
	Notes     []string // repeats left out
}

// Group sums up the cells of one run, path and metric.
type Group struct {
	Run     int
	Path    string
	Metric  string
	Unit    string
	Cells   int     // matched cells that the geometric mean is over
	GeoMean float64 // of the ratios
	// Verdicts counts the cells by verdict.
	Verdicts map[stats.Verdict]int
}

// Unmatched is a case or a metric that one run has and another lacks, or whose samples can't be compared.
type Unmatched struct {
	In, NotIn int // indices in Comparison.Runs
	Case      share.Case
	Metric    string // "" for the whole case
	Why       string
}

// Compare compares each run with the first. Runs match case by case; a case's samples are used from the repeats that are
// ok or partial. A verdict is about the run, not the base: faster means that it is better than the base, also for rates.
//
// Errors: [ErrNothingMatches], [ErrEmulated], and options that are out of range.
func Compare(runs []*Run, o CompareOptions) (*Comparison, error) {
	if len(runs) < 2 {
		return nil, fmt.Errorf("compare %d run: at least 2 are needed", len(runs))
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	c := &Comparison{Runs: describe(runs), Differences: findDifferences(runs), Options: o}
	for i, run := range runs {
		if emulated := run.Header.Emulated != ""; emulated != (runs[0].Header.Emulated != "") && !o.Force {
			return nil, fmt.Errorf("%w: %s and %s; --force compares them all the same", ErrEmulated, c.Runs[0].kind(), c.Runs[i].kind())
		}
	}
	for i := 1; i < len(runs); i++ {
		c.match(runs[0], runs[i], i)
	}
	if len(c.Cells) == 0 {
		why := "both are empty"
		if len(c.Unmatched) > 0 {
			u := c.Unmatched[0]
			why = fmt.Sprintf("%s of %s has no partner in %s: %s", u.Case, c.Runs[u.In].Label, c.Runs[u.NotIn].Label, u.Why)
		}
		return nil, fmt.Errorf("compare %s with %s: %w: %s", c.Runs[1].Label, c.Runs[0].Label, ErrNothingMatches, why)
	}
	c.judge()
	c.advise()
	c.sum()
	return c, nil
}

func (o CompareOptions) check() error {
	valid := func(name string, t float64) error {
		if !(t >= 0 && t <= 10) {
			return fmt.Errorf("threshold %s%v: must be from 0 to 10 (1000 %%)", name, t)
		}
		return nil
	}
	err := valid("", o.Threshold)
	for name, t := range o.Thresholds {
		err = errors.Join(err, valid(name+"=", t))
	}
	return err
}

// threshold returns the one of the metric, or of the longest leading part of its name that has one.
func (o CompareOptions) threshold(metric string) float64 {
	for name := metric; name != ""; {
		if t, ok := o.Thresholds[name]; ok {
			return t
		}
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	return o.Threshold
}

func describe(runs []*Run) []RunInfo {
	var infos []RunInfo
	seen := make(map[string]int)
	for _, run := range runs {
		h := &run.Header
		label := cmp.Or(h.Run, h.Host, "run")
		if seen[label]++; seen[label] > 1 {
			label = fmt.Sprintf("%s#%d", label, seen[label])
		}
		infos = append(infos, RunInfo{Label: label, Host: h.Host, Started: h.Started, Emulated: h.Emulated, Repeats: h.Repeats,
			Cases: len(groupByCase(run.Cases)), Complete: run.End != nil && run.End.Outcome == "complete", Dropped: len(run.Dropped)})
	}
	return infos
}

func (r RunInfo) kind() string {
	if r.Emulated != "" {
		return fmt.Sprintf("%s is emulated (%s)", r.Label, r.Emulated)
	}
	return r.Label + " is real"
}
