package share

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

func TestTape(t *testing.T) {
	tape := NewTape(nil)
	tape.Reset(0)
	tape.Record("early", 1, 2, true)
	tape.Enter(Export)
	tape.Record("a", 3, 5, true)
	tape.Record("b", 5, 6, false)
	tape.Enter(Map)
	tape.Record("c", 7, 9, true)
	want := []Span{{NoPhase, "early", 1, 2, true}, {Export, "a", 3, 5, true}, {Export, "b", 5, 6, false}, {Map, "c", 7, 9, true}}
	if got := tape.Spans(); len(got) != len(want) || tape.Phase() != Map || tape.Err() != nil {
		t.Fatalf("%+v, %v, %v", got, tape.Phase(), tape.Err())
	}
	for i, s := range tape.Spans() {
		if s != want[i] {
			t.Errorf("span %d: %+v, want %+v", i, s, want[i])
		}
	}
	for range TapeCapacity {
		tape.Record("more", 0, 1, true)
	}
	if len(tape.Spans()) != TapeCapacity || !errors.Is(tape.Err(), ErrTapeFull) {
		t.Errorf("%d spans, %v", len(tape.Spans()), tape.Err())
	}
	tape.Reset(1)
	if len(tape.Spans()) != 0 || tape.Err() != nil || tape.Phase() != NoPhase {
		t.Error("Reset left something behind")
	}
}

// Recording and telling where a worker is must not allocate: they stand between timed calls.
func TestTapeAllocatesNothing(t *testing.T) {
	tape := NewTape(NewWhere(make([]byte, WhereSize)))
	n := testing.AllocsPerRun(1000, func() {
		tape.Reset(3)
		for _, p := range Phases() {
			tape.Enter(p)
			tape.Starting("cuMemMap")
			tape.Record("cuMemMap", 1, 2, true)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a cycle", n)
	}
}

func TestWhere(t *testing.T) {
	w := NewWhere(make([]byte, WhereSize))
	tape := NewTape(w)
	check := func(phase Phase, cycle int, call string) {
		t.Helper()
		if p, c, s := w.Load(); p != phase || c != cycle || s != call {
			t.Errorf("%v, cycle %d, %q; want %v, %d, %q", p, c, s, phase, cycle, call)
		}
	}
	check(NoPhase, 0, "")
	tape.Reset(12)
	check(NoPhase, 12, "")
	tape.Enter(Import)
	check(Import, 12, "")
	tape.Starting("cuImportExternalMemory")
	check(Import, 12, "cuImportExternalMemory")
	tape.Enter(Map)
	check(Map, 12, "")
	tape.Starting(strings.Repeat("x", 200))
	check(Map, 12, strings.Repeat("x", WhereSize-9))
	tape.Reset(13)
	check(NoPhase, 13, "")
	tape.Reset(1<<32 - 1)
	check(NoPhase, 1<<32-1, "")
}

// The other process may write anything: reading stays within the memory.
func TestWhereHostile(t *testing.T) {
	mem := make([]byte, WhereSize)
	for i := range mem {
		mem[i] = 0xff
	}
	p, cycle, call := NewWhere(mem).Load()
	if len(call) != WhereSize-9 || p.String() != "phase(255)" || cycle != 1<<32-1 {
		t.Errorf("%v %d %q", p, cycle, call)
	}
}

// A reader in another thread sees a phase and a cycle that belong together.
func TestWhereIsOneWord(t *testing.T) {
	w := NewWhere(make([]byte, WhereSize))
	var stop atomic.Bool
	done := make(chan string)
	go func() {
		bad := ""
		for !stop.Load() {
			v := w.word().Load()
			if p, cycle := Phase(v&0xff), v>>8; p != NoPhase && uint64(p) != cycle {
				bad = p.String()
			}
		}
		done <- bad
	}()
	for range 20000 {
		for _, p := range Phases() {
			w.set(NoPhase, int(p))
			w.enter(p)
		}
	}
	stop.Store(true)
	if bad := <-done; bad != "" {
		t.Errorf("phase %s with another's cycle", bad)
	}
}
