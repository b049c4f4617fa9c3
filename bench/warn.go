package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Codes of warnings. docs/method.md explains each and says what to do.
const (
	WarnCorrelated = "correlated"   // consecutive samples resemble each other
	WarnDrift      = "drift"        // the second half of the samples differs from the first
	WarnBimodal    = "bimodal"      // the samples fall into two groups
	WarnFew        = "few-samples"  // less than the floor
	WarnImprecise  = "imprecise"    // the interval is wider than was asked for
	WarnCoarse     = "coarse-timer" // the samples are few ticks of the clock
	WarnCached     = "cached"       // a bandwidth above the memory's physical peak
	WarnThrottled  = "throttled"    // the device's clocks were held back
	WarnShared     = "shared-gpu"   // other processes computed on the device
	WarnScaling    = "cpu-scaling"  // the processors' frequency is scaled
	WarnBusy       = "busy-machine" // the hypervisor took processor time away
	WarnIdle       = "idle-wake"    // transfer follows how long the receiver waited
	WarnSuspended  = "suspended"    // the machine slept during the case
	WarnRounded    = "rounded"      // more is shared than was asked for
	WarnStalled    = "stalled"      // one sample took so long that the process or the machine must have been stopped
)

// stealLimit is the share of processor time that may be stolen without a warning.
const stealLimit = 0.02

// suspendLimit is more than two clocks that are read one after the other can differ by.
const suspendLimit = 100 * time.Millisecond

// tickLimit is the number of clock ticks a median must have for the clock not to matter at 2 % precision.
const tickLimit = 50

// A sample above both is marked: no sharing call takes so much longer than it usually does.
const (
	stallNs     = 100e6
	stallFactor = 50
)

// warnings judges the samples of a case. rounded is what its producer says of a range that was rounded, "" if none was.
func (r *Runner) warnings(res *results.CaseResult, rounded string) []results.Warning {
	var ws []results.Warning
	warn := func(code, metric, format string, args ...any) {
		ws = append(ws, results.Warning{Code: code, Metric: metric, Text: fmt.Sprintf(format, args...)})
	}
	for i := range res.Metrics {
		if m := &res.Metrics[i]; !isStep(m.Name) && len(m.Samples) > 0 {
			r.metricWarnings(m, res.Case.Size, warn)
			r.cacheWarning(res, m, warn)
		}
	}
	if rho := idleCorrelation(res); rho > 0.5 {
		advice := "compare with --receiver polling"
		if res.Case.Receiver == share.ReceiverPolling {
			advice = "it polled, so look at the idle states and the frequency of its processor, and at what ran beside it"
		}
		warn(WarnIdle, share.Transfer.String(), "transfer follows how long the receiver had waited (rank correlation %.2f over %d cycles); %s", rho, len(res.IdleNs), advice)
	}
	r.machineWarnings(res, warn)
	if rounded != "" && len(res.Metrics) > 0 {
		warn(WarnRounded, "", "%s", rounded)
	}
	return ws
}

type warnFunc func(code, metric, format string, args ...any)

// metricWarnings judges one metric of a case of size bytes by itself.
func (r *Runner) metricWarnings(m *results.Metric, size int64, warn warnFunc) {
	n := len(m.Samples)
	s, err := stats.Summarize(m.Samples)
	if err != nil {
		return
	}
	if n < r.Config.MinSamples {
		if m.StopReason == "" {
			warn(WarnFew, m.Name, "%s, fewer than the floor of %d: the case ended early", samples(n), r.Config.MinSamples)
			return
		}
		warn(WarnFew, m.Name, "%s, fewer than the floor of %d (%s); give it more time with --max-time or --time-limit", samples(n), r.Config.MinSamples, m.StopReason)
		return
	}
	if achieved := s.CI.RelativeHalfWidth(s.Median); m.StopReason != stats.StopPrecision && achieved > r.Config.Precision {
		why := "stopped by " + string(m.StopReason)
		if m.StopReason == "" {
			why = "the case ended early"
		}
		warn(WarnImprecise, m.Name, "median known to ±%.1f %%, not ±%.1f %% (%s after %d samples)", 100*achieved, 100*r.Config.Precision, why, n)
	}
	if s.Lag1 > 0.5 {
		warn(WarnCorrelated, m.Name, "consecutive samples resemble each other (lag-1 correlation %.2f); %d samples are worth %.0f", s.Lag1, n, max(1, s.EffectiveN))
	}
	if d, err := stats.FindDrift(m.Samples); err == nil && d.Drifted() {
		warn(WarnDrift, m.Name, "the second half of the samples is %+.1f %% against the first; the machine had not settled", 100*d.Relative)
	}
	if d, err := stats.FindModes(m.Samples); err == nil && d.Bimodal() {
		warn(WarnBimodal, m.Name, "the samples fall into two groups around %s and %s; the median may lie in either (see the distribution)",
			results.FormatQuantity(d.Low, m.Unit), results.FormatQuantity(d.High, m.Unit))
	}
	if longest, times := stall(m.Unit, s, size); longest > stallNs && times > stallFactor {
		warn(WarnStalled, m.Name, "one sample took %.2g s, %.0f times the median: the process or the machine was stopped, or very busy, for a while", longest/1e9, times)
	}
	if m.Unit == results.Nanoseconds && s.Tick > 1 && s.Median < tickLimit*s.Tick && quantised(m.Samples) {
		warn(WarnCoarse, m.Name, "the clock's step of %.0f ns is %.1f %% of the median", s.Tick, 100*s.Tick/s.Median)
	}
}

