package dl

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

func newTimed(t testing.TB) *Timed {
	t.Helper()
	timed, err := NewTimed()
	if err != nil {
		t.Fatal(err)
	}
	return timed
}

func TestArgumentsArriveInOrder(t *testing.T) {
	lib, timed := fixture(t), newTimed(t)
	digits8, digits11, sum := symbol(t, lib, "digits8"), symbol(t, lib, "digits11"), symbol(t, lib, "sum")
	if got := timed.Call8(digits8, 1, 2, 3, 4, 5, 6, 7, 8); got != 12345678 {
		t.Errorf("Call8: got %d, want 12345678", got)
	}
	if got := timed.Call(sum, 5, 1, 20, 300, 4000, 50000); got != 54321 {
		t.Errorf("timed variadic call: got %d, want 54321", got)
	}
	if got := Call(digits8, 1, 2, 3, 4, 5, 6, 7, 8); got != 12345678 {
		t.Errorf("Call: got %d, want 12345678", got)
	}
	want := uintptr(((12345678*11+9)*11+10)*11 + 11)
	if got := Call(digits11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); got != want {
		t.Errorf("Call with 11 arguments: got %d, want %d", got, want)
	}
}

func TestResultIsSixtyFourBits(t *testing.T) {
	timed := newTimed(t)
	big := uintptr(0xfedcba9876543210)
	if got := timed.Call8(symbol(t, fixture(t), "digits8"), 0, 0, 0, 0, 0, 0, 0, big); got != big {
		t.Errorf("got %#x, want %#x", got, big)
	}
}

func TestCallingConvention(t *testing.T) {
	lib, timed := fixture(t), newTimed(t)
	if got := timed.Call(symbol(t, lib, "misalignment"), 0, 0, 0, 0, 0, 0); got != 0 {
		t.Errorf("the stack is %d bytes off its alignment at the call", got)
	}
	if got := timed.Call(symbol(t, lib, "scratch"), 0, 0, 0, 0, 0, 0); got != 42 {
		t.Errorf("with scratch registers overwritten: got %d, want 42", got)
	}
	if timed.Start() > timed.End() || timed.Start() == 0 {
		t.Errorf("with scratch registers overwritten: start %d, end %d", timed.Start(), timed.End())
	}
	timed.fn = symbol(t, lib, "scratch")
	if lost := Call(symbol(t, lib, "keeps"), timedCode, uintptr(unsafe.Pointer(timed))); lost != 0 {
		t.Errorf("registers that belong to the caller are lost: mask %#b", lost)
	}
}

func TestErrnoOfAFailingCall(t *testing.T) {
	lib, timed := libc(t), newTimed(t)
	if r := int32(timed.Call(symbol(t, lib, "close"), ^uintptr(0), 0, 0, 0, 0, 0)); r != -1 {
		t.Fatalf("close(-1) = %d, want -1", r)
	}
	if timed.Errno() != syscall.EBADF {
		t.Errorf("close(-1): errno %v, want %v", timed.Errno(), syscall.EBADF)
	}
	path := CString("/nowhere/file")
	if r := int32(timed.Call(symbol(t, lib, "open"), uintptr(unsafe.Pointer(path)), 0, 0, 0, 0, 0)); r != -1 {
		t.Fatalf("open of an absent file = %d, want -1", r)
	}
	if timed.Errno() != syscall.ENOENT {
		t.Errorf("open of an absent file: errno %v, want %v", timed.Errno(), syscall.ENOENT)
	}
}

func TestPointersReachTheHeap(t *testing.T) {
	timed := newTimed(t)
	gettime := symbol(t, libc(t), "clock_gettime")
	var now timespec // on the stack, but for go:uintptrescapes
	if r := int32(timed.Call(gettime, 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0, 0)); r != 0 {
		t.Fatalf("clock_gettime = %d", r)
	}
	if got := now.nanoseconds(); got < timed.Start() || got > timed.End() {
		t.Errorf("the clock inside the call, %d, is outside [%d, %d]", got, timed.Start(), timed.End())
	}
}

func TestMonotonicIsTheSameClock(t *testing.T) {
	timed := newTimed(t)
	for range 1000 {
		before := Monotonic()
		timed.Call(emptyCode, 0, 0, 0, 0, 0, 0)
		after := Monotonic()
		if before > timed.Start() || timed.Start() > timed.End() || timed.End() > after {
			t.Fatalf("not in order: %d, %d, %d, %d", before, timed.Start(), timed.End(), after)
		}
	}
}

