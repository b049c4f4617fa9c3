package bench

import (
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// costly estimates how many of the cases that are left will take their time. Most of a plan may be declined within
// milliseconds; sharing the time limit among all cases alike would starve those that are measured.
type costly struct {
	granted map[share.Case]bool // by way: whether one of its sizes was granted
	yes, no int                 // ways granted and declined so far

	open           map[share.Case]int // by way: cases still to be measured; nil until they are first asked for
	known, unknown int                // of these, those of ways that were granted, and of ways not tried yet
}

// way is a case without what does not decide whether the system grants it.
func way(c share.Case) share.Case {
	c.Size, c.Receiver, c.Cache, c.Live = 0, "", "", 0
	return c
}

// note learns from a finished case. One that the plan refused says nothing about its way.
func (k *costly) note(p Planned, res *results.CaseResult) {
	if p.Refuse != "" {
		return
	}
	if k.granted == nil {
		k.granted = map[share.Case]bool{}
	}
	w := way(res.Case)
	if _, known := k.granted[w]; !known {
		k.granted[w] = res.Status != share.StatusUnsupported
		k.unknown -= k.open[w]
		if k.granted[w] {
			k.yes++
			k.known += k.open[w]
		} else {
			k.no++
		}
	}
	if res.Status != share.StatusInterrupted && k.open[w] > 0 {
		k.open[w]--
		if k.granted[w] {
			k.known--
		}
	}
}

// left is the expected number of cases still to be measured at length: all of the ways that were granted, none of those
// that were declined, and of the others the share that was granted so far.
func (k *costly) left(r *Runner) float64 {
	if k.open == nil {
		k.count(r)
	}
	share := (float64(k.yes) + 1) / (float64(k.yes+k.no) + 1)
	return float64(k.known) + share*float64(k.unknown)
}

// count counts the cases still to be measured, once a run; note keeps the counts.
func (k *costly) count(r *Runner) {
	k.open = map[share.Case]int{}
	for repeat := range r.Config.Repeats {
		for _, p := range r.Plan.Cases() {
			if p.Refuse != "" || r.done(results.Key{Case: p.Case, Repeat: repeat}) {
				continue
			}
			w := way(p.Case)
			k.open[w]++
			switch granted, tried := k.granted[w]; {
			case !tried:
				k.unknown++
			case granted:
				k.known++
			}
		}
	}
}
