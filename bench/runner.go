package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// defaultMaxTime bounds a case when neither --max-time nor a share of the time limit does.
const defaultMaxTime = 10 * time.Second

// maxStartFailures is how often a pair of processes may fail to start before the rest of its cases fail without a try.
const maxStartFailures = 3

// Load is a reading of the machine as a whole, for the warnings about a busy and about a suspended one.
type Load struct {
	Steal, Total uint64        // processor time in clock ticks since boot: taken by the hypervisor, all
	Suspended    time.Duration // since boot: CLOCK_BOOTTIME less CLOCK_MONOTONIC
}

// Runner runs a plan and hands each finished case to the journal.
type Runner struct {
	Config   *Config
	Plan     *Plan
	Launcher *Launcher
	Record   func(results.CaseResult) error // keeps a finished case, durably: the journal's Append
	Done     map[results.Key]share.Status   // what the journal holds already, of a run that is resumed; see DoneOf
	Events   func(Event)                    // told of progress; may be nil
	// Suspects says what of the machine may be behind data that arrived wrong; may be nil.
	Suspects func(producer, consumer share.DeviceInfo) string
	Load     func() Load // reads the machine's load; may be nil
	Scaling  bool        // the processors' frequency is scaled, so that short CPU work may be measured at a low clock

	order    int
	finished int
	measured bool // a case, by this Run, not by an earlier one
	started  time.Time
	load     Load
	costly   costly
}

// Event tells of progress. Exactly one of Starting, Finished and Note is set.
type Event struct {
	Starting *Planned
	Finished *results.CaseResult
	Note     string // what is to be known about a pair before it is measured
	Number   int    // of cases finished so far, out of Total
	Total    int
}

// Outcome is what a run came to.
type Outcome struct {
	End    results.End
	Counts map[share.Status]int
}

// Errors that end a run early.
var (
	errTimeLimit = errors.New("time limit")
	errJournal   = errors.New("journal")
)

// Run measures the plan, every repeat in fresh processes, and appends each finished case to the journal. It returns what
// the run came to even when it ends early; the error is ctx's, or one of the journal.
func (r *Runner) Run(ctx context.Context) (Outcome, error) {
	out := Outcome{Counts: map[share.Status]int{}}
	r.started = time.Now()
	r.Done = maps.Clone(r.Done)
	if r.Done == nil {
		r.Done = map[results.Key]share.Status{}
	}
	r.order = len(r.Done)
	for key, status := range r.Done {
		if r.done(key) {
			out.Counts[status]++
			r.finished++
		}
	}
	var err error
	for repeat := 0; repeat < r.Config.Repeats && err == nil; repeat++ {
		for _, g := range r.Plan.Order(repeat) {
			if err = r.group(ctx, g, repeat, &out); err != nil {
				break
			}
		}
	}
	out.End = results.End{Outcome: "complete", Measured: len(r.Done), Finished: time.Now().UTC()}
	switch {
	case err == nil:
	case errors.Is(err, errTimeLimit):
		out.End.Outcome, err = "time-limit", nil
	case ctx.Err() != nil:
		out.End.Outcome = "interrupted"
	default:
		out.End.Outcome = "failed"
	}
	out.End.ExitStatus = exitStatus(out, err)
	return out, err
}

// exitStatus is the worst of what happened: corrupt data, then a failure, then nothing measured. An interrupted run says so.
func exitStatus(out Outcome, err error) int {
	n := out.Counts
	switch {
	case out.End.Outcome == "interrupted":
		return 130
	case n[share.StatusCorrupt] > 0:
		return 4
	case err != nil || n[share.StatusFailed] > 0 || n[share.StatusTimeout] > 0:
		return 1
	case n[share.StatusOK]+n[share.StatusPartial] == 0:
		return 3
	}
	return 0
}

// done reports whether the journal has a case that need not be measured again.
func (r *Runner) done(key results.Key) bool {
	status, ok := r.Done[key]
	return ok && status != share.StatusInterrupted
}

// total is the number of journal lines that the whole run comes to.
func (r *Runner) total() int { return len(r.Plan.Cases()) * r.Config.Repeats }

