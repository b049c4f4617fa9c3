// Bandwidth: kernels that stream a buffer once, 16 bytes a load or store.
//
// The loops make every grid right; the grid that covers the buffer once is the
// fast one (a persistent grid measured 4 to 8 % slower on an H200). Sizes are in
// vectors of 16 bytes.
#include "device.h"

static inline __device__ uint32_t fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

// Reads p[0, n16), four vectors a thread. *sink is written only if a thread's
// bytes fold to one value of 2^32: enough that the loads can't be left out.
extern "C" __global__ void __launch_bounds__(256) KERNEL(read)(const uint4 *p, uint64_t n16, uint32_t *sink) {
    uint64_t width = threads_per_block();
    uint64_t step = thread_count() * 4;
    uint32_t folded = 0;
    for (uint64_t i = block_in_grid() * width * 4 + thread_in_block(); i < n16; i += step) {
        if (i + 3 * width < n16) {
            uint4 a = load_streaming(p + i);
            uint4 b = load_streaming(p + i + width);
            uint4 c = load_streaming(p + i + 2 * width);
            uint4 d = load_streaming(p + i + 3 * width);
            folded ^= fold(a) ^ fold(b) ^ fold(c) ^ fold(d);
        } else {
            for (uint64_t j = i; j < n16; j += width)
                folded ^= fold(load_streaming(p + j));
        }
    }
    if (folded == 0x13572468u)
        *sink = folded;
}

// Sets every 32-bit word of p[0, n16) to value, one vector a thread.
extern "C" __global__ void __launch_bounds__(256) KERNEL(write)(uint4 *p, uint64_t n16, uint32_t value) {
    uint4 v = {value, value, value, value};
    uint64_t step = thread_count();
    for (uint64_t i = thread_index(); i < n16; i += step)
        store_streaming(p + i, v);
}

// Copies src[0, n16) to dst[0, n16), one vector a thread. They may not overlap.
extern "C" __global__ void __launch_bounds__(256) KERNEL(copy)(const uint4 *src, uint4 *dst, uint64_t n16) {
    uint64_t step = thread_count();
    for (uint64_t i = thread_index(); i < n16; i += step)
        store_streaming(dst + i, load_streaming(src + i));
}

// Fills the L2 cache with p[0, n16), one vector a thread, so that what was
// there before is gone. It reads: lines that were written would have to go to
// memory during the kernel that is timed next. *sink as in read.
extern "C" __global__ void __launch_bounds__(256) KERNEL(evict)(const uint4 *p, uint64_t n16, uint32_t *sink) {
    uint64_t step = thread_count();
    uint32_t folded = 0;
    for (uint64_t i = thread_index(); i < n16; i += step)
        folded ^= fold(load_l2(p + i));
    if (folded == 0x13572468u)
        *sink = folded;
}
