package cuda

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpushare-bench/internal/dl"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestOpen(t *testing.T) {
	f := open(t)
	if v := f.lib.DriverVersion().String(); v != "13.0" {
		t.Errorf("driver version %s, want 13.0", v)
	}
	if emulated, machine := f.lib.Emulated(); emulated || machine != "" {
		t.Errorf("emulated %v, %q without the symbol", emulated, machine)
	}
	if f.lib.Path() == "" || f.Lib() != f.lib {
		t.Errorf("path %q, thread's library %p, want %p", f.lib.Path(), f.Lib(), f.lib)
	}
}

func TestOpenEmulated(t *testing.T) {
	// Beside a library that is not: what is emulated belongs to a Lib.
	real, emulated := open(t), open(t, "-DEMULATED")
	if yes, machine := emulated.lib.Emulated(); !yes || machine != "test-machine" {
		t.Errorf("Emulated() = %v, %q", yes, machine)
	}
	if yes, _ := real.lib.Emulated(); yes {
		t.Error("the other library is said to be emulated as well")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "libcuda.so.1"))
	if !errors.Is(err, ErrNoDriver) || !errors.Is(err, dl.ErrNotFound) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err = Open("libc.so.6"); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "has no function cuInit") {
		t.Errorf("a library that is no driver: %v", err)
	}

	_, err = Open(build(t, "-DINIT_RESULT=803"))
	var initErr *InitError
	if !errors.As(err, &initErr) || !errors.Is(err, ErrorSystemDriverMismatch) {
		t.Fatalf("cuInit returned 803: %v", err)
	}
	if initErr.Driver != 13000 || !strings.HasSuffix(initErr.Path, "libcuda-test-DINIT_RESULT=803.so") {
		t.Errorf("%+v, want driver 13000 and the path", initErr)
	}
	if errors.Is(err, ErrNoDriver) {
		t.Error("there is a driver library, it only cannot be used")
	}
}

// TestInitErrorText shows each sentence that a user can be told about a driver
// that cannot be used.
func TestInitErrorText(t *testing.T) {
	results := []Result{Result(4711)}
	for r := range advice {
		results = append(results, r)
	}
	slices.Sort(results)
	var b strings.Builder
	for _, r := range results {
		b.WriteString((&InitError{Path: "/usr/lib/libcuda.so.1", Driver: 12040, Result: r}).Error() + "\n")
	}
	const missing = "open library libcuda.so.1: library cannot be loaded"
	b.WriteString(noDriver("", errors.New(missing)).Error() + "\n")
	b.WriteString(noDriver("/opt/libcuda.so", errors.New(missing)).Error() + "\n")
	golden(t, "init.golden", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (see with -update and git diff); got:\n%s", path, got)
	}
}

// TestOldDriver: functions that the library lacks are never called, and the one
// that has an earlier form with the same arguments is called in that form.
func TestOldDriver(t *testing.T) {
	f := open(t, "-DOLD")
	var r recorder
	f.Recorder = &r
	fd, err := f.MemGetDMABuf(0x12, 4096, 0)
	if !errors.Is(err, ErrNoSymbol) || fd != -1 {
		t.Fatalf("fd %d, error %v, want -1 and ErrNoSymbol", fd, err)
	}
	var callErr *Error
	if errors.As(err, &callErr) {
		t.Errorf("%v pretends that the driver answered", err)
	}
	for _, part := range []string{"cuMemGetHandleForAddressRange", "CUDA 13.0", "libcuda-test-DOLD.so", "newer driver"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not mention %q", err, part)
		}
	}
	if r.span != (span{}) {
		t.Errorf("a call that was not made is recorded: %+v", r.span)
	}
	if _, err := f.lib.DeviceP2PAttribute(P2PPerformanceRank, 0, 1); !errors.Is(err, ErrNoSymbol) {
		t.Errorf("DeviceP2PAttribute: %v, want ErrNoSymbol", err)
	}
	if _, err := f.IPCOpenMemHandle(IPCMemHandle{}); !errors.Is(err, ErrNoSymbol) {
		t.Errorf("IPCOpenMemHandle: %v, want ErrNoSymbol", err)
	}
	if u, err := f.lib.DeviceUUID(2); err != nil || u[15] != 16 {
		t.Errorf("DeviceUUID of the older form: %v, %v", u, err)
	}
	if ns, err := f.EventElapsed(0x23, 0x24); err != nil || ns != 62500 {
		t.Errorf("EventElapsed of the older form: %v, %v", ns, err)
	}
}

func TestRequire(t *testing.T) {
	f := open(t, "-DOLD")
	for _, c := range []struct {
		names   []string
		missing string
	}{
		{nil, ""},
		{[]string{"cuMemAlloc", "cuMemAlloc_v2", "cuMemCreate"}, ""},
		{[]string{"cuEventElapsedTime"}, ""},
		{[]string{"testLast"}, ""}, // of the library, not in the table
		{[]string{"cuMemCreate", "cuMemGetHandleForAddressRange"}, "cuMemGetHandleForAddressRange"},
		{[]string{"cuNoSuchFunction"}, "cuNoSuchFunction"},
	} {
		err := f.lib.Require(c.names...)
		if f.lib.Has(c.names...) != (err == nil) {
			t.Errorf("Has and Require disagree about %v", c.names)
		}
		switch {
		case c.missing == "" && err != nil:
			t.Errorf("%v: %v", c.names, err)
		case c.missing != "" && (!errors.Is(err, ErrNoSymbol) || !strings.HasPrefix(err.Error(), c.missing+": ")):
			t.Errorf("%v: error %v, want one about %s", c.names, err, c.missing)
		}
	}
}

func TestDeviceID(t *testing.T) {
	f := open(t)
	for d, want := range map[Device]string{
		2: "GPU-01020304-0506-0708-090a-0b0c0d0e0f10",
		7: "MIG-01020304-0506-0708-090a-0b0c0d0e0f10",
	} {
		if got, err := f.lib.DeviceID(d); err != nil || got != want {
			t.Errorf("%v: %s, %v; want %s", d, got, err, want)
		}
	}
	f.nextResult(ErrorInvalidDevice)
	if id, err := f.lib.DeviceID(9); id != "" || !errors.Is(err, ErrorInvalidDevice) {
		t.Errorf("%q, %v", id, err)
	}
}

func TestVersion(t *testing.T) {
	for v, want := range map[Version]string{0: "unknown", 11040: "11.4", 12080: "12.8", 13000: "13.0", 13030: "13.3"} {
		if got := v.String(); got != want {
			t.Errorf("%d: %q, want %q", int(v), got, want)
		}
	}
}
