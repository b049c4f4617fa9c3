package share

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Span is one timed call.
type Span struct {
	Phase      Phase
	Call       string // the driver call or system call, "cuMemMap"; a constant, never built at run time
	Start, End int64  // nanoseconds on CLOCK_MONOTONIC, read immediately before and after the call
	OK         bool   // false: the call was refused or failed; the span is no sample
}

// TapeCapacity is the most spans that one cycle can record.
const TapeCapacity = 48

// ErrTapeFull is returned by Err when a cycle made more timed calls than TapeCapacity.
var ErrTapeFull = errors.New("tape full: a cycle recorded more timed calls than it may")

// Tape holds the spans of one cycle. It is allocated once and reused; recording allocates nothing. A tape belongs to
// one goroutine.
type Tape struct {
	phase Phase
	n     int
	lost  int
	spans [TapeCapacity]Span
	where *Where
}

// NewTape returns an empty tape. where may be nil; otherwise it is told what is going on, so that a process that had to
// be killed leaves behind the name of the call in which it hung.
func NewTape(where *Where) *Tape { return &Tape{where: where} }

// Reset empties the tape for the given cycle.
func (t *Tape) Reset(cycle int) {
	t.phase, t.n, t.lost = NoPhase, 0, 0
	if t.where != nil {
		t.where.set(NoPhase, cycle)
	}
}

// Enter says that the calls that follow belong to p.
func (t *Tape) Enter(p Phase) {
	t.phase = p
	if t.where != nil {
		t.where.enter(p)
	}
}

// Phase is the phase that the last Enter named.
func (t *Tape) Phase() Phase { return t.phase }

// Starting says that call is about to be made. It is outside the timed region.
func (t *Tape) Starting(call string) {
	if t.where != nil {
		t.where.starting(call)
	}
}

// Record notes a call that was made. Stamps are nanoseconds on CLOCK_MONOTONIC.
func (t *Tape) Record(call string, start, end int64, ok bool) {
	if t.n == len(t.spans) {
		t.lost++
		return
	}
	t.spans[t.n] = Span{Phase: t.phase, Call: call, Start: start, End: end, OK: ok}
	t.n++
}

// Spans returns what was recorded since Reset. The slice is valid until the next Reset.
func (t *Tape) Spans() []Span { return t.spans[:t.n] }

// Err is ErrTapeFull if spans were lost.
func (t *Tape) Err() error {
	if t.lost > 0 {
		return ErrTapeFull
	}
	return nil
}

// WhereSize is the number of bytes of shared memory that a Where occupies.
const WhereSize = 64

// Where is a worker's progress word: phase, cycle and the call being made, kept in memory that the runner shares.
// Writing costs a few nanoseconds and no system call; the runner reads it after it killed a worker that did not answer.
type Where struct{ mem []byte }

// NewWhere uses mem, at least WhereSize bytes, 8-byte aligned, typically a shared mapping.
func NewWhere(mem []byte) *Where { return &Where{mem: mem[:WhereSize:WhereSize]} }

func (w *Where) word() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&w.mem[0])) }

func (w *Where) set(p Phase, cycle int) {
	w.word().Store(uint64(uint32(cycle))<<8 | uint64(p))
	w.mem[8] = 0
}

func (w *Where) enter(p Phase) {
	w.word().Store(w.word().Load()&^0xff | uint64(p))
	w.mem[8] = 0
}

func (w *Where) starting(call string) {
	n := copy(w.mem[9:], call)
	w.mem[8] = byte(n)
}

// Load says in which phase and cycle the worker is and which call it made last ("" if none in this phase).
func (w *Where) Load() (p Phase, cycle int, call string) {
	v := w.word().Load()
	n := min(int(w.mem[8]), WhereSize-9)
	return Phase(v & 0xff), int(uint32(v >> 8)), string(w.mem[9 : 9+n])
}
