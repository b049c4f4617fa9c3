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
}

// way is a case without what does not decide whether the system grants it.
func way(c share.Case) share.Case {
	c.Size, c.Receiver, c.Cache, c.Live = 0, "", "", 0
	return c
}

// note learns from a finished case.
func (k *costly) note(res *results.CaseResult) {
	if k.granted == nil {
		k.granted = map[share.Case]bool{}
	}
	w := way(res.Case)
	if _, known := k.granted[w]; !known {
		k.granted[w] = res.Status != share.StatusUnsupported
		if k.granted[w] {
			k.yes++
		} else {
			k.no++
		}
	}
}

// left is the expected number of cases still to be measured at length: all of the ways that were granted, none of those
// that were declined, and of the others the share that was granted so far.
func (k *costly) left(r *Runner) float64 {
	share := (float64(k.yes) + 1) / (float64(k.yes+k.no) + 1)
	var n float64
	for repeat := range r.Config.Repeats {
		for _, p := range r.Plan.Cases() {
			if p.Refuse != "" || r.done(results.Key{Case: p.Case, Repeat: repeat}) {
				continue
			}
			granted, known := k.granted[way(p.Case)]
			switch {
			case !known:
				n += share
			case granted:
				n++
			}
		}
	}
	return n
}
