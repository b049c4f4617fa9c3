package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gpushare-bench/bench/worker"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// maxBatch bounds the cycles of one batch: what is lost if a worker dies, and how often the stopping rule looks.
const maxBatch = 200

// batchTime is how long a batch should take at most, so that a run that is interrupted or out of time ends soon.
const batchTime = time.Second

// measurement is one case being measured.
type measurement struct {
	r        *Runner
	ends     *ends
	planned  Planned
	producer share.DeviceInfo
	consumer share.DeviceInfo
	granted  allowance
	started  time.Time // when the time that is granted began
	res      *results.CaseResult
	rounded  string // what is shared in place of what was asked for
	samples  *series
	kernels  []share.Kernel // those whose precision is not reached yet
	rule     stats.Rule
}

// measure runs one case on a pair of processes: a first cycle that is the trial, then batches until the samples are
// enough. respawn says that the processes can't be used any more. The error is ctx's.
func (r *Runner) measure(ctx context.Context, e *ends, g Group, p Planned, repeat int, granted allowance) (res *results.CaseResult, respawn bool, err error) {
	start := time.Now()
	m := &measurement{r: r, ends: e, planned: p, producer: g.Producer, consumer: g.Consumer, granted: granted, started: start, samples: newSeries(),
		kernels: r.Config.Kernels,
		rule:    stats.Rule{Precision: r.Config.Precision, MinSamples: r.Config.MinSamples, MaxSamples: r.Config.MaxSamples},
		res:     &results.CaseResult{Case: p.Case, Repeat: repeat, Link: p.Link, Started: start.UTC()}}
	o, trial, err := m.run(ctx)
	if p.Case.Peers > 0 && err == nil && !o.respawn() {
		var parted outcome
		if parted, err = m.part(ctx); o.fine() || parted.respawn() {
			o, trial = parted, false
		}
	}
	m.res.DurationNs = time.Since(start).Nanoseconds()
	m.finish(o, trial, err)
	return m.res, o.respawn() || err != nil, err
}

// run runs the trial and the batches. trial says that it did not get beyond the trial.
func (m *measurement) run(ctx context.Context) (o outcome, trial bool, err error) {
	b := &worker.Batch{Case: m.planned.Case, RunSeed: m.r.Config.Seed, CaseIndex: m.planned.Index, Cycles: 1,
		Kernels: m.kernels, Verify: m.r.Config.Verify, Before: m.r.Config.ExportedBefore}
	if m.planned.Case.Peers > 0 {
		if o, err = m.mesh(ctx); err != nil || !o.fine() {
			return o, true, err
		}
	}
	began := time.Now()
	o, err = m.batch(ctx, b, true)
	if err != nil || o.respawn() {
		return o, true, err
	}
	refusal := o
	if s, _, _ := judge(o, true); s == share.StatusPartial {
		// The import was declined: what comes before it is measured all the same.
		b.ExportOnly = true
		if o, err = m.batch(ctx, b, true); err != nil || !o.fine() {
			return o, true, err
		}
	} else if !o.fine() {
		return o, true, nil
	}
	perCycle := time.Since(began)
	if (m.planned.Case.Live > 0 || m.planned.Case.Peers > 0) && m.granted.why == stats.StopMaxTime {
		// By now what is kept alive was made, which may take long; it is not the time that was given to measure.
		m.started = time.Now()
	}
	for {
		n := m.next(perCycle)
		if n == 0 {
			break
		}
		b.First, b.Cycles, b.Kernels = 1+m.samples.cycles, n, m.kernels
		began = time.Now()
		if o, err = m.batch(ctx, b, false); err != nil || !o.fine() {
			return o, false, err
		}
		perCycle = time.Since(began) / time.Duration(n)
		if ctx.Err() != nil {
			return o, false, ctx.Err()
		}
	}
	if b.ExportOnly {
		return refusal, true, nil
	}
	return o, false, nil
}

// batch runs one batch and takes in its samples, including those of an unfinished cycle that were refused: none.
func (m *measurement) batch(ctx context.Context, b *worker.Batch, first bool) (outcome, error) {
	prod, cons, o, err := m.ends.batch(ctx, b, m.r.batchBound(time.Now(), first))
	if err != nil {
		return o, err
	}
	both := 0
	if prod != nil && cons != nil {
		both = min(len(prod.Cycles), len(cons.Cycles))
	}
	for i := range both {
		m.samples.cycle(prod, cons, &prod.Cycles[i], &cons.Cycles[i], first)
	}
	if prod != nil {
		m.res.Allocated = prod.Allocated
		m.res.Mismatch = prod.Mismatch
		m.res.Exporter = prod.Exporter
		m.rounded = prod.Rounded
	}
	if cons != nil {
		if cons.Mismatch != nil {
			m.res.Mismatch = cons.Mismatch
		}
		if m.res.Exporter == "" {
			m.res.Exporter = cons.Exporter
		}
		own, expected := m.ends.pids(m.consumer.ID)
		if m.res.Before == nil {
			m.res.Before = &cons.Before
			m.res.Before.OtherPIDs = others(m.res.Before.OtherPIDs, own, expected)
		}
		m.res.After = &cons.After
		m.res.After.OtherPIDs = others(m.res.After.OtherPIDs, own, expected)
	}
	return o, nil
}

// batchGrace is what a batch gets beyond the time limit of the run, and the least that it gets.
const batchGrace = 10 * time.Second

