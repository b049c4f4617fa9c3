package cuda

import (
	"errors"
	"runtime"
	"testing"
)

// TestCallsAllocateNothing: a timed call must not make work for the garbage
// collector.
func TestCallsAllocateNothing(t *testing.T) {
	f := open(t)
	var r recorder
	f.Recorder = &r
	key := IPCMemHandle(key64)
	pointer := PoolPointer(key64)
	host := make([]byte, 64)
	prop := AllocationProp{Location: AtDevice(1), Handles: HandlePosixFD}
	calls := map[string]func() error{
		"MemCreate":            func() error { _, err := f.MemCreate(2<<20, prop); return err },
		"MemExportFD":          func() error { _, err := f.MemExportFD(0x14); return err },
		"MemExportFabric":      func() error { _, err := f.MemExportFabric(0x14); return err },
		"MemImportFD":          func() error { _, err := f.MemImportFD(33); return err },
		"MemSetAccess":         func() error { return f.MemSetAccess(0x12, 16, AccessReadWrite, AtDevice(1)) },
		"MemGetDMABuf":         func() error { _, err := f.MemGetDMABuf(0x12, 4096, 0); return err },
		"ImportExternalMemory": func() error { _, err := f.ImportExternalMemory(ExternalDMABufFD, 33, 4096); return err },
		"IPCGetMemHandle":      func() error { _, err := f.IPCGetMemHandle(0x12); return err },
		"IPCOpenMemHandle":     func() error { _, err := f.IPCOpenMemHandle(key); return err },
		"MemPoolImportPointer": func() error { _, err := f.MemPoolImportPointer(0x16, pointer); return err },
		"MemcpyHtoD":           func() error { return f.MemcpyHtoD(0x12, host) },
		"LaunchKernel":         func() error { return f.LaunchKernel(0x26, Dim{X: 1}, Dim{X: 32}, 0, 0, 1, 2) },
		"EventElapsed":         func() error { _, err := f.EventElapsed(0x23, 0x24); return err },
	}
	for name, call := range calls {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = errors.Join(err, call()) }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations per call, error %v", name, n, err)
		}
	}
}

// TestQuietThread: a Thread without a Recorder works, and its calls do not
// reach the Recorder of another one.
func TestQuietThread(t *testing.T) {
	f := open(t)
	var r recorder
	f.Recorder = &r
	quiet, err := NewThread(f.lib)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := quiet.MemAlloc(16); err != nil || p != big {
		t.Errorf("MemAlloc: %v, %v", p, err)
	}
	if r.span != (span{}) {
		t.Errorf("recorded %+v", r.span)
	}
}

// TestResultsSurviveStackGrowth: results are written to memory that does not
// move, whatever the goroutine's stack does meanwhile.
func TestResultsSurviveStackGrowth(t *testing.T) {
	f := open(t)
	done := make(chan error)
	go func() { // a new goroutine has a small stack
		done <- deeper(f, 200)
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func deeper(f *fixture, n int) error {
	if n == 0 {
		return nil
	}
	var pad [512]byte
	runtime.KeepAlive(&pad)
	if n%50 == 0 {
		runtime.GC()
	}
	name, err := f.lib.DeviceName(1)
	if err == nil && name != "NVIDIA Test" {
		err = errors.New("wrong name " + name)
	}
	if err == nil {
		var h MemHandle
		if h, err = f.MemCreate(16, AllocationProp{}); err == nil && h != big {
			err = errors.New("wrong handle")
		}
	}
	return errors.Join(err, deeper(f, n-1))
}

func TestOverhead(t *testing.T) {
	f := open(t)
	median, p99, min := f.Overhead(100)
	if min < 0 || median < min || p99 < median {
		t.Errorf("overhead: median %d, 99th percentile %d, minimum %d", median, p99, min)
	}
}

func BenchmarkTimedCall(b *testing.B) {
	f := open(b)
	var r recorder
	f.Recorder = &r
	for b.Loop() {
		if err := f.MemUnmap(0x12, 16); err != nil {
			b.Fatal(err)
		}
	}
}
