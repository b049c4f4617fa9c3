package nvml

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gpushare-bench/internal/dl"
)

// libraries is where the tests' libraries are built, once per set of flags.
var libraries string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "gpushare-nvml")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	libraries = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build compiles testdata/nvml.c. The environment variable CC names another
// compiler, as for tests of another architecture under qemu-user.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	out := filepath.Join(libraries, "libnvidia-ml-test"+strings.Join(flags, "")+".so")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		t.Skipf("no C compiler to build the test library testdata/nvml.c with: %v", err)
	}
	args := append([]string{"-Wall", "-Wextra", "-Werror", "-Wno-pedantic", "-O1", "-shared", "-fPIC", "-o", out, "testdata/nvml.c"}, flags...)
	if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compile testdata/nvml.c: %v\n%s", err, msg)
	}
	return out
}

func open(t testing.TB, flags ...string) *Lib {
	t.Helper()
	l, err := Open(build(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func device(t testing.TB, l *Lib, i int) *Device {
	t.Helper()
	d, err := l.DeviceByUUID(fmt.Sprintf("GPU-%d", i))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none.so")); !errors.Is(err, ErrNotFound) {
		t.Errorf("no library: %v", err)
	}
	if _, err := Open("libc.so.6"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "nvmlInit_v2") {
		t.Errorf("another library: %v", err)
	}
	_, err := Open(build(t, "-DINIT_RESULT=18"))
	if !errors.Is(err, ErrorLibRMVersionMismatch) || errors.Is(err, ErrNotFound) ||
		!strings.Contains(err.Error(), "NVML_ERROR_LIB_RM_VERSION_MISMATCH (18)") {
		t.Errorf("nvmlInit returned 18: %v", err)
	}
	if got := Return(4711).Error(); got != "unknown NVML result (4711)" {
		t.Errorf("a number without a name: %q", got)
	}
}

func TestDeviceBy(t *testing.T) {
	l := open(t)
	if v := l.DriverVersion(); v != "580.159.04" {
		t.Errorf("driver version %q", v)
	}
	for _, c := range []struct {
		by   func(string) (*Device, error)
		name string
	}{{l.DeviceByUUID, "GPU-2"}, {l.DeviceByPCI, "0000:12:00.0"}} {
		d, err := c.by(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Info(); got.UUID != "GPU-2" || got.PCI != "00000000:12:00.0" {
			t.Errorf("%s found %s, %s", c.name, got.UUID, got.PCI)
		}
	}
	_, err := l.DeviceByUUID("GPU-9")
	if !errors.Is(err, ErrorNotFound) || err.Error() != "nvmlDeviceGetHandleByUUID(GPU-9): NVML_ERROR_NOT_FOUND (6)" {
		t.Errorf("a GPU that is not there: %v", err)
	}
}

// asJSON shows what pointers point to.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInfo(t *testing.T) {
	want := Info{
		Name: "NVIDIA Test 1", UUID: "GPU-1", PCI: "00000000:11:00.0",
		SMClockMaxHz: ptr(int64(1980e6)), MemoryClockMaxHz: ptr(int64(3202e6)), PowerLimitMilliW: ptr(int64(700000)),
		ECC: ptr(true), MIG: ptr(false), Persistence: ptr(true), ComputeMode: "Exclusive_Process",
		BAR1TotalBytes: ptr(int64(3) << 32), MemoryTotalBytes: ptr(int64(30) << 32),
		PCIeGenerationMax: ptr(int64(5)), PCIeWidthMax: ptr(int64(16)),
		CPUs: []int{0, 2, 64, 4095}, NUMANode: ptr(1),
	}
	l := open(t)
	if got := device(t, l, 1).Info(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
	if n := device(t, l, 3).Info().NUMANode; n != nil {
		t.Errorf("near to two nodes: node %d, want none", *n)
	}
}

func TestState(t *testing.T) {
	want := State{
		SMClockHz: ptr(int64(1755e6)), MemoryClockHz: ptr(int64(3201e6)),
		TemperatureC: ptr(int64(41)), PowerMilliW: ptr(int64(118250)),
		Reasons:        ptr(ReasonGPUIdle | ReasonSWPowerCap | 1<<63),
		PCIeGeneration: ptr(int64(1)), PCIeWidth: ptr(int64(8)),
		MemoryUsedBytes: ptr(int64(10) << 32), MemoryFreeBytes: ptr(int64(20) << 32), BAR1UsedBytes: ptr(int64(1) << 32),
		PIDs: []int{1000, 1001},
	}
	for _, flags := range [][]string{nil, {"-DOLD"}} {
		if got := device(t, open(t, flags...), 1).State(); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got  %s\nwant %s", flags, asJSON(t, got), asJSON(t, want))
		}
	}
}

// TestProcesses: none is a list, and many fit.
func TestProcesses(t *testing.T) {
	l := open(t)
	set, err := l.lib.Symbol("testProcesses")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 32, 33, 5000} {
		dl.Call(set, uintptr(n))
		pids := device(t, l, 0).State().PIDs
		if pids == nil || len(pids) != n || n > 0 && pids[n-1] != 999+n {
			t.Errorf("%d processes: got %d, nil: %v", n, len(pids), pids == nil)
		}
	}
	dl.Call(set, 2)
}

// TestAbsent: what a library cannot tell is nil, and a nil Lib or Device is a
// library that can tell nothing.
func TestAbsent(t *testing.T) {
	bare := device(t, open(t, "-DBARE"), 1)
	var none *Lib
	missing, err := none.DeviceByPCI("0000:10:00.0")
	if missing != nil || !errors.Is(err, ErrNotFound) {
		t.Errorf("nil Lib: device %v, error %v", missing, err)
	}
	if v := none.DriverVersion(); v != "" {
		t.Errorf("nil Lib: driver version %q", v)
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	for name, d := range map[string]*Device{"bare": bare, "nil": nil} {
		if got := d.Info(); !reflect.DeepEqual(got, Info{}) {
			t.Errorf("%s: %s", name, asJSON(t, got))
		}
		if got := d.State(); !reflect.DeepEqual(got, State{}) {
			t.Errorf("%s: %s", name, asJSON(t, got))
		}
		if class, n := LinkClass(d, bare), NVLinks(d, bare); d == nil && class != "" || n != nil {
			t.Errorf("%s: link %q, NVLinks %v", name, class, n)
		}
	}
	other, err := open(t, "-DBARE").DeviceByUUID("GPU-2")
	if err != nil {
		t.Fatal(err)
	}
	if class := LinkClass(bare, other); class != "" {
		t.Errorf("bare: link %q", class)
	}
}

func TestLinkClass(t *testing.T) {
	for _, c := range []struct {
		a, b        int
		with, apart string // with the fabric set up, and without
	}{
		{0, 0, "same", "same"},
		{0, 1, "NV4", "NV4"}, // direct links don't need the fabric
		{1, 0, "NV4", "NV4"},
		{0, 2, "NV2", "NODE"},
		{2, 0, "NV2", "NODE"},
		{1, 2, "NV2", "PHB"},
		{0, 3, "PHB", "PHB"},
		{1, 3, "PXB", "PXB"},
		{2, 3, "PIX", "PIX"},
	} {
		l, apart := open(t), open(t, "-DNO_FABRIC")
		if got := LinkClass(device(t, l, c.a), device(t, l, c.b)); got != c.with {
			t.Errorf("%d:%d: %s, want %s", c.a, c.b, got, c.with)
		}
		if got := LinkClass(device(t, apart, c.a), device(t, apart, c.b)); got != c.apart {
			t.Errorf("%d:%d without fabric: %s, want %s", c.a, c.b, got, c.apart)
		}
	}
}

func TestReasonNames(t *testing.T) {
	for _, c := range []struct {
		r    ClocksEventReasons
		want string
	}{
		{0, ""},
		{ReasonGPUIdle, "gpu_idle"},
		{ReasonApplicationsClocksSetting | ReasonSWPowerCap | ReasonHWSlowdown, "applications_clocks_setting sw_power_cap hw_slowdown"},
		{ReasonSyncBoost | ReasonSWThermalSlowdown | ReasonHWThermalSlowdown, "sync_boost sw_thermal_slowdown hw_thermal_slowdown"},
		{ReasonHWPowerBrakeSlowdown | ReasonDisplayClockSetting | 0x200, "hw_power_brake_slowdown display_clock_setting 0x200"},
	} {
		if got := strings.Join(c.r.Names(), " "); got != c.want {
			t.Errorf("%#x: %q, want %q", uint64(c.r), got, c.want)
		}
	}
	if names := ClocksEventReasons(0).Names(); names != nil {
		t.Errorf("no reason: %v, want nil", names)
	}
}
