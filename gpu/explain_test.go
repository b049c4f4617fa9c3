package gpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gpushare-bench/cuda"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// TestExplain goes through the table of circumstances line by line: what was called, what the driver answered, on which
// machine and for which memory, and what is said about it.
func TestExplain(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("the circumstances are those of emulated machines")
	}
	said := map[string]bool{}
	for _, c := range []struct {
		machine, call string
		answer        cuda.Result
		allocator     string
		want          string // "": nothing
	}{
		{"h200-580", "cuMemCreate", cuda.ErrorNotPermitted, "vmm", "the attribute for fabric handles is 1, but no IMEX channel is open"},
		{"thor", "cuMemCreate", cuda.ErrorNotPermitted, "vmm", "no IMEX channel is open to this process"},
		{"h200-580", "cuMemImportFromShareableHandle", cuda.ErrorNotPermitted, "", "no IMEX channel is open to this process"},
		{"h200-580", "cuMemCreate", cuda.ErrorInvalidValue, "vmm-host", "does not make shareable host memory"},
		{"h200-580", "cuMemCreate", cuda.ErrorInvalidValue, "vmm", ""},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "pinned", "exports only device memory as dma-buf"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "managed", "exports only device memory as dma-buf"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "async", "from the start of an allocation only"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "pool", "from the start of an allocation only"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "device", "must start and end on a host page"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, "device", "DMA_BUF_SUPPORTED is 1, but"},
		{"old-driver", "cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, "device", "needs the open kernel module"},
		{"h200-580", "cuImportExternalMemory", cuda.ErrorNotSupported, "", "Jetson Thor and later only"},
		{"mig", "cuIpcGetMemHandle", cuda.ErrorNotSupported, "device", "some MIG instances"},
		{"h200-580", "cuIpcGetMemHandle", cuda.ErrorInvalidValue, "vmm", "share VMM allocations with cumemmap"},
		{"h200-580", "cuIpcGetMemHandle", cuda.ErrorInvalidValue, "pinned", "exist for cuMemAlloc memory only"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidValue, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidHandle, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorMapFailed, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidContext, "", "in the process that made it"},
		{"h200-580", "cuMemExportToShareableHandle", cuda.ErrorInvalidValue, "vmm", "made without this handle type"},
		{"eight-h200", "cuMemSetAccess", cuda.ErrorInvalidDevice, "", "can't address each other's memory"},
		{"eight-h200", "cuMemPoolSetAccess", cuda.ErrorInvalidDevice, "", "can't address each other's memory"},
		{"eight-h200", "cuMemImportFromShareableHandle", cuda.ErrorInvalidDevice, "", "compare CUDA_VISIBLE_DEVICES of both"},
		{"eight-nopeer", "cuIpcOpenMemHandle", cuda.ErrorPeerAccessUnsupported, "", "nvidia-smi topo -p2p r"},
		{"h200-580", "cuMemAddressReserve", cuda.ErrorOutOfMemory, "", "the address space is used up, not the memory"},
		{"h200-580", "cuMemCreate", cuda.ErrorOutOfMemory, "vmm", ""},
		{"exclusive", "cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, "", "compute mode EXCLUSIVE_PROCESS"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, "", ""},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorSystemNotReady, "", "the fabric manager is not running"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorSystemDriverMismatch, "", "reboot after a driver update"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSConnectionFailed, "", "the MPS daemon does not answer"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%s", c.machine, c.call, c.answer.Name(), c.allocator), func(t *testing.T) {
			cudatest.Machine(t, c.machine).Setenv(t)
			lib, err := openLibrary()
			if err != nil {
				t.Fatal(err)
			}
			d := &device{lib: lib}
			e := &cuda.Error{Call: c.call, Args: "its arguments", Result: c.answer}
			got := d.hint(e, c.allocator)
			said[got] = true
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("said %q, want %q", got, c.want)
			}
			// Refused or failed, the system's own words stand beside ours.
			hint := func(e *cuda.Error) string { return d.hint(e, c.allocator) }
			refused := d.refusal(fmt.Errorf("wrapped: %w", e), []cuda.Result{c.answer}, hint)
			var u *share.Unsupported
			if !errors.As(refused, &u) || u.Op != c.call+"(its arguments)" || u.Answer != c.answer || u.Hint != got {
				t.Errorf("refused: %#v", refused)
			}
			failed := d.refusal(e, nil, hint)
			if errors.Is(failed, share.ErrUnsupported) != (c.answer == cuda.ErrorNotSupported) || !errors.Is(failed, c.answer) {
				t.Errorf("failed: %#v", failed)
			}
			for _, err := range []error{refused, failed} {
				text := err.Error()
				if !strings.Contains(text, c.call+"(its arguments): "+c.answer.Error()) || !strings.HasSuffix(text, got) {
					t.Errorf("%q lacks the call, the answer or the sentence", text)
				}
			}
		})
	}
	for _, line := range circumstances {
		if !said[line.text] {
			t.Errorf("no test reaches the line %s, %v: %s", line.call, line.result, line.text)
		}
	}
}

// TestCannotUse says why CUDA can't be used at all.
func TestCannotUse(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("this machine can use it")
	}
	for machine, want := range map[string]string{
		"no-device":   "CUDA_ERROR_NO_DEVICE (100)",
		"mismatch":    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)",
		"fabric-down": "CUDA_ERROR_SYSTEM_NOT_READY (802)",
		"":            "no NVIDIA driver library",
	} {
		t.Run(machine, func(t *testing.T) {
			if machine != "" {
				cudatest.Machine(t, machine).Setenv(t)
			} else {
				t.Setenv(LibraryVariable, "/nowhere/libcuda.so.1")
			}
			_, err := Backend{}.Describe(t.Context())
			var u *share.Unsupported
			if !errors.As(err, &u) || u.Op == "" || u.Answer == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
