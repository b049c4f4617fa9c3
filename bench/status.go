package bench

import (
	"fmt"
	"time"

	"gpushare-bench/bench/worker"
	"gpushare-bench/share"
)

// outcome is what a batch came to, seen from both ends.
type outcome struct {
	producer, consumer *worker.Problem // nil: this end has no complaint
	timedOut           bool            // a batch did not end in time and both ends were killed
	bound              bound           // the time that it had
	died               string          // which end died and how; "" if none did
	where              string          // phase, and call if known, of the end that hung or died
	mesh               *worker.Problem // why the mesh did not come about or could not be given up
	member             string          // whose problem that is
}

// bound is how long a batch may take, and the flag that says so.
type bound struct {
	time time.Duration
	flag string
}

// fine reports whether nothing went wrong.
func (o outcome) fine() bool {
	return o.producer == nil && o.consumer == nil && o.mesh == nil && !o.timedOut && o.died == ""
}

// respawn reports whether the two processes can't be used any more.
func (o outcome) respawn() bool { return o.timedOut || o.died != "" }

// judge turns an outcome into the case's status, the reason for it and the phase in which it ended. trial says that no
// cycle of the case has succeeded before: only then is a refusal the system's way of saying "not here".
func judge(o outcome, trial bool) (s share.Status, reason, phase string) {
	switch {
	case o.timedOut:
		return share.StatusTimeout, fmt.Sprintf("no answer within %s (%s)%s", o.bound.time, o.bound.flag, in(o.where)), o.where
	case o.died != "":
		return share.StatusFailed, o.died + in(o.where), o.where
	case o.fine():
		return share.StatusOK, "", ""
	case o.mesh != nil:
		return judgeMesh(o.mesh, o.member)
	}
	for _, p := range []*worker.Problem{o.consumer, o.producer} {
		if p != nil && p.Corrupt { // whatever the other end makes of it
			return share.StatusCorrupt, p.Text, p.Phase
		}
	}
	// The end that gave up only because the other did has nothing to say.
	p, who, refused := o.producer, "producer", share.StatusUnsupported
	if p == nil || p.Peer {
		p, who, refused = o.consumer, "consumer", share.StatusPartial
	}
	if p == nil || p.Peer && o.producer != nil {
		p, who = o.producer, "producer"
	}
	switch {
	case p.Limit && trial:
		// The condition that was to be measured under can't be brought about: nothing of the case is.
		return share.StatusUnsupported, p.Text, p.Phase
	case p.Refused && trial && p.Phase == share.Transfer.String():
		// No handle arrives: the way it was to travel is declined, not the path's second half.
		return share.StatusUnsupported, p.Text, p.Phase
	case p.Refused && trial:
		return refused, p.Text, p.Phase
	}
	return share.StatusFailed, fmt.Sprintf("%s: %s", who, p.Text), p.Phase
}

// judgeMesh is judge for what a member of a mesh says. A mesh that the system declines is a condition that can't be brought
// about: nothing of the case is measured.
func judgeMesh(p *worker.Problem, member string) (s share.Status, reason, phase string) {
	s, reason = share.StatusFailed, fmt.Sprintf("%s: %s", member, p.Text)
	switch {
	case p.Corrupt:
		s = share.StatusCorrupt
	case p.Limit:
		s, reason = share.StatusUnsupported, "the processes can't all map each other's memory: "+reason
	}
	return s, reason, p.Phase
}

func in(where string) string {
	if where == "" {
		return ""
	}
	return " in " + where
}
