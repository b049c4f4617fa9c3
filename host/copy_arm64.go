package host

// Routines of copy_arm64.s. They take addresses of memory outside the Go heap; sizes are what their comments there say,
// and not 0.

//go:noescape
func readNEON(addr uintptr, bytes int64) uint64

//go:noescape
func copyNEON(dst, src uintptr, bytes int64)

//go:noescape
func streamNEON(dst, src uintptr, bytes int64)

//go:noescape
func storeNEON(dst uintptr, bytes int64, word uint64)

//go:noescape
func streamStore(dst uintptr, bytes int64, word uint64)

//go:noescape
func cacheType() uint64

//go:noescape
func flush(addr uintptr, lines, line int64)

//go:noescape
func fence()

//go:noescape
func chase(start uintptr, loads int64) uintptr

// vectorName says which instructions the kernels use.
func vectorName() string { return "neon" }

// blockBytes is what the sizes that the block functions below take are multiples of.
const blockBytes = 256

// streamAlign is the alignment of the destination that streaming stores want.
const streamAlign = 16

func readBlocks(addr uintptr, bytes int64) uint64 { return readNEON(addr, bytes) }

func copyBlocks(dst, src uintptr, bytes int64, stream bool) {
	if stream {
		streamNEON(dst, src, bytes)
	} else {
		copyNEON(dst, src, bytes)
	}
}

func storeBlocks(dst uintptr, bytes int64, word uint64, stream bool) {
	if stream {
		streamStore(dst, bytes, word)
	} else {
		storeNEON(dst, bytes, word)
	}
}

// lineBytes is the smallest data cache line of the machine: DminLine of CTR_EL0 counts 4-byte words as a power of two.
var lineBytes = int64(4) << (cacheType() >> 16 & 0xf)

// flushLines starts to drop the lines of a range of memory from all caches; fence waits until they are gone.
func flushLines(addr uintptr, bytes int64) {
	first := addr &^ uintptr(lineBytes-1)
	flush(first, (int64(addr-first)+bytes+lineBytes-1)/lineBytes, lineBytes)
}
