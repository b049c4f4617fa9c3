package cuda

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// ErrNoDriver is in the chain of [Open]'s error when there is no driver library to load.
var ErrNoDriver = errors.New("no NVIDIA driver library")

// ErrNoSymbol is in the chain of an error about a function that the driver is too old to have.
var ErrNoSymbol = errors.New("this driver does not have the function")

// Result is a CUresult, the number that every driver function returns. The
// results other than Success are errors and work with errors.Is.
type Result int32

// resultNoSymbol stands for a function that could not be called. It never
// leaves the package.
const resultNoSymbol Result = -1

// Name returns the name in the driver manual, "CUDA_ERROR_NOT_SUPPORTED", or ""
// for a number that this package does not know.
func (r Result) Name() string { return resultNames[r] }

// Error gives the name and the number: "CUDA_ERROR_NOT_SUPPORTED (801)".
func (r Result) Error() string {
	if name := resultNames[r]; name != "" {
		return fmt.Sprintf("%s (%d)", name, int32(r))
	}
	return fmt.Sprintf("unknown CUDA result (%d)", int32(r))
}

// Is reports true for syscall.ENOMEM where the driver says that memory or address space has run out.
func (r Result) Is(target error) bool { return r == ErrorOutOfMemory && target == syscall.ENOMEM }

// An Error is a driver call that did not return CUDA_SUCCESS.
type Error struct {
	Call   string // name in the driver manual: "cuMemCreate"
	Args   string // the arguments that matter, in words: "2 MiB, GPU-4be0a5a3, POSIX fd"
	Result Result // the driver's answer
}

// Error gives "cuMemCreate(2 MiB, GPU-4be0a5a3, POSIX fd): CUDA_ERROR_NOT_PERMITTED (800)".
func (e *Error) Error() string {
	return fmt.Sprintf("%s(%s): %v", e.Call, e.Args, e.Result)
}

// Unwrap returns the Result.
func (e *Error) Unwrap() error { return e.Result }

func newError(f fn, r Result, args []string) error {
	return &Error{Call: f.String(), Args: strings.Join(args, ", "), Result: r}
}

// fail makes the error for a call that did not succeed, like [Lib.fail].
func (t *Thread) fail(f fn, r Result, args ...any) error { return t.lib.fail(f, r, args...) }

// An InitError says why the driver library that was loaded cannot be used.
type InitError struct {
	Path   string  // of the library
	Driver Version // newest CUDA version that the driver supports, 0 not known
	Result Result  // of cuInit
}

// Error gives one sentence that says what was tried, what the driver answered
// and what to do.
func (e *InitError) Error() string {
	return fmt.Sprintf("CUDA cannot be used: cuInit of %s (CUDA %s) returned %v: %s",
		e.Path, e.Driver, e.Result, e.Advice())
}

// Unwrap returns the Result.
func (e *InitError) Unwrap() error { return e.Result }

// Advice says what the result of cuInit means and what to do about it.
func (e *InitError) Advice() string {
	if a := e.Result.Advice(); a != "" {
		return a
	}
	return "see whether nvidia-smi works and what the kernel log (dmesg) says about nvidia"
}

// Advice says what the result means from cuInit and what to do about it, or "".
// What it says of the MPS server holds for every function.
func (r Result) Advice() string { return advice[r] }

var advice = map[Result]string{
	ErrorOutOfMemory:                "the host or a GPU has no memory left for the driver; end other processes or raise the memory limit",
	ErrorStubLibrary:                "this file is the link-time stub of the CUDA toolkit; take its stubs directory out of LD_LIBRARY_PATH so that the driver's own library is found",
	ErrorInsufficientDriver:         "the driver is too old for this library; update the NVIDIA driver",
	ErrorCallRequiresNewerDriver:    "the driver is too old for this library; update the NVIDIA driver",
	ErrorDeviceUnavailable:          "the GPU is in use by a process in exclusive mode, or prohibits computing; see nvidia-smi --query-gpu=compute_mode --format=csv",
	ErrorNoDevice:                   "no GPU is visible to this process; check that nvidia-smi lists one, that CUDA_VISIBLE_DEVICES does not hide it, and in a container that it was started with access to the GPUs",
	ErrorInvalidDevice:              "CUDA_VISIBLE_DEVICES names a GPU that is not there; compare it with nvidia-smi -L",
	ErrorDeviceNotLicensed:          "the virtual GPU has no licence; see nvidia-smi -q under vGPU Software Licensed Product",
	ErrorECCUncorrectable:           "a GPU has uncorrectable memory errors; see nvidia-smi -q -d ECC and reset or replace it",
	ErrorOperatingSystem:            "the operating system refused access to the GPU; check the permissions of /dev/nvidia* and the container's device rules",
	ErrorSystemNotReady:             "the system is not ready; on machines with NVSwitch, start nvidia-fabricmanager in the driver's version and wait until nvidia-smi -q shows Fabric State: Completed",
	ErrorSystemDriverMismatch:       "the library and the loaded kernel module are of different driver versions; reboot, or reload the nvidia modules, after a driver update, and in a container use the host's libcuda.so.1 (compare /proc/driver/nvidia/version)",
	ErrorCompatNotSupportedOnDevice: "a forward compatibility library was loaded that this GPU does not support; take the cuda-compat directory out of LD_LIBRARY_PATH, or update the driver",
	ErrorMPSConnectionFailed:        "the MPS control daemon did not answer; start nvidia-cuda-mps-control, or stop it and unset CUDA_MPS_PIPE_DIRECTORY",
	ErrorMPSRPCFailure:              "the MPS server did not answer; restart nvidia-cuda-mps-control",
	ErrorMPSServerNotReady:          "the MPS server is starting or recovering; try again in a few seconds",
	ErrorMPSMaxClientsReached:       "the MPS server has no room for another client; end other clients",
	ErrorMPSMaxConnectionsReached:   "the MPS server has no room for another client; end other clients",
	ErrorMPSClientTerminated:        "the MPS server has ended this client, as it does when another client is at fault; run it again",
	ErrorUnknown:                    "check that the nvidia_uvm kernel module is loaded and /dev/nvidia-uvm exists (nvidia-modprobe -u -c 0); after suspend, reload the module",
}

// noDriver wraps the loader's answer.
func noDriver(path string, err error) error {
	if path != "" {
		return fmt.Errorf("%w: %w; check that the file exists, is a CUDA driver library of this architecture, and that the libraries it needs are there", ErrNoDriver, err)
	}
	return fmt.Errorf("%w: %w; install the NVIDIA driver, or in a container start it with access to the GPUs (docker run --gpus all)", ErrNoDriver, err)
}
