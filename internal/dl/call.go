package dl

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// Call calls the C function at fn with up to 15 integer or pointer arguments
// and returns its integer result, untimed. A pointer must be converted to
// uintptr in the argument list itself; see the package documentation. It panics
// when fn is 0 or there are too many arguments.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	if len(args) > 15 {
		panic("dl: Call takes at most 15 arguments")
	}
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// CString returns s as a C string on the heap: its bytes and a terminating NUL.
// It panics when s contains a NUL, which no C function could see past.
func CString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	for _, c := range b[:len(s)] {
		if c == 0 {
			panic("dl: CString of a string that contains NUL")
		}
	}
	return &b[0]
}

// GoString copies the NUL-terminated C string at addr; "" for address 0.
func GoString(addr uintptr) string {
	if addr == 0 {
		return ""
	}
	// The memory is C's: the indirection keeps vet's rule about uintptr, which is
	// for memory of the Go heap, out of it.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
