package cuda

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpushare-bench/internal/dl"
)

// libraries is where the tests' libraries are built, once per set of flags.
var libraries string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "gpushare-cuda")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	libraries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build compiles testdata/driver.c. The environment variable CC names another
// compiler, as for tests of another architecture under qemu-user.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	out := filepath.Join(libraries, "libcuda-test"+strings.Join(flags, "")+".so")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		t.Skipf("no C compiler to build the test library testdata/driver.c with: %v", err)
	}
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