// batchBound is how long a batch that begins now may take. Near the end of a run's time limit it is less than the
// timeout of a case, so that a hang does not make the run longer by that; but not for the first batch of a case that
// keeps mappings alive, whose making and giving up may take long.
func (r *Runner) batchBound(now time.Time, first bool) bound {
	c := r.Config
	b := bound{c.CaseTimeout, "--case-timeout"}
	if c.TimeLimit == 0 || first && slices.ContainsFunc(c.Live, func(n int) bool { return n > 0 }) {
		return b
	}
	left := max(0, c.TimeLimit-now.Sub(r.started)).Truncate(time.Second)
	if left+batchGrace < b.time {
		b = bound{left + batchGrace, "what was left of --time-limit, and a grace"}
	}
	return b
}

// openLeast is what opening a device gets whatever the limits: it is the pair's and not the case's.
var openLeast = 10 * time.Second

// openBound is how long opening the devices of a pair may take if it begins now.
func (r *Runner) openBound(now time.Time) bound {
	b := r.batchBound(now, false)
	switch {
	case b.time < openLeast:
		b = bound{openLeast, "the least time to open a device"}
	case b.time > startTimeout:
		b = bound{startTimeout, "the most time to open a device"}
	}
	return b
}

// others leaves the processes on a device that are not our own, of which expected work on it. Where none of our own
// numbers is among them they are of another namespace: then that many of them, whichever, are ours.
func others(pids, own []int, expected int) []int {
	rest := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return slices.Contains(own, pid) })
	if len(rest) == len(pids) {
		return rest[min(len(rest), expected):]
	}
	return rest
}

// next says how many cycles to run now; 0 ends the case. It notes why each metric stopped.
func (m *measurement) next(perCycle time.Duration) int {
	if m.r.Config.TrialOnly {
		return 0
	}
	n := m.samples.cycles
	if n >= m.rule.MinSamples && m.precise() {
		return 0
	}
	limit := m.granted.limit
	if n < m.rule.MinSamples {
		limit = m.granted.floor
	}
	left := limit - time.Since(m.started)
	switch {
	case n >= m.rule.MaxSamples:
		m.stopAll(stats.StopMaxSamples)
		return 0
	case left <= 0 && n > 0:
		m.stopAll(m.granted.why)
		return 0
	}
	want := m.rule.Next(n) - n
	if perCycle > 0 {
		want = min(want, max(1, int(min(left, batchTime)/perCycle)))
	}
	return max(1, min(want, maxBatch, m.rule.MaxSamples-n))
}

// precise looks at every metric and drops the kernels that need no more samples. It reports whether all are precise.
func (m *measurement) precise() bool {
	all := true
	for i := range m.samples.metrics {
		mt := &m.samples.metrics[i]
		if mt.StopReason == stats.StopPrecision {
			continue
		}
		if m.rule.Decide(mt.Samples) == stats.Precise {
			if isKernel(mt.Name) {
				mt.StopReason = stats.StopPrecision
				m.dropKernel(mt.Name)
			}
			continue
		}
		// Steps are kept beside their phases; the phase decides.
		all = all && isStep(mt.Name)
	}
	if all {
		for i := range m.samples.metrics {
			if mt := &m.samples.metrics[i]; m.rule.Decide(mt.Samples) == stats.Precise {
				mt.StopReason = stats.StopPrecision
			}
		}
		m.stopAll(stopWithCase)
	}
	return all
}

// stopAll notes the reason on every metric that has none. A metric that is precise says so whatever ended the case; a
// step that is not precise when its case stopped takes the reason of the case.
func (m *measurement) stopAll(reason stats.StopReason) {
	for i := range m.samples.metrics {
		mt := &m.samples.metrics[i]
		switch {
		case mt.StopReason != "":
		case m.rule.Decide(mt.Samples) == stats.Precise:
			mt.StopReason = stats.StopPrecision
		default:
			mt.StopReason = reason
		}
	}
}

func (m *measurement) dropKernel(metric string) {
	var rest []share.Kernel
	for _, k := range m.kernels {
		if "kernel/"+string(k) != metric {
			rest = append(rest, k)
		}
	}
	m.kernels = rest
}

// finish judges the case and writes what was found into its result.
func (m *measurement) finish(o outcome, trial bool, err error) {
	res := m.res
	res.Status, res.Reason, res.Phase = judge(o, trial)
	if err != nil {
		res.Status, res.Reason = share.StatusInterrupted, "the run was stopped"
		if !errors.Is(err, context.Canceled) {
			res.Reason = fmt.Sprintf("the run was stopped: %v", err)
		}
	}
	m.annotate(res)
	if res.Status == share.StatusUnsupported {
		res.Before, res.After = nil, nil
	}
	res.Metrics, res.IdleNs = m.samples.metrics, m.samples.idle
	res.Warnings = m.r.warnings(res, m.rounded)
}

// annotate adds to the reason what of the run's own doing or of the machine may be behind it.
func (m *measurement) annotate(res *results.CaseResult) {
	c := m.r.Config
	if ns := c.Isolate; len(ns) > 0 && res.Status != share.StatusOK && res.Status != share.StatusInterrupted {
		res.Reason += fmt.Sprintf("; each end has namespaces of its own: %s (--isolate)", strings.Join(ns, ", "))
	}
	importing := strings.HasPrefix(res.Phase, share.Import.String()) || strings.HasPrefix(res.Phase, share.Map.String())
	if b := m.ends.blind(); b != "" && importing && res.Status != share.StatusOK {
		res.Reason += "; " + b
	}
	if res.Status == share.StatusCorrupt && m.r.Suspects != nil {
		if s := m.r.Suspects(m.producer, m.consumer); s != "" {
			res.Reason += "; " + s
		}
	}
}
