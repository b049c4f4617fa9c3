package nvml

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"gpushare-bench/internal/dl"
)

// ErrNotFound is in the chain of [Open]'s error when there is no NVML to load.
var ErrNotFound = errors.New("no NVIDIA management library (NVML)")

// A Lib is NVML, loaded and initialised. A nil Lib knows no device. Its methods
// can be used from any goroutine.
type Lib struct {
	lib  *dl.Library
	addr [fnCount]uintptr // 0: the library lacks the function
}

// Open loads and initialises NVML (nvmlInit_v2). An empty path means
// libnvidia-ml.so.1, then libnvidia-ml.so, as the loader finds them. The error
// is [ErrNotFound] when there is no such library, otherwise a [Return], such as
// ErrorDriverNotLoaded or ErrorLibRMVersionMismatch.
func Open(path string) (*Lib, error) {
	files := []string{path}
	if path == "" {
		files = []string{"libnvidia-ml.so.1", "libnvidia-ml.so"}
	}
	library, err := dl.Open(files...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	l := &Lib{lib: library}
	for f := range fnCount {
		for _, symbol := range exported[f] {
			if addr, err := library.Symbol(symbol); err == nil {
				l.addr[f] = addr
				break
			}
		}
	}
	if l.addr[nvmlInit] == 0 {
		err := fmt.Errorf("%w: %s has no function %v", ErrNotFound, library.Path(), nvmlInit)
		_ = library.Close() // nothing of it was used
		return nil, err
	}
	if r := l.call(nvmlInit); r != success {
		err := fmt.Errorf("%v of %s: %w", nvmlInit, library.Path(), r)
		_ = library.Close() // a library that did not start holds nothing
		return nil, err
	}
	return l, nil
}

// Close ends the use of NVML (nvmlShutdown). Devices must not be used
// afterwards. The library stays loaded.
func (l *Lib) Close() error {
	if l == nil {
		return nil
	}
	if r := l.call(nvmlShutdown); r != success {
		return fmt.Errorf("%v: %w", nvmlShutdown, r)
	}
	return nil
}

// DriverVersion returns the version of the driver package, "580.159.04"
// (nvmlSystemGetDriverVersion), or "".
func (l *Lib) DriverVersion() string {
	var text [96]byte
	if l.call(nvmlSystemGetDriverVersion, uintptr(unsafe.Pointer(&text)), uintptr(len(text))) != success {
		return ""
	}
	return cString(text[:])
}

// DeviceByPCI finds a device by its PCI address, "0000:0F:00.0"
// (nvmlDeviceGetHandleByPciBusId_v2).
func (l *Lib) DeviceByPCI(address string) (*Device, error) {
	return l.device(nvmlDeviceGetHandleByPciBusId, address)
}

// DeviceByUUID finds a GPU by its UUID, "GPU-…", or a MIG instance, "MIG-…"
// (nvmlDeviceGetHandleByUUID).
func (l *Lib) DeviceByUUID(uuid string) (*Device, error) {
	return l.device(nvmlDeviceGetHandleByUUID, uuid)
}

func (l *Lib) device(f fn, name string) (*Device, error) {
	if l == nil {
		return nil, ErrNotFound
	}
	text := append([]byte(name), 0)
	var handle uintptr
	if r := l.call(f, uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(unsafe.Pointer(&handle))); r != success {
		return nil, fmt.Errorf("%v(%s): %w", f, name, r)
	}
	return &Device{lib: l, handle: handle}, nil
}

// call calls a function. Pointers among the arguments must be converted in the
// argument list itself, which keeps what they point to in place and alive.
//
//go:uintptrescapes
func (l *Lib) call(f fn, args ...uintptr) Return {
	if l == nil {
		return ErrorUninitialized
	}
	addr := l.addr[f]
	if addr == 0 {
		return ErrorFunctionNotFound
	}
	return Return(int32(dl.Call(addr, args...)))
}

// cString returns the bytes before the first NUL.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}
