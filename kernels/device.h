// What the kernels need from the machine they run on, for three compilers:
//
//   nvcc               uses its own headers;
//   clang, -x cuda     without any CUDA headers, which is how ptx/ is built;
//   a host compiler    with GPUSHARE_HOST_SHIM, which is how the tests run the
//                      kernels' bodies on a CPU, one thread after another.
//
// The memory instructions are written as PTX so that both device compilers
// give the same ones. A pointer into the global window has the same value as a
// generic pointer, which CUDA's own __ldcs relies on too.
#ifndef GPUSHARE_DEVICE_H
#define GPUSHARE_DEVICE_H

// The name of a kernel in its source. In ptx/ it is the name itself; where the
// kernels become functions of a host program they must not replace libc's
// read and write.
#if defined(__clang__) && defined(__CUDA__)
#define KERNEL(name) name
#else
#define KERNEL(name) kernel_##name
#endif

#if defined(GPUSHARE_HOST_SHIM)

#include "testdata/host_shim.h"

#else

#if defined(__clang__) && defined(__CUDA__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))

typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
struct __attribute__((aligned(16))) uint4 {
    uint32_t x, y, z, w;
};

static inline __device__ uint32_t thread_in_block() { return __nvvm_read_ptx_sreg_tid_x(); }
static inline __device__ uint32_t block_in_grid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
static inline __device__ uint32_t threads_per_block() { return __nvvm_read_ptx_sreg_ntid_x(); }
static inline __device__ uint32_t blocks_per_grid() { return __nvvm_read_ptx_sreg_nctaid_x(); }

#else

#include <stdint.h>

static inline __device__ uint32_t thread_in_block() { return threadIdx.x; }
static inline __device__ uint32_t block_in_grid() { return blockIdx.x; }
static inline __device__ uint32_t threads_per_block() { return blockDim.x; }
static inline __device__ uint32_t blocks_per_grid() { return gridDim.x; }

#endif

// 16 bytes, evict-first: a stream that is used once should not push other
// lines out. Not volatile, so that several loads can be in flight; a kernel
// must not write what it loads this way.
static inline __device__ uint4 load_streaming(const uint4 *p) {
    uint4 v;
    asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

static inline __device__ void store_streaming(uint4 *p, uint4 v) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

// 16 bytes, cached in L2 with the normal priority, past L1.
static inline __device__ uint4 load_l2(const uint4 *p) {
    uint4 v;
    asm("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

// 8 bytes past L1. Volatile: each is made, in order.
static inline __device__ uint64_t load_word_l2(const uint64_t *p) {
    uint64_t v;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

static inline __device__ void atomic_add(unsigned long long *p, unsigned long long v) {
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

static inline __device__ void atomic_min(unsigned long long *p, unsigned long long v) {
    asm volatile("red.global.min.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

static inline __device__ void atomic_max(unsigned long long *p, unsigned long long v) {
    asm volatile("red.global.max.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

// Nanoseconds of a clock that all multiprocessors share. Its step is up to
// about a microsecond.
static inline __device__ uint64_t clock_ns() {
    uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

// Makes this thread's stores visible to the host and to other devices.
static inline __device__ void fence_system() { asm volatile("membar.sys;" ::: "memory"); }

#endif

// This thread's number in a one-dimensional grid, and how many threads it has.
static inline __device__ uint64_t thread_index() {
    return (uint64_t)block_in_grid() * threads_per_block() + thread_in_block();
}

static inline __device__ uint64_t thread_count() { return (uint64_t)blocks_per_grid() * threads_per_block(); }

#endif
