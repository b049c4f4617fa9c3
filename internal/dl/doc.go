// Package dl loads C libraries at run time without cgo and times single calls
// into them.
//
// It is the only package that knows how a C function is reached from Go; all
// others see addresses. It has three parts:
//
//   - [Open], [Libc] and [Library.Symbol] load a library and find functions.
//   - [Call] calls a function once, untimed, for everything that is set-up.
//   - [Timed] calls a function between two readings of CLOCK_MONOTONIC that are
//     taken on the C side, a few instructions away from the call.
//
// # What a timed call contains
//
// Between the two readings lie the second half of the first clock_gettime,
// the loading of the arguments from the block, the call itself, the storing of
// its result, and the first half of the second clock_gettime. The switch from
// Go to the system stack, the Go scheduler and the garbage collector lie
// outside. [Timed.Overhead] measures what remains with an empty function; it is
// some tens of nanoseconds and should be recorded with the results, not
// subtracted from them.
//
// # Pointers
//
// C sees plain addresses, so what they point to must neither move nor be
// collected during the call. Memory of the Go heap and of mmap does not move;
// memory on a goroutine's stack does. Therefore:
//
//   - A pointer that is itself an argument is converted in the argument list,
//     t.Call(fn, uintptr(unsafe.Pointer(&v)), …). [Call], [Timed.Call] and
//     [Timed.Call8] are marked go:uintptrescapes: the compiler then moves v to
//     the heap and keeps it alive until the call returns. A uintptr computed
//     before the call has no such protection.
//   - A pointer stored inside a structure that C reads (struct iovec inside
//     struct msghdr) is invisible to that rule. Allocate such memory on the heap
//     once, keep it reachable from a live Go variable, and end with
//     runtime.KeepAlive.
//
// # Results
//
// A C function that returns int defines only the low 32 bits of the result:
// convert with int32(r). For a library call that failed, [Timed.Errno] is errno
// as the call left it.
//
// The package works with and without cgo on linux/amd64 and linux/arm64 with
// glibc, because the program links libc and libdl dynamically in both cases.
package dl
