package cuda

import (
	"fmt"
	"structs"

	"gpushare-bench/internal/dl"
)

// A Recorder is told about the calls of a [Thread].
type Recorder interface {
	// Starting is called before the first stamp. call is the function's name in
	// the driver manual, such as "cuMemMap": a constant, not built at run time.
	Starting(call string)
	// Record is called after the second stamp, with the readings of
	// CLOCK_MONOTONIC in nanoseconds immediately before and after the call, and
	// whether the driver returned CUDA_SUCCESS.
	Record(call string, start, end int64, ok bool)
}

// A Thread makes driver calls for one OS thread, each between two readings of
// the clock. It is not safe for concurrent use. CUDA contexts are current to an
// OS thread: lock the goroutine to its thread before [Thread.CtxSetCurrent].
type Thread struct {
	// Recorder is told about every call; nil records nothing.
	Recorder Recorder

	lib   *Lib
	timed *dl.Timed
	mem   scratch
}

// scratch is the memory for results and structures that the driver reads or
// writes. It is part of a Thread, so a call needs to allocate nothing.
type scratch struct {
	_ structs.HostLayout

	word      [2]uint64 // handles, addresses, sizes
	fd        int32
	ms        float32
	key       [64]byte
	prop      allocationProp
	access    [maxAccess]accessDesc
	extHandle externalMemoryHandleDesc
	extBuffer externalMemoryBufferDesc
	pool      poolProps
	cells     [maxParams]uint64  // values of kernel parameters
	params    [maxParams]uintptr // addresses of cells
	spread    spreadArgs
}

// NewThread returns a Thread that calls lib. It fails only where the C library
// is not glibc.
//
//go:noinline
func NewThread(lib *Lib) (*Thread, error) {
	// Not inlined, so that the result is on the heap, where it does not move
	// while the driver writes to it.
	timed, err := dl.NewTimed()
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	return &Thread{lib: lib, timed: timed}, nil
}

// Lib returns the library that the thread calls.
func (t *Thread) Lib() *Lib { return t.lib }

// Overhead makes n timed calls of an empty function and returns the median,
// 99th percentile and minimum of their spans in nanoseconds: the part of each
// recorded span that is not the driver's.
func (t *Thread) Overhead(n int) (median, p99, min int64) { return t.timed.Overhead(n) }

// call makes a timed call and reports it. Pointers among the arguments must be
// converted in the argument list itself.
//
//go:uintptrescapes
func (t *Thread) call(f fn, a0, a1, a2, a3, a4, a5 uintptr) Result {
	addr := t.lib.addr[f]
	if addr == 0 {
		return resultNoSymbol
	}
	if t.Recorder != nil {
		t.Recorder.Starting(names[f])
	}
	r := Result(int32(t.timed.Call(addr, a0, a1, a2, a3, a4, a5)))
	if t.Recorder != nil {
		t.Recorder.Record(names[f], t.timed.Start(), t.timed.End(), r == Success)
	}
	return r
}
