// The pattern that tells whether a shared buffer holds what its other owner
// wrote: word i of seed s is SplitMix64's finaliser of s + i * golden ratio, so
// no two words of a seed are equal and any word can be computed alone.
#include "device.h"

static inline __device__ uint64_t pattern_word(uint64_t seed, uint64_t i) {
    uint64_t z = seed + i * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Writes the pattern of seed to p[0, words).
extern "C" __global__ void __launch_bounds__(256) KERNEL(fill)(uint64_t *p, uint64_t words, uint64_t seed) {
    uint64_t step = thread_count();
    for (uint64_t i = thread_index(); i < words; i += step)
        p[i] = pattern_word(seed, i);
}

// Compares p[0, words) with the pattern of seed. result is {0, ~0, 0} before;
// after: {words that differ, lowest index of one, highest index of one}.
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(verify)(const uint64_t *p, uint64_t words, uint64_t seed, unsigned long long *result) {
    uint64_t step = thread_count();
    uint64_t count = 0, first = ~(uint64_t)0, last = 0;
    for (uint64_t i = thread_index(); i < words; i += step) {
        if (load_word_l2(p + i) != pattern_word(seed, i)) {
            if (count++ == 0)
                first = i;
            last = i;
        }
    }
    if (count != 0) {
        atomic_add(result, count);
        atomic_min(result + 1, first);
        atomic_max(result + 2, last);
    }
}