func TestOverheadIsOrdered(t *testing.T) {
	for _, n := range []int{1, 2, 1001} {
		median, p99, least := newTimed(t).Overhead(n)
		if least < 0 || least > median || median > p99 {
			t.Errorf("Overhead(%d): min %d, median %d, p99 %d", n, least, median, p99)
		}
	}
}

func TestNilFunctionPanics(t *testing.T) {
	timed := newTimed(t)
	for name, call := range map[string]func(){
		"Timed.Call": func() { timed.Call(0, 0, 0, 0, 0, 0, 0) },
		"Call":       func() { Call(0) },
		"too many":   func() { Call(emptyCode, make([]uintptr, 16)...) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}

func TestTimedCallAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop blocks at random")
	}
	timed := newTimed(t)
	if n := testing.AllocsPerRun(1000, func() { timed.Call(emptyCode, 1, 2, 3, 4, 5, 6) }); n != 0 {
		t.Errorf("%v allocations per timed call, want 0", n)
	}
	if n := testing.AllocsPerRun(1000, func() { Monotonic() }); n != 0 {
		t.Errorf("%v allocations per clock reading, want 0", n)
	}
}

// TestTimedCallUnderLoad calls from many goroutines while their stacks grow and
// move and the collector runs: a block or an argument that moved would show.
func TestTimedCallUnderLoad(t *testing.T) {
	memcpy := symbol(t, libc(t), "memcpy")
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	stop := make(chan struct{})
	var collector, callers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for g := range 16 {
		callers.Go(func() {
			timed, err := NewTimed()
			if err != nil {
				t.Error(err)
				return
			}
			for i := range rounds {
				if got := copyDeep(timed, memcpy, i%200, uint64(g)<<32|uint64(i)); got != uint64(g)<<32|uint64(i) {
					t.Errorf("goroutine %d, round %d: read %#x", g, i, got)
					return
				}
				if timed.Start() > timed.End() {
					t.Errorf("start %d is after end %d", timed.Start(), timed.End())
					return
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	collector.Wait()
}

// copyDeep has C copy v to another variable below depth frames of stack.
//
//go:noinline
func copyDeep(timed *Timed, memcpy uintptr, depth int, v uint64) uint64 {
	var frame [256]byte
	frame[depth%len(frame)] = byte(depth)
	if depth > 0 {
		return copyDeep(timed, memcpy, depth-1, v) + uint64(frame[depth%len(frame)]) - uint64(byte(depth))
	}
	from, to := v, uint64(0)
	garbage.Store(new([512]byte))
	timed.Call(memcpy, uintptr(unsafe.Pointer(&to)), uintptr(unsafe.Pointer(&from)), unsafe.Sizeof(v), 0, 0, 0)
	return to
}

// garbage gives the collector work.
var garbage atomic.Pointer[[512]byte]

func TestStrings(t *testing.T) {
	strlen := symbol(t, libc(t), "strlen")
	for _, s := range []string{"", "a", "/dev/dma_heap/system"} {
		c := CString(s)
		if n := Call(strlen, uintptr(unsafe.Pointer(c))); int(n) != len(s) {
			t.Errorf("strlen(CString(%q)) = %d", s, n)
		}
		if got := GoString(uintptr(unsafe.Pointer(c))); got != s {
			t.Errorf("GoString(CString(%q)) = %q", s, got)
		}
		runtime.KeepAlive(c)
	}
	if got := GoString(0); got != "" {
		t.Errorf("GoString(0) = %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("CString of a string with NUL did not panic")
		}
	}()
	CString("a\x00b")
}

// BenchmarkTimedCall also reports what the clock on the C side reads for an
// empty function, which is what a measured span contains beside the call.
func BenchmarkTimedCall(b *testing.B) {
	timed := newTimed(b)
	median, p99, least := timed.Overhead(100_000)
	b.ReportAllocs()
	for b.Loop() {
		timed.Call(emptyCode, 0, 0, 0, 0, 0, 0)
	}
	b.ReportMetric(float64(median), "inside-median-ns")
	b.ReportMetric(float64(p99), "inside-p99-ns")
	b.ReportMetric(float64(least), "inside-min-ns")
}

func BenchmarkMonotonic(b *testing.B) {
	for b.Loop() {
		Monotonic()
	}
}
