package kernels

import _ "embed"

// PTX is the module with all kernels, as text. Drivers from CUDA 11 on compile
// it for any GPU from Volta (compute capability 7.0) on when it is loaded with
// cuModuleLoadData, which needs a terminating zero byte that PTX does not have.
//
//go:embed ptx/kernels.ptx
var PTX string

// Names of the kernels in PTX, for cuModuleGetFunction. The comments give the
// parameters in CUDA C++; pointers are device addresses of 8 bytes.
const (
	Fill      = "fill"       // uint64_t *p, uint64_t words, uint64_t seed
	Verify    = "verify"     // const uint64_t *p, uint64_t words, uint64_t seed, unsigned long long *result
	Read      = "read"       // const uint4 *p, uint64_t n16, uint32_t *sink
	Write     = "write"      // uint4 *p, uint64_t n16, uint32_t value
	Copy      = "copy"       // const uint4 *src, uint4 *dst, uint64_t n16
	Evict     = "evict"      // const uint4 *p, uint64_t n16, uint32_t *sink
	ChaseInit = "chase_init" // uint64_t *p, uint64_t slots, uint64_t stride_words, uint64_t mul, uint64_t inc
	Chase     = "chase"      // const uint64_t *p, uint64_t steps, uint64_t *out
	Gate      = "gate"       // volatile uint32_t *flag, uint64_t limit_ns, volatile uint32_t *expired
)

// Names lists every kernel in PTX.
func Names() []string {
	return []string{Fill, Verify, Read, Write, Copy, Evict, ChaseInit, Chase, Gate}
}

// BlockThreads is the number of threads in a block of every kernel but Chase
// and Gate, which run in one thread. The kernels are built for no more.
const BlockThreads = 256

// MaxGrid is the largest number of blocks in a grid's first dimension
// (CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X on every GPU from Kepler on).
const MaxGrid = 1<<31 - 1

// Shape returns the launch that was fastest on an H200 for a kernel's work of n
// items: blocks in the grid and threads in a block, both in the first
// dimension. The items are the kernel's own: 16-byte vectors for Read, Write,
// Copy and Evict, 8-byte words for Fill and Verify, slots for ChaseInit. The
// grid covers the work once, with four vectors a thread for Read and one item a
// thread for the others, and has at least one block; beyond MaxGrid the kernels
// loop. Chase and Gate run in one thread whatever n is.
func Shape(kernel string, n uint64) (grid, block uint32) {
	perBlock := uint64(BlockThreads)
	switch kernel {
	case Chase, Gate:
		return 1, 1
	case Read:
		perBlock *= 4
	}
	blocks := n / perBlock
	if n%perBlock != 0 {
		blocks++
	}
	return uint32(min(max(blocks, 1), MaxGrid)), BlockThreads
}

// EvictBytes returns how much of a scratch buffer Evict reads to leave nothing
// else in a last-level cache of l2 bytes: four times its size, rounded up to
// 2 MiB, because replacement is not strictly by age.
func EvictBytes(l2 uint64) uint64 {
	const granule = 2 << 20
	return (4*l2 + granule - 1) / granule * granule
}

// SlotWords is the distance between two slots of a chase in 8-byte words: one
// 128-byte cache line.
const SlotWords = 16

// ChaseParams returns the arguments of ChaseInit for a buffer of size bytes:
// the largest power of two of slots, SlotWords apart, that fit, and a
// multiplier and increment for which the cycle goes through all of them once
// (Hull and Dobell: an odd increment and a multiplier of 1 mod 4, modulo a power
// of two). The same seed gives the same cycle. A buffer of less than two slots
// has no chase: slots is 0.
func ChaseParams(size, seed uint64) (slots, strideWords, mul, inc uint64) {
	fit := size / (SlotWords * 8)
	if fit < 2 {
		return 0, SlotWords, 0, 0
	}
	slots = 2
	for slots <= fit/2 {
		slots *= 2
	}
	// The multiplier is Knuth's for MMIX (TAOCP volume 2, 3.3.4, table 1).
	return slots, SlotWords, 6364136223846793005, seed | 1
}
