package cudatest_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/cuda/cudatest"
)

// sanitize makes the tests run the C code under AddressSanitizer and
// UndefinedBehaviorSanitizer.
var sanitize = os.Getenv("GPUSHARE_SANITIZE") != ""

var scratchDir string

func TestMain(m *testing.M) {
	var err error
	if scratchDir, err = os.MkdirTemp("", "cudatest-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratchDir)
	os.Exit(code)
}

var selftestOnce = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratchDir, "selftest")
	args := append(slices.Clone(cudatest.CFlags), "-o", path)
	sources, err := filepath.Glob("testdata/*.c")
	if err != nil {
		return "", err
	}
	args = append(args, sources...)
	if sanitize {
		driver, err := filepath.Glob("driver/*.c")
		if err != nil {
			return "", err
		}
		args = append(append(args, driver...), "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	} else {
		args = append(args, builtDriver)
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

var (
	buildOnce   sync.Once
	builtDriver string
)

// selftest runs testdata/selftest.c, which is linked with the emulated driver,
// on a machine. A process that hangs is killed after a while.
func selftest(t *testing.T, env cudatest.Env, limit time.Duration, args ...string) (output string, err error) {
	t.Helper()
	buildOnce.Do(func() { builtDriver = cudatest.Build(t) })
	path, err := selftestOnce()
	if err != nil {
		t.Fatalf("build the self-test in testdata: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env.Entries()...)
	cmd.Env = append(cmd.Env, "GPUSHARE_ROLE=producer")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(out), err
}

const patience = 20 * time.Second

func TestSharing(t *testing.T) {
	for _, test := range []struct{ machine, path, producer, consumer string }{
		{"h200-580", "vmm", "0", "0"},
		{"h200-580", "opaque", "0", "0"},
		{"h200-580", "ipc", "0", "0"},
		{"h200-580", "mempool", "0", "0"},
		{"eight-h200", "vmm", "0", "5"},
		{"eight-h200", "ipc", "7", "2"},
		{"eight-h200", "mempool", "1", "3"},
		{"eight-h200", "opaque", "4", "0"},
		{"thor", "dmabuf", "0", "0"},
		{"thor", "dmabuf-vmm", "0", "0"},
		{"thor", "dmabuf-part", "0", "0"},
		{"thor", "dmabuf-pinned", "0", "0"},
		{"new-driver", "fabric", "0", "1"},
		{"new-driver", "dmabuf-part", "1", "0"},
		{"new-driver", "dmabuf-cpu", "0", "0"},
		{"old-driver", "vmm", "0", "0"},
		{"old-driver", "ipc", "0", "0"},
	} {
		t.Run(test.machine+"/"+test.path+"/"+test.producer+":"+test.consumer, func(t *testing.T) {
			t.Parallel()
			for _, size := range []string{"2097152", "6291456"} {
				env := cudatest.Machine(t, test.machine)
				out, err := selftest(t, env, patience, "share", test.path, test.producer, test.consumer, size)
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				env.CheckReport(t)
				entries, err := env.ReadReport()
				if err != nil {
					t.Fatal(err)
				}
				if len(entries) != 2 {
					t.Errorf("%d processes ended well, want 2: %v", len(entries), entries)
				}
			}
		})
	}
}

func TestFreedWhileMapped(t *testing.T) {
	env := cudatest.Machine(t, "h200-580")
	if out, err := selftest(t, env, patience, "share", "ipc-late", "0", "0", "2097152"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	entries, err := env.ReadReport()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e cudatest.Entry) bool {
		return e.Class == cudatest.Violation && strings.Contains(e.Text, "still has it mapped")
	}) {
		t.Errorf("the report does not say it: %v", entries)
	}
}

// Memory is accounted over all processes, and comes back when one is killed.
func TestMemoryOfOtherProcesses(t *testing.T) {
	env := cudatest.Machine(t, "h200-580")
	used := func() string {
		out, err := selftest(t, env, patience, "rule", "used")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(out)
	}
	if got := used(); got != "0" {
		t.Errorf("%s bytes in use at first", got)
	}
	path, err := selftestOnce()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "rule", "hold")
	cmd.Env = append(os.Environ(), env.Entries()...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "holding\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if got := used(); got != "33554432" {
		t.Errorf("%s bytes in use while another process holds 33554432", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got := used(); got != "0" {
		t.Errorf("%s bytes in use after it was killed", got)
	}
	entries, err := env.ReadReport()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(entries, func(e cudatest.Entry) bool {
		return e.Class == cudatest.Unreleased && strings.Contains(e.Text, "4 objects")
	}) {
		t.Errorf("the killed process is not in the report: %v", entries)
	}
}

// What a machine declines, it declines with the answer that it lists.
func TestSharingDeclined(t *testing.T) {
	for _, test := range []struct{ machine, path, producer, consumer, want string }{
		{"h200-580", "dmabuf", "0", "0", "cuImportExternalMemory: CUDA_ERROR_NOT_SUPPORTED"},
		{"h200-580", "dmabuf-pinned", "0", "0", "cuMemGetHandleForAddressRange: CUDA_ERROR_INVALID_VALUE"},
		{"h200-580", "dmabuf-cpu", "0", "0", "mmap: Permission denied"},
		{"h200-580", "fabric", "0", "0", "cuMemCreate: CUDA_ERROR_NOT_PERMITTED"},
		{"eight-nopeer", "ipc", "0", "4", "cuIpcOpenMemHandle_v2: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
		{"eight-nopeer", "vmm", "0", "4", "cuMemSetAccess: CUDA_ERROR_INVALID_DEVICE"},
		{"exclusive", "vmm", "0", "0", "cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE"},
		{"no-device", "vmm", "0", "0", "cuInit: CUDA_ERROR_NO_DEVICE"},
		{"mismatch", "vmm", "0", "0", "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
	} {
		t.Run(test.machine+"/"+test.path, func(t *testing.T) {
			t.Parallel()
			env := cudatest.Machine(t, test.machine)
			out, err := selftest(t, env, patience, "share", test.path, test.producer, test.consumer, "2097152")
			if err == nil || !strings.Contains(out, test.want) {
				t.Errorf("%v: %q, want %q", err, out, test.want)
			}
		})
	}
}

// Each rule that the driver checks is broken once. The report must have a line
// of that class with that text, and nothing else but OK.
func TestRules(t *testing.T) {
	const refused, violation, leak, unreleased = cudatest.Refused, cudatest.Violation, cudatest.Leak, cudatest.Unreleased
	for _, test := range []struct {
		machine, name string
		class         cudatest.Class
		text          string
	}{
		{"h200-580", "granularity", refused, "size 1048576 is no multiple of the granularity 2097152"},
		{"h200-580", "reserve", refused, "no multiple of the granularity"},
		{"h200-580", "handle_type", refused, "handle type 1 was not requested when the memory was created"},
		{"h200-580", "bounds", refused, "4194304 bytes of an allocation of 2097152"},
		{"h200-580", "bounds", refused, "is not reserved"},
		{"h200-580", "bounds", refused, "something is mapped"},
		{"h200-580", "alignment", refused, "multiples of the host's page size"},
		{"h200-580", "alignment", refused, "end behind the allocation"},
		{"h200-580", "double_free", violation, "is released twice"},
		{"h200-580", "release_twice", violation, "is used after its release"},
		{"h200-580", "use_after_release", violation, "is used after its release"},
		{"h200-580", "free_mapped_reservation", violation, "is freed while something is mapped there"},
		{"h200-580", "unmap_twice", violation, "it was unmapped before"},
		{"h200-580", "wrong_thread", refused, "this thread has no current context"},
		{"h200-580", "no_access", violation, "has no write access to the mapping"},
		{"h200-580", "read_only", violation, "has no write access to the mapping"},
		{"h200-580", "past_the_end", violation, "is no memory"},
		{"h200-580", "use_after_free", violation, "was released"},
		{"eight-h200", "peer_not_enabled", violation, "device 0 has no write access to the cuMemAlloc memory"},
		{"eight-h200", "wrong_context", refused, "was loaded in another context"},
		{"h200-580", "leak_memory", leak, "cuMemAlloc memory of 1048576 bytes"},
		{"h200-580", "leak_handle", leak, "physical memory handle"},
		{"h200-580", "leak_reservation", leak, "address reservation of 2097152 bytes"},
		{"h200-580", "leak_event", leak, "event"},
		{"h200-580", "leak_descriptor", leak, "of a shared buffer is still open"},
		{"h200-580", "leak_context", unreleased, "holds a context and 3 objects"},
		{"h200-580", "close_taken_descriptor", violation, "which cuImportExternalMemory took over"},
		{"h200-580", "close_driver_descriptor", violation, "which belongs to the driver"},
		{"h200-580", "ipc_same_process", refused, "can't be opened in the process that made it"},
		{"h200-580", "async", violation, "is released twice"},
		{"h200-580", "unmap_under_work", violation, "is unmapped while work is queued"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := cudatest.Machine(t, test.machine)
			if out, err := selftest(t, env, patience, "rule", test.name); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			entries, err := env.ReadReport()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(entries, func(e cudatest.Entry) bool {
				return e.Class == test.class && strings.Contains(e.Text, test.text)
			}) {
				t.Errorf("no %s %q in the report: %v", test.class, test.text, entries)
			}
			for _, e := range entries {
				// A violation's call may be refused as well, and a process whose context is poisoned gives up.
				companion := test.class == violation && (e.Class == unreleased || e.Class == refused)
				if e.Class != test.class && e.Class != cudatest.OK && !companion {
					t.Errorf("also: %v", e)
				}
			}
		})
	}
}

// What a well-behaved program sees.
func TestBehaviour(t *testing.T) {
	for _, test := range []struct {
		machine, name string
		refused       bool
	}{
		{"h200-580", "streams", true},
		{"h200-580", "chase", false},
		{"h200-580", "limit", false},
		{"h200-580", "kind_of_descriptor", true},
		{"eight-h200", "peer_enabled", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := cudatest.Machine(t, test.machine)
			if out, err := selftest(t, env, patience, "rule", test.name); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if test.refused {
				env.CheckReport(t, cudatest.Exception{Class: cudatest.Refused})
			} else {
				env.CheckReport(t)
			}
		})
	}
}

// h200-580 answers what a real one answered on 2026-12-01.
func TestH200Answers(t *testing.T) {
	const want = `device CUDA_SUCCESS
device/PCIE CUDA_ERROR_NOT_SUPPORTED
async CUDA_SUCCESS
async/PCIE CUDA_ERROR_NOT_SUPPORTED
managed CUDA_ERROR_INVALID_VALUE
pinned CUDA_ERROR_INVALID_VALUE
registered CUDA_ERROR_INVALID_VALUE
cuMemCreate/vmm CUDA_SUCCESS
vmm-rdma CUDA_SUCCESS
cuMemCreate/HOST CUDA_ERROR_INVALID_VALUE
cuMemCreate/vmm-host CUDA_SUCCESS
vmm-host CUDA_ERROR_INVALID_VALUE
cuMemCreate/HOST_NUMA_CURRENT CUDA_ERROR_INVALID_VALUE
fabric CUDA_ERROR_NOT_PERMITTED
import/1 CUDA_ERROR_UNKNOWN
import/9 CUDA_ERROR_NOT_SUPPORTED
mmap Permission denied
`
	env := cudatest.Machine(t, "h200-580")
	out, err := selftest(t, env, patience, "rule", "answers")
	if err != nil || out != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
	env.CheckReport(t)
}

func TestVisibleDevices(t *testing.T) {
	const h200, l40s = "0001 NVIDIA H200\n", "4005 NVIDIA L40S\n"
	for _, test := range []struct{ visible, order, want string }{
		{"", "", "0 " + h200 + "1 " + l40s},
		{"", "PCI_BUS_ID", "0 " + l40s + "1 " + h200},
		{"1", "", "0 " + l40s},
		{"1", "PCI_BUS_ID", "0 " + h200},
		{"1,0", "", "0 " + l40s + "1 " + h200},
		{"0,7,1", "", "0 " + h200},
		{"GPU-e3000000-0000-4000-8000-000000004005", "", "0 " + l40s},
		{"GPU-e3000000", "", "cuInit: CUDA_ERROR_NO_DEVICE\n"},
		{"-1", "", "cuInit: CUDA_ERROR_NO_DEVICE\n"},
	} {
		t.Run(test.visible+" "+test.order, func(t *testing.T) {
			if test.visible != "" {
				t.Setenv("CUDA_VISIBLE_DEVICES", test.visible)
			}
			if test.order != "" {
				t.Setenv("CUDA_DEVICE_ORDER", test.order)
			}
			env := cudatest.Machine(t, "mixed")
			if out, _ := selftest(t, env, patience, "rule", "devices"); out != test.want {
				t.Errorf("%q, want %q", out, test.want)
			}
		})
	}
}