// group measures one pair's cases in one repeat.
func (r *Runner) group(ctx context.Context, g Group, repeat int, out *Outcome) error {
	var e *ends
	defer func() {
		if e != nil {
			e.quit()
		}
	}()
	failures, told := 0, false
	var startErr error
	for _, p := range g.Cases {
		if r.done(results.Key{Case: p.Case, Repeat: repeat}) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		granted, err := r.timeFor()
		if err != nil {
			return err
		}
		r.event(Event{Starting: &p, Number: r.finished, Total: r.total()})
		if p.Refuse != "" {
			if err := r.record(p, refused(p, repeat), out); err != nil {
				return err
			}
			continue
		}
		if e == nil && failures < maxStartFailures {
			if e, startErr = r.Launcher.openEnds(ctx, g, r.Config, r.openBound(time.Now())); startErr != nil {
				e = nil
				failures++
				if errors.Is(startErr, ErrNoAnswer) {
					failures = maxStartFailures // a driver that hangs does so again
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			} else if b := e.blind(); b != "" && !told {
				told = true
				r.event(Event{Note: fmt.Sprintf("%s→%s: %s", g.Producer.ID, g.Consumer.ID, b), Number: r.finished, Total: r.total()})
			}
		}
		if e == nil {
			if err := r.record(p, unopened(p, repeat, startErr), out); err != nil {
				return err
			}
			continue
		}
		if r.Load != nil {
			r.load = r.Load()
		}
		res, respawn, err := r.measure(ctx, e, g, p, repeat, granted)
		switch {
		case respawn:
			e.kill()
			e = nil
		case res.Status == share.StatusFailed:
			// A context may be beyond use after an error, and nobody tells: the next case gets fresh processes.
			e.quit()
			e = nil
		}
		if jerr := r.record(p, res, out); jerr != nil {
			return jerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allowance is the time that a case may take.
type allowance struct {
	limit time.Duration    // once it has the least number of samples
	floor time.Duration    // before; not less than limit
	why   stats.StopReason // what to give as the reason when it takes all of limit
}

// timeFor is the time that the next case may take. Whatever the time limit, one case is measured: a run that is resumed
// again and again under a short limit gets ahead.
func (r *Runner) timeFor() (allowance, error) {
	limit := r.Config.MaxTime
	if limit == 0 {
		limit = defaultMaxTime
	}
	a := allowance{limit, max(limit, r.Config.FloorTime), stats.StopMaxTime}
	if r.Config.TimeLimit == 0 {
		return a, nil
	}
	left := r.Config.TimeLimit - time.Since(r.started)
	if left <= 0 {
		if r.measured {
			return a, errTimeLimit
		}
		left = 1
	}
	fair := time.Duration(float64(left) / max(1, r.costly.left(r)))
	a.floor = min(a.floor, fair)
	if fair < limit {
		a.limit, a.why = fair, stats.StopTimeLimit
	}
	return a, nil
}

// record gives a result its place in the run and writes it to the journal.
func (r *Runner) record(p Planned, res *results.CaseResult, out *Outcome) error {
	res.Order = r.order
	r.order++
	out.Counts[res.Status]++
	r.costly.note(p, res)
	if err := r.Record(*res); err != nil {
		return fmt.Errorf("%w: %w", errJournal, err)
	}
	r.Done[res.Key()] = res.Status
	r.finished++
	r.measured = r.measured || res.Status != share.StatusUnsupported
	r.event(Event{Finished: res, Number: r.finished, Total: r.total()})
	return nil
}

func (r *Runner) event(e Event) {
	if r.Events != nil {
		r.Events(e)
	}
}

// refused is the result of a case that the plan knew to be impossible.
func refused(p Planned, repeat int) *results.CaseResult {
	return &results.CaseResult{Case: p.Case, Repeat: repeat, Link: p.Link, Status: share.StatusUnsupported, Reason: p.Refuse, Started: time.Now().UTC()}
}

// unopened is the result of a case whose processes could not be started or could not open their devices.
func unopened(p Planned, repeat int, err error) *results.CaseResult {
	res := refused(p, repeat)
	res.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	switch {
	case errors.Is(err, ErrNoAnswer):
		res.Status, res.Phase = share.StatusTimeout, "open"
	case !errors.Is(err, share.ErrUnsupported):
		res.Status = share.StatusFailed
	}
	return res
}

// DoneOf lists what the journal of a run that is to be resumed holds. What was interrupted is measured again.
func DoneOf(run *results.Run) map[results.Key]share.Status {
	done := map[results.Key]share.Status{}
	for _, c := range run.Cases {
		done[c.Key()] = c.Status
	}
	return done
}

// CheckResume refuses to resume a run with a plan that differs from the one it was begun with.
func CheckResume(run *results.Run, p *Plan, c *Config) error {
	keys := map[share.Case]bool{}
	for _, q := range p.Cases() {
		keys[q.Case] = true
	}
	if i := slices.IndexFunc(run.Cases, func(x results.CaseResult) bool { return !keys[x.Case] }); i >= 0 {
		return Usagef("the run has a case that this command would not measure: %s; give the flags it was begun with: %q", run.Cases[i].Case, run.Header.Args)
	}
	if run.Header.Planned != len(keys)*c.Repeats || run.Header.Seed != c.Seed {
		return Usagef("the run was planned with %d cases and seed %d, this command with %d and %d; give the flags it was begun with: %q",
			run.Header.Planned, run.Header.Seed, len(keys)*c.Repeats, c.Seed, run.Header.Args)
	}
	return nil
}
