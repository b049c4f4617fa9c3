package bench

import (
	"math/rand/v2"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// The counts that are kept are those that counting anew after every case gives.
func TestCostly(t *testing.T) {
	g := Group{}
	for _, path := range []string{"a", "b", "c", "d"} {
		for size := range int64(5) {
			p := Planned{Case: share.Case{Path: path, Size: size}}
			if size == 4 && path != "a" {
				p.Refuse = "does not fit"
			}
			g.Cases = append(g.Cases, p)
		}
	}
	for seed := range uint64(20) {
		r := &Runner{Config: &Config{Repeats: 2}, Plan: &Plan{Groups: []Group{g}}, Done: map[results.Key]share.Status{}}
		r.Done[results.Key{Case: g.Cases[1].Case}] = share.StatusOK // of a run that is resumed
		r.Record = func(results.CaseResult) error { return nil }
		out := &Outcome{Counts: map[share.Status]int{}}
		if n := r.costly.left(r); n != 2*17-1 {
			t.Fatalf("%g left at first", n)
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		for repeat := range 2 {
			for _, i := range rnd.Perm(len(g.Cases)) {
				p := g.Cases[i]
				if r.done(results.Key{Case: p.Case, Repeat: repeat}) {
					continue
				}
				res := &results.CaseResult{Case: p.Case, Repeat: repeat, Status: share.StatusOK}
				if p.Refuse != "" || p.Case.Path == "b" || p.Case.Path == "c" && p.Case.Size == 0 {
					res.Status = share.StatusUnsupported
				}
				if err := r.record(p, res, out); err != nil {
					t.Fatal(err)
				}
				anew := costly{granted: r.costly.granted, yes: r.costly.yes, no: r.costly.no}
				if got, want := r.costly.left(r), anew.left(r); got != want {
					t.Fatalf("seed %d, after %+v: %g left, want %g", seed, p, got, want)
				}
			}
		}
		if n := r.costly.left(r); n != 0 {
			t.Errorf("seed %d: %g left at the end", seed, n)
		}
	}
}