// quantised reports whether most samples are equal to another one, as those of a coarse clock are. The smallest step between
// a few samples of a fine one is no step of the clock.
func quantised(samples []float64) bool {
	x := slices.Sorted(slices.Values(samples))
	return len(slices.Compact(x)) <= len(samples)/2
}

func samples(n int) string {
	if n == 1 {
		return "1 sample"
	}
	return fmt.Sprintf("%d samples", n)
}

// stall is the time of the longest sample, in nanoseconds, and how many times the median that is.
func stall(unit string, s stats.Summary, size int64) (longest, times float64) {
	if unit == results.BytesPerSecond {
		return float64(size) / s.Min * 1e9, s.Median / s.Min
	}
	return s.Max, s.Max / s.Median
}

// cacheWarning marks a bandwidth that the memory cannot have.
func (r *Runner) cacheWarning(res *results.CaseResult, m *results.Metric, warn warnFunc) {
	if m.Unit != results.BytesPerSecond {
		return
	}
	for _, d := range r.Plan.Devices {
		if d.ID != res.Case.Producer || d.PeakBytes <= 0 {
			continue
		}
		if median := stats.Quantile(m.Samples, 0.5); median > d.PeakBytes {
			warn(WarnCached, m.Name, "%.0f GB/s is above the memory's physical peak of %.0f GB/s: this was the cache", median/1e9, d.PeakBytes/1e9)
		}
	}
}

// machineWarnings judges the machine's state during the case.
func (r *Runner) machineWarnings(res *results.CaseResult, warn warnFunc) {
	if len(res.Metrics) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, st := range []*share.DeviceState{res.Before, res.After} {
		if st == nil {
			continue
		}
		if reasons := strings.Join(st.Throttle, ", "); reasons != "" && !seen[reasons] {
			seen[reasons] = true
			warn(WarnThrottled, "", "the GPU's clocks were held back: %s", reasons)
		}
		if len(st.OtherPIDs) > 0 && !seen[WarnShared] {
			seen[WarnShared] = true
			warn(WarnShared, "", "other processes used the GPU: %v", st.OtherPIDs)
		}
	}
	if r.Load != nil {
		now := r.Load()
		if now.Total > r.load.Total {
			if share := float64(now.Steal-r.load.Steal) / float64(now.Total-r.load.Total); share > stealLimit {
				warn(WarnBusy, "", "the hypervisor took %.1f %% of the processor time during the case", 100*share)
			}
		}
		if slept := now.Suspended - r.load.Suspended; slept > suspendLimit {
			warn(WarnSuspended, "", "the machine was suspended for %s during the case", slept.Round(time.Second/10))
		}
	}
	if r.Scaling {
		warn(WarnScaling, "", "the processors' frequency is scaled; short phases may run at a low clock")
	}
}

// idleCorrelation is the rank correlation of transfer with the receiver's idle time; 0 where it can't be told.
func idleCorrelation(res *results.CaseResult) float64 {
	for _, m := range res.Metrics {
		if m.Name == share.Transfer.String() && len(m.Samples) == len(res.IdleNs) && len(m.Samples) >= 20 {
			if rho := stats.Spearman(res.IdleNs, m.Samples); !math.IsNaN(rho) {
				return rho
			}
		}
	}
	return 0
}
