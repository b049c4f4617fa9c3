// What device.h supplies on a GPU, for a CPU that runs the threads of a grid one
// after another. Every load is checked against the buffer that the kernel was
// given, and counted.
#ifndef GPUSHARE_HOST_SHIM_H
#define GPUSHARE_HOST_SHIM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#define __global__
#define __device__
#define __launch_bounds__(n)

struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};

struct Machine {
    uint32_t thread, block, threads, blocks;
    const char *base;             // of the buffer that may be loaded from
    uint64_t bytes;               // its size
    std::vector<uint8_t> loads;   // of each 16-byte vector of it
    uint64_t now;                 // the clock, one more at each reading
    volatile uint32_t *gate_flag; // raised when the clock reads gate_opens
    uint64_t gate_opens;
};
static Machine machine;

static inline uint32_t thread_in_block() { return machine.thread; }
static inline uint32_t block_in_grid() { return machine.block; }
static inline uint32_t threads_per_block() { return machine.threads; }
static inline uint32_t blocks_per_grid() { return machine.blocks; }

template <class T> static inline T checked_load(const T *p) {
    uint64_t offset = (const char *)p - machine.base;
    if ((const char *)p < machine.base || offset + sizeof(T) > machine.bytes || offset % sizeof(T) != 0) {
        fprintf(stderr, "load of %zu bytes at offset %lld of a buffer of %llu\n", sizeof(T), (long long)offset,
                (unsigned long long)machine.bytes);
        exit(1);
    }
    machine.loads[offset / 16]++;
    return *p;
}

static inline uint4 load_streaming(const uint4 *p) { return checked_load(p); }
static inline uint4 load_l2(const uint4 *p) { return checked_load(p); }
static inline uint64_t load_word_l2(const uint64_t *p) { return checked_load(p); }
static inline void store_streaming(uint4 *p, uint4 v) { *p = v; }

static inline void atomic_add(unsigned long long *p, unsigned long long v) { *p += v; }
static inline void atomic_min(unsigned long long *p, unsigned long long v) { *p = v < *p ? v : *p; }
static inline void atomic_max(unsigned long long *p, unsigned long long v) { *p = v > *p ? v : *p; }

static inline uint64_t clock_ns() {
    if (++machine.now == machine.gate_opens)
        *machine.gate_flag = 1;
    return machine.now;
}

static inline void fence_system() {}

#endif
