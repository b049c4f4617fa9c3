package cuda

import (
	"os/exec"
	"path/filepath"
	"testing"

	"gpushare-bench/internal/dl"
)

// build compiles testdata/driver.c into a library of its own for this test.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("gcc")
	if err != nil {
		if cc, err = exec.LookPath("cc"); err != nil {
			t.Skip("no C compiler (gcc, cc) in PATH to build the test library testdata/driver.c with")
		}
	}
	out := filepath.Join(t.TempDir(), "libcuda-test.so")
	args := append([]string{"-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", out, "testdata/driver.c"}, flags...)
	if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compile testdata/driver.c: %v\n%s", err, msg)
	}
	return out
}

// fixture is a Lib and a Thread on the test library, with its controls.
type fixture struct {
	*Thread
	lib                *Lib
	last, answer, host uintptr
}

func open(t testing.TB, flags ...string) *fixture {
	t.Helper()
	lib, err := Open(build(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	thread, err := NewThread(lib)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Thread: thread, lib: lib}
	for name, addr := range map[string]*uintptr{"testLast": &f.last, "testAnswer": &f.answer, "testHost": &f.host} {
		if *addr, err = lib.lib.Symbol(name); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// lastCall returns how the library saw its last call.
func (f *fixture) lastCall() string { return dl.GoString(dl.Call(f.last)) }

// nextResult makes the next call return r.
func (f *fixture) nextResult(r Result) { dl.Call(f.answer, uintptr(r)) }

// hostMemory is the memory that the library gives out as pinned host memory.
func (f *fixture) hostMemory(n int) []byte {
	return hostBytes(uint64(dl.Call(f.host)), int64(n))
}

// span is what a test's Recorder keeps.
type span struct {
	started, call string
	start, end    int64
	ok            bool
}

type recorder struct{ span }

func (r *recorder) Starting(call string) { r.span = span{started: call} }
func (r *recorder) Record(call string, start, end int64, ok bool) {
	r.call, r.start, r.end, r.ok = call, start, end, ok
}
