package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench/worker"
	"gpushare-bench/share"
)

// The status of every combination of what both ends may say; the golden file is the table.
func TestJudge(t *testing.T) {
	problems := []struct {
		name string
		p    *worker.Problem
	}{
		{"fine", nil},
		{"peer", &worker.Problem{Text: "the other end gave up", Peer: true, Phase: "transfer"}},
		{"refused", &worker.Problem{Text: "no", Refused: true, Phase: "map"}},
		{"no transport", &worker.Problem{Text: "no", Refused: true, Phase: "transfer"}},
		{"limit", &worker.Problem{Text: "no more", Limit: true, Phase: "allocate"}},
		{"corrupt", &worker.Problem{Text: "wrong", Corrupt: true}},
		{"error", &worker.Problem{Text: "broken", Phase: "map"}},
	}
	var table strings.Builder
	line := func(name string, o outcome, trial bool) {
		s, reason, phase := judge(o, trial)
		if !s.Valid() || (reason == "") != o.fine() {
			t.Errorf("%s: %s %q", name, s, reason)
		}
		fmt.Fprintf(&table, "%-44s %-11s %-40s %s\n", name, s, reason, phase)
	}
	for _, trial := range []bool{true, false} {
		when := map[bool]string{true: "trial", false: "later"}[trial]
		for _, p := range problems {
			for _, c := range problems {
				line(fmt.Sprintf("%s: producer %s, consumer %s", when, p.name, c.name), outcome{producer: p.p, consumer: c.p}, trial)
			}
		}
		line(when+": hangs", outcome{timedOut: true, bound: bound{time.Minute, "--case-timeout"}, where: "map/x of the consumer, cycle 1"}, trial)
		line(when+": hangs somewhere", outcome{timedOut: true, bound: bound{time.Minute, "--case-timeout"}}, trial)
		line(when+": died", outcome{died: "consumer exited with status 7", where: "map"}, trial)
		line(when+": died, and the other end noticed", outcome{died: "consumer exited with status 7", producer: problems[1].p}, trial)
		line(when+": hangs and died", outcome{timedOut: true, bound: bound{time.Minute, "--case-timeout"}, died: "x", where: "map"}, trial)
	}
	golden(t, "judge.golden", table.String())
}

// A hang outside the phases has a place too: the work that is not timed is named.
func TestPlace(t *testing.T) {
	w, f, err := worker.NewWhere()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	defer w.Close()
	p := &process{role: worker.RoleConsumer, where: w}
	tape := share.NewTape(w.Where)
	for _, c := range []struct {
		cycle int
		phase share.Phase
		call  string
		want  string
	}{
		{1, share.NoPhase, "", ""},
		{1, share.NoPhase, "verify", "verify of the consumer, cycle 1"},
		{2, share.Map, "", "map of the consumer, cycle 2"},
		{3, share.Map, "cuMemMap", "map/cuMemMap of the consumer, cycle 3"},
		{-4, share.Map, "", "map of the consumer, cycle -4"}, // of what is kept alive
	} {
		tape.Reset(c.cycle)
		tape.Enter(c.phase)
		if c.call != "" {
			tape.Starting(c.call)
		}
		if got := p.place(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
