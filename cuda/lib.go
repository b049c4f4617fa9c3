package cuda

import (
	"fmt"
	"unsafe"

	"gpushare-bench/internal/dl"
)

// EmulatedSymbol is a function, const char *gpushareEmulated(void), that an
// emulated driver exports and the real one lacks. It returns the name of the
// emulated machine.
const EmulatedSymbol = "gpushareEmulated"

// A Lib is a loaded and initialised driver library. Its methods can be used
// from any goroutine. It is never unloaded: the driver keeps threads and device
// mappings of its own until the process ends.
type Lib struct {
	lib      *dl.Library
	addr     [fnCount]uintptr // 0: the library lacks the function
	version  Version
	machine  string // of an emulated driver
	emulated bool
}

// Version is the newest CUDA version that a driver supports: 1000 x major + 10 x minor.
type Version int

// String gives "13.0", or "unknown" for 0.
func (v Version) String() string {
	if v <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10)
}

// Open loads the driver library and initialises it (cuInit). An empty path
// means libcuda.so.1, then libcuda.so, as the loader finds them.
//
// The error is [ErrNoDriver] when no library can be loaded, otherwise an
// [*InitError] whose Result says why CUDA cannot be used: ErrorNoDevice,
// ErrorSystemDriverMismatch, ErrorCompatNotSupportedOnDevice,
// ErrorSystemNotReady, ErrorMPSConnectionFailed and others. Its text ends in
// what to do.
func Open(path string) (*Lib, error) {
	files := []string{path}
	if path == "" {
		files = []string{"libcuda.so.1", "libcuda.so"}
	}
	library, err := dl.Open(files...)
	if err != nil {
		return nil, noDriver(path, err)
	}
	l := &Lib{lib: library}
	for f := range fnCount {
		addr, err := library.Symbol(exported[f])
		if err != nil && older[f] != "" {
			addr, err = library.Symbol(older[f])
		}
		if err == nil {
			l.addr[f] = addr
		}
	}
	if l.addr[cuInit] == 0 {
		err := fmt.Errorf("%s is not a CUDA driver library: it has no function cuInit: %w", library.Path(), ErrNoDriver)
		_ = library.Close() // nothing of it was used
		return nil, err
	}
	if addr, err := library.Symbol(EmulatedSymbol); err == nil {
		l.emulated = true
		l.machine = dl.GoString(dl.Call(addr))
	}
	// The version is asked for first, so that a failure of cuInit can name it.
	var v int32
	if l.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&v))) == Success {
		l.version = Version(v)
	}
	if r := l.call(cuInit, 0); r != Success {
		return nil, &InitError{Path: library.Path(), Driver: l.version, Result: r}
	}
	return l, nil
}

// Path returns the file that the library was loaded from.
func (l *Lib) Path() string { return l.lib.Path() }

// DriverVersion returns the newest CUDA version that the driver supports, 0 if
// it does not tell (cuDriverGetVersion). It is not the version of the driver
// package, 580.65.06: that one is known to NVML.
func (l *Lib) DriverVersion() Version { return l.version }

// Emulated reports whether the library is an emulated driver, and the name of
// the machine that it emulates.
func (l *Lib) Emulated() (emulated bool, machine string) { return l.emulated, l.machine }

// Has reports whether the driver has all the functions, given by their names in
// the driver manual ("cuMemAlloc") or their symbols ("cuMemAlloc_v2").
func (l *Lib) Has(functions ...string) bool { return l.Require(functions...) == nil }

// Require is nil when the driver has all the functions; otherwise an error
// about the first missing one, with [ErrNoSymbol] in its chain.
func (l *Lib) Require(functions ...string) error {
	for _, name := range functions {
		if f, ok := lookup(name); ok {
			if l.addr[f] == 0 {
				return l.noSymbol(f.String())
			}
			continue
		}
		if _, err := l.lib.Symbol(name); err != nil {
			return l.noSymbol(name)
		}
	}
	return nil
}

// call makes an untimed call. Pointers among the arguments must be converted in
// the argument list itself, which keeps what they point to in place and alive.
//
//go:uintptrescapes
func (l *Lib) call(f fn, args ...uintptr) Result {
	addr := l.addr[f]
	if addr == 0 {
		return resultNoSymbol
	}
	return Result(int32(dl.Call(addr, args...)))
}

// fail makes the error for a call that did not succeed; args are its arguments,
// strings or what argText puts into words.
func (l *Lib) fail(f fn, r Result, args ...any) error {
	if r == resultNoSymbol {
		return l.noSymbol(f.String())
	}
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = l.argText(arg)
	}
	return newError(f, r, words)
}

func (l *Lib) noSymbol(name string) error {
	return fmt.Errorf("%s: %w: the driver supports CUDA %s (%s); a newer driver is needed",
		name, ErrNoSymbol, l.version, l.lib.Path())
}
