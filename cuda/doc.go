// Package cuda calls the NVIDIA driver (libcuda.so.1) without cgo and without
// any CUDA header or toolkit at build time.
//
// There are two types to know:
//
//   - A [Lib] is a loaded driver library, made by [Open]. Its methods are
//     queries about the machine and its devices; they can be used from any
//     goroutine. Several libraries can be loaded at once.
//   - A [Thread] makes the calls that allocate, export, import, map, copy and
//     launch. Each of them is one driver call between two readings of
//     CLOCK_MONOTONIC and is reported to the thread's [Recorder]. A call
//     allocates no Go memory. A Thread without a Recorder is quiet: a program
//     that measures has one Thread that records and a quiet one for everything
//     that is not part of the measurement.
//
// Methods are named after the driver call without its prefix and version
// suffix: cuMemCreate is [Thread.MemCreate]. The record and the errors use the
// driver manual's name ("cuMemAlloc", where the library exports cuMemAlloc_v2).
//
//	lib, err := cuda.Open("")
//	dev, err := lib.DeviceGet(0)
//	ctx, err := lib.DevicePrimaryCtxRetain(dev)
//	runtime.LockOSThread() // a CUDA context is current to an OS thread
//	t, err := cuda.NewThread(lib)
//	err = t.CtxSetCurrent(ctx)
//	t.Recorder = tape
//	mem, err := t.MemCreate(2<<20, cuda.AllocationProp{
//		Location: cuda.AtDevice(dev), Handles: cuda.HandlePosixFD})
//	fd, err := t.MemExportFD(mem)
//
// # Errors
//
// A refused call is an [*Error] that holds the call, its arguments in words and
// the [Result]; errors.Is(err, cuda.ErrorNotSupported) asks for the result.
// A function that the driver is too old to have is never called: the method
// returns an error with [ErrNoSymbol] in its chain, and [Lib.Require] asks
// beforehand. [Open] explains what stands in the way of using CUDA at all and
// what to do about it.
//
// # Sources
//
// Function semantics, enumerators and structures: NVIDIA, CUDA Driver API
// reference manual, version 13.0 (docs.nvidia.com/cuda/cuda-driver-api), and
// the layout that a C compiler gives the structures of that version's cuda.h on
// 64-bit Linux. A test asserts each size and offset.
package cuda
