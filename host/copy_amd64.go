package host

// Routines of copy_amd64.s. They take addresses of memory outside the Go heap; sizes are what their comments there say,
// and not 0.

//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() (enabled uint32)

//go:noescape
func readAVX(addr uintptr, bytes int64) uint64

//go:noescape
func readSSE(addr uintptr, bytes int64) uint64

//go:noescape
func copyAVX(dst, src uintptr, bytes int64)

//go:noescape
func copySSE(dst, src uintptr, bytes int64)

//go:noescape
func streamAVX(dst, src uintptr, bytes int64)

//go:noescape
func streamSSE(dst, src uintptr, bytes int64)

//go:noescape
func storeAVX(dst uintptr, bytes int64, word uint64)

//go:noescape
func storeSSE(dst uintptr, bytes int64, word uint64)

//go:noescape
func streamStore(dst uintptr, bytes int64, word uint64)

//go:noescape
func flushOpt(addr uintptr, lines int64)

//go:noescape
func flushOld(addr uintptr, lines int64)

//go:noescape
func fence()

//go:noescape
func chase(start uintptr, loads int64) uintptr

// What the processor has.
var hasAVX2, hasFlushOpt = features()

func features() (avx2, flushOpt bool) {
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return false, false
	}
	_, _, c, _ := cpuid(1, 0)
	_, b, _, _ := cpuid(7, 0)
	const osxsave, avx, xmmYmm = 1 << 27, 1 << 28, 6
	saved := c&osxsave != 0 && c&avx != 0 && xgetbv()&xmmYmm == xmmYmm
	return saved && b&(1<<5) != 0, b&(1<<23) != 0
}

// vectorName says which instructions the kernels use.
func vectorName() string {
	if hasAVX2 {
		return "avx2"
	}
	return "sse2"
}

// blockBytes is what the sizes that the block functions below take are multiples of.
const blockBytes = 256

// streamAlign is the alignment of the destination that streaming stores want.
const streamAlign = 32

func readBlocks(addr uintptr, bytes int64) uint64 {
	if hasAVX2 {
		return readAVX(addr, bytes)
	}
	return readSSE(addr, bytes)
}

func copyBlocks(dst, src uintptr, bytes int64, stream bool) {
	switch {
	case stream && hasAVX2:
		streamAVX(dst, src, bytes)
	case stream:
		streamSSE(dst, src, bytes)
	case hasAVX2:
		copyAVX(dst, src, bytes)
	default:
		copySSE(dst, src, bytes)
	}
}

func storeBlocks(dst uintptr, bytes int64, word uint64, stream bool) {
	switch {
	case stream:
		streamStore(dst, bytes, word)
	case hasAVX2:
		storeAVX(dst, bytes, word)
	default:
		storeSSE(dst, bytes, word)
	}
}

// flushLines starts to drop the lines of a range of memory from all caches; fence waits until they are gone.
func flushLines(addr uintptr, bytes int64) {
	const line = 64 // of every processor with these instructions
	first := addr &^ (line - 1)
	lines := (int64(addr-first) + bytes + line - 1) / line
	if hasFlushOpt {
		flushOpt(first, lines)
	} else {
		flushOld(first, lines)
	}
}
