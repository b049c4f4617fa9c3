package dl

import (
	"fmt"
	"slices"
	"structs"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Timed is the argument block of one timed call. A thread that measures
// allocates one with [NewTimed] and uses it again and again; a call allocates
// nothing. It is not safe for concurrent use and must not be copied.
type Timed struct {
	_ structs.HostLayout // the assembly reads it by offsets

	clock         uintptr // clock_gettime
	errnoLocation uintptr // __errno_location

	fn                             uintptr
	a0, a1, a2, a3, a4, a5, a6, a7 uintptr

	result     uintptr
	start, end timespec
	errno      int32

	self [1]uintptr // the block's own address: an argument list made once
}

// timespec is struct timespec of 64-bit Linux.
type timespec struct{ sec, nsec int64 }

func (ts timespec) nanoseconds() int64 { return ts.sec*1e9 + ts.nsec }

// timedCode and emptyCode hold the addresses of the assembly routines timed and
// empty. Both have the C calling convention and are never called as Go functions.
var timedCode, emptyCode uintptr

// NewTimed returns a block ready for use. It fails only where the C library
// lacks clock_gettime or __errno_location, that is, where it is not glibc.
func NewTimed() (*Timed, error) {
	libc, err := Libc()
	if err != nil {
		return nil, fmt.Errorf("prepare timed calls: %w", err)
	}
	t := new(Timed)
	t.self[0] = uintptr(unsafe.Pointer(t))
	if t.clock, err = libc.Symbol("clock_gettime"); err != nil {
		return nil, fmt.Errorf("prepare timed calls: %w", err)
	}
	if t.errnoLocation, err = libc.Symbol("__errno_location"); err != nil {
		return nil, fmt.Errorf("prepare timed calls: %w", err)
	}
	return t, nil
}

// Call calls the C function at fn with six integer or pointer arguments (pass
// 0 for those it does not have) and returns its integer result. A pointer must
// be converted to uintptr in the argument list itself; see the package
// documentation. Afterwards [Timed.Start] and [Timed.End] are the readings
// around the call. It panics when fn is 0.
//
//go:uintptrescapes
func (t *Timed) Call(fn, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	t.a0, t.a1, t.a2, t.a3, t.a4, t.a5 = a0, a1, a2, a3, a4, a5
	return t.call(fn)
}

// Call8 is [Timed.Call] for functions with seven or eight arguments.
//
//go:uintptrescapes
func (t *Timed) Call8(fn, a0, a1, a2, a3, a4, a5, a6, a7 uintptr) uintptr {
	t.a0, t.a1, t.a2, t.a3, t.a4, t.a5, t.a6, t.a7 = a0, a1, a2, a3, a4, a5, a6, a7
	return t.call(fn)
}

func (t *Timed) call(fn uintptr) uintptr {
	if fn == 0 {
		panic("dl: timed call of a nil function")
	}
	t.fn = fn
	purego.SyscallN(timedCode, t.self[:]...)
	return t.result // which also keeps t alive during the call
}

// Start returns the reading of CLOCK_MONOTONIC before the last call, in
// nanoseconds since an arbitrary point that all processes of the machine share.
func (t *Timed) Start() int64 { return t.start.nanoseconds() }

// End returns the reading of CLOCK_MONOTONIC after the last call, in nanoseconds.
func (t *Timed) End() int64 { return t.end.nanoseconds() }

// Errno returns errno as the last call left it. It means something only when
// that call reported failure: C functions do not clear errno on success.
func (t *Timed) Errno() syscall.Errno { return syscall.Errno(t.errno) }

// Overhead makes n timed calls of a C function that only returns and gives the
// median, the 99th percentile and the minimum of their spans in nanoseconds:
// the part of every span that is not the call. n must be at least 1.
func (t *Timed) Overhead(n int) (median, p99, min int64) {
	spans := make([]int64, n)
	for i := range spans {
		t.Call(emptyCode, 0, 0, 0, 0, 0, 0)
		spans[i] = t.End() - t.Start()
	}
	slices.Sort(spans)
	return spans[(n-1)/2], spans[(n-1)*99/100], spans[0]
}
