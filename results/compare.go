package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	// ErrUnknownMetric is matched when a threshold is for a metric that there is not.
	ErrUnknownMetric = errors.New("no such metric")
)

// CompareOptions say what is a difference.
type CompareOptions struct {
	Threshold float64 // relative difference that does not matter, 0.05 for 5 %; 0: DefaultThreshold
	// Thresholds has others for single metrics ("export") or, without an entry of their own, their steps ("export" also
	// covers "export/cuMemExportToShareableHandle", "kernel" covers all kernels).
	Thresholds map[string]float64
	// Names are what to call the runs, in their order. Where there is none it is Header.Run.
	Names              []string
	Force              bool // compare emulated with real runs
	FailOnInconclusive bool
}

// RunInfo names a run in a comparison.
type RunInfo struct {
	Label    string    `json:"label"` // CompareOptions.Names or Header.Run, with a number where two runs have the same
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
	Worse       []Worse      // cases that the base measured and another run did not, or not in all repeats; of each run the worst first
	Cells       []Cell       // steps last; slower ones first, then faster, inconclusive, equivalent; the surest effect first
	Groups      []Group
	Unmatched   []Unmatched
	Notes       []string       // what keeps the comparison as a whole from being conclusive
	Blind       []string       // those of the notes that say of a run that no difference of it, or only a gross one, could have been found
	Options     CompareOptions // as used, with defaults

	base *Header
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
	Test stats.Comparison
	// AdjustedP is P adjusted for the number of metrics (Benjamini and Yekutieli, each direction by itself) and of runs; of a
	// step that of its phase, or P adjusted for the number of the phase's steps (Holm), whichever is larger.
	AdjustedP float64
	Threshold float64
	Verdict   stats.Verdict // Inconclusive where Test is not over processes
	Step      bool          // a step of a phase that has a cell of its own: it explains the phase and does not count
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
// Errors: [ErrNothingMatches], [ErrEmulated], [ErrUnknownMetric], and options that are out of range.
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
	if err := o.checkNames(runs); err != nil {
		return nil, err
	}
	c := &Comparison{Runs: describe(runs, o.Names), Differences: findDifferences(runs), Options: o, base: &runs[0].Header}
	for i, run := range runs {
		if emulated := run.Header.Emulated != ""; emulated != (runs[0].Header.Emulated != "") && !o.Force {
			return nil, fmt.Errorf("%w: %s and %s; --force compares them all the same", ErrEmulated, c.Runs[0].kind(), c.Runs[i].kind())
		}
	}
	for i := 1; i < len(runs); i++ {
		c.match(runs[0], runs[i], i)
	}
	c.sortWorse()
	if len(c.Cells) == 0 && !slices.ContainsFunc(c.Worse, Worse.Broken) {
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

// checkNames refuses a threshold for a metric that no run can have or has.
func (o CompareOptions) checkNames(runs []*Run) error {
	if len(o.Thresholds) == 0 {
		return nil
	}
	var names []string
	for _, p := range share.Phases() {
		names = append(names, p.String())
	}
	names = append(names, share.Setup, "kernel")
	found := make(map[string]bool)
	for _, run := range runs {
		for i := range run.Cases {
			for k := range run.Cases[i].Metrics {
				found[run.Cases[i].Metrics[k].Name] = true
			}
		}
	}
	for _, m := range slices.Sorted(maps.Keys(found)) {
		if strings.HasPrefix(m, "kernel/") {
			names = append(names, m)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(o.Thresholds)) {
		if !found[m] && !slices.Contains(names, m) {
			return fmt.Errorf("threshold of %q: %w; there are %s, and steps of phases such as map/mmap", m, ErrUnknownMetric, strings.Join(names, ", "))
		}
	}
	return nil
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

func describe(runs []*Run, names []string) []RunInfo {
	var infos []RunInfo
	seen := make(map[string]int)
	for i, run := range runs {
		h := &run.Header
		label := cmp.Or(h.Run, h.Host, "run")
		if i < len(names) {
			label = cmp.Or(names[i], label)
		}
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
