package gpu

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"gpushare-bench/cuda"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/kernels"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// openEmulated opens the first GPU of an emulated machine on the test's thread.
func openEmulated(t *testing.T, o share.Options, machine ...cudatest.Option) *device {
	t.Helper()
	if os.Getenv(sharetest.MachineVariable) != "" && os.Getenv(LibraryVariable) == "" {
		t.Skip("looks into memory of an emulated GPU")
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	env := cudatest.Machine(t, "h200-580", machine...)
	env.Setenv(t)
	dev, err := Backend{}.Open(t.Context(), env.Profile.Devices[0].UUID, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		env.CheckReport(t)
	})
	return dev.(*device)
}

// TestCopies looks at what the copying kernels leave in the shared buffer and in local memory, whole 16-byte vectors of
// either, and at what they say they moved.
func TestCopies(t *testing.T) {
	const mine, theirs = 1, 2 // seeds of local memory and of the shared buffer
	for _, cache := range []string{share.CacheCold, share.CacheWarm} {
		t.Run(cache, func(t *testing.T) {
			d := openEmulated(t, share.Options{Cold: cache == share.CacheCold})
			for _, x := range []struct {
				kernel share.Kernel
				offset int64 // of the shared buffer, from an aligned address
				bytes  int64
				shared []uint64 // seeds of its first and second half afterwards
				local  []uint64
			}{
				{share.KernelCopy, 0, 1 << 16, []uint64{theirs, theirs}, []uint64{theirs, theirs}},
				{share.KernelCopyTo, 0, 1 << 16, []uint64{mine, mine}, []uint64{mine, mine}},
				{share.KernelMemcpy, 0, 1 << 16, []uint64{theirs, theirs}, []uint64{theirs, theirs}},
				{share.KernelMemcpyTo, 0, 1 << 16, []uint64{mine, mine}, []uint64{mine, mine}},
				{share.KernelMemcpyBoth, 0, 1 << 16, []uint64{theirs, mine}, []uint64{theirs, mine}},
				{share.KernelMemcpyBoth, 8, 1<<16 + 8, []uint64{theirs, mine}, []uint64{theirs, mine}},
				{share.KernelMemcpyBoth, 0, 31, nil, nil},
				{share.KernelMemcpyTo, 0, 15, nil, nil},
			} {
				p, err := d.quiet.MemAlloc(1 << 20)
				if err != nil {
					t.Fatal(err)
				}
				local, err := d.localBuffer(x.bytes)
				if err != nil {
					t.Fatal(err)
				}
				region := share.Region{Addr: uintptr(p) + uintptr(x.offset), Bytes: x.bytes}
				at, n := vectors(region)
				whole := int64(n) * 16
				if err := d.Fill(share.Region{Addr: at, Bytes: whole}, theirs); err != nil {
					t.Fatal(err)
				}
				if err := d.Fill(share.Region{Addr: uintptr(local), Bytes: whole}, mine); err != nil {
					t.Fatal(err)
				}
				e, err := d.RunKernel(x.kernel, region)
				if err != nil {
					t.Fatal(err)
				}
				if moved := whole * int64(e.Launches); x.shared == nil && e != (share.Elapsed{}) ||
					x.shared != nil && (e.Bytes != moved || e.Traffic != 2*moved || e.Launches < 4 || e.Nanoseconds <= 0) {
					t.Errorf("%s of %d bytes: %+v", x.kernel, x.bytes, e)
				}
				for where, y := range map[string]struct {
					addr  uintptr
					seeds []uint64
				}{"shared": {at, x.shared}, "local": {uintptr(local), x.local}} {
					for i, seed := range y.seeds {
						half := share.Region{Addr: y.addr + uintptr(i)*uintptr(whole/2), Bytes: whole / 2, First: uint64(i) * uint64(whole/16)}
						if m, err := d.Verify(half, seed); err != nil || m.Bytes != 0 {
							t.Errorf("%s of %d bytes: half %d of %s memory is not what was copied there: %+v, %v", x.kernel, x.bytes, i, where, m, err)
						}
					}
				}
				if err := d.quiet.MemFree(p); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestBothWaysMeet shows when the second stream of a copy that goes both ways works: not before what was queued in front of
// it, and the end of the whole is not before its end.
func TestBothWaysMeet(t *testing.T) {
	d := openEmulated(t, share.Options{})
	const grace = 20 * time.Millisecond // for what must not happen
	nothing := func() error { return nil }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(d.closeGate())
	check(d.bothWays(nothing, func() error { return d.quiet.MemsetD8Async(d.result, 1, 8, d.back) })(1))
	time.Sleep(grace)
	if done, err := d.quiet.StreamQuery(d.back); err != nil || done {
		t.Errorf("before the gate is opened: the way back has ended: %v, %v", done, err)
	}
	d.openGate()
	check(d.sync())

	flag, err := d.quiet.MemHostDevicePtr(d.gate)
	check(err)
	d.gateWord(0).Store(0)
	check(d.bothWays(nothing, func() error {
		one := cuda.Dim{X: 1}
		return d.quiet.LaunchKernel(d.functions[kernels.Gate], one, one, 0, d.back, uint64(flag), uint64(time.Minute), uint64(flag)+64)
	})(1))
	check(d.quiet.EventRecord(d.events[0], d.stream))
	time.Sleep(grace)
	if done, err := d.quiet.EventQuery(d.events[0]); err != nil || done {
		t.Errorf("while the way back is under way: the end has come: %v, %v", done, err)
	}
	d.openGate()
	check(d.sync())
	if done, err := d.quiet.StreamQuery(d.back); err != nil || !done {
		t.Errorf("after the stream has ended: the way back has ended: %v, %v", done, err)
	}
}

// TestBothWaysFail fails to make the stream wait for the way back: that has ended all the same when the error is returned,
// so that the memory can be given up.
func TestBothWaysFail(t *testing.T) {
	// The device makes two such copies when it is opened, and each waits twice.
	d := openEmulated(t, share.Options{}, cudatest.Faults("cuStreamWaitEvent@6=CUDA_ERROR_UNKNOWN"))
	const bytes = 64 << 20
	p, err := d.quiet.MemAlloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.RunKernel(share.KernelMemcpyBoth, share.Region{Addr: uintptr(p), Bytes: bytes}); !errors.Is(err, cuda.ErrorUnknown) {
		t.Errorf("error %v", err)
	}
	if done, err := d.quiet.StreamQuery(d.back); err != nil || !done {
		t.Errorf("the way back has ended: %v, %v", done, err)
	}
	if err := d.quiet.MemFree(p); err != nil {
		t.Error(err)
	}
}
