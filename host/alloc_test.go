package host

import (
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// TestNoAllocations: nothing that is timed allocates Go memory, which would let the garbage collector into a sample.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, o := range []share.Options{{}, {Cold: true}} {
		d := open(t, o)
		mem := memory(t, 1<<20)
		for _, n := range []int64{4096, 1 << 20} {
			r := regionAt(mem, 0, n)
			for _, k := range d.Kernels() {
				if got := allocations(func() {
					if _, err := d.RunKernel(k, r); err != nil {
						t.Error(err)
					}
				}); got != 0 {
					t.Errorf("%+v: %s on %d bytes allocates %v times", o, k, n, got)
				}
			}
		}
		tape := share.NewTape(nil)
		if got := testing.AllocsPerRun(20, func() {
			tape.Reset(0)
			if err := d.Touch(tape, regionAt(mem, 0, 1<<20)); err != nil {
				t.Error(err)
			}
		}); got != 0 {
			t.Errorf("touch allocates %v times", got)
		}
	}
}

// TestTimedCallsDoNotAllocate runs the calls of every phase of a memfd's cycle. The objects that the phases return are
// allocated between the timed calls, not in them.
func TestTimedCallsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	d := open(t, share.Options{})
	tape := share.NewTape(nil)
	c := d.calls
	buf, err := allocMemfd(tape, d, share.Request{Bytes: 1 << 20})
	must(t, err)
	defer func() { must(t, buf.Release(tape)) }()
	if got := testing.AllocsPerRun(50, func() {
		tape.Reset(0)
		fd, err := c.duplicate(tape, buf.fd)
		must(t, err)
		_, err = c.size(tape, fd)
		must(t, err)
		s, err := c.mapShared(tape, fd, 0, 1<<20)
		must(t, err)
		must(t, c.unmap(tape, &s))
		must(t, c.closeFD(tape, fd))
	}); got != 0 {
		t.Errorf("the timed calls allocate %v times", got)
	}
	// A whole import makes one object, the mapping, before the first call.
	if got := testing.AllocsPerRun(50, func() {
		tape.Reset(0)
		fd, err := unix.Dup(buf.fd)
		must(t, err)
		m, err := memfdImporter.Import(tape, d, buf.handle(fd))
		must(t, err)
		must(t, m.Unmap(tape))
	}); got > 1 {
		t.Errorf("an import allocates %v times, want the mapping only", got)
	}
}

// allocations is how many allocations one of 20 calls of f makes at the median. testing.AllocsPerRun would leave the threads
// of a team one processor to spin on in turn.
func allocations(f func()) uint64 {
	f()
	counts := make([]uint64, 20)
	var before, after runtime.MemStats
	for i := range counts {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		counts[i] = after.Mallocs - before.Mallocs
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}
