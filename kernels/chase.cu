// Latency: loads that each need the one before.
#include "device.h"

// Prepares one cycle through all slots: slot i begins at p[i * stride_words] and
// holds the byte offset from p of slot (mul * i + inc) mod slots. For slots a
// power of two, inc odd and mul = 1 mod 4 that is one cycle of full length (Hull
// and Dobell, Random Number Generators, SIAM Review 4(3), 1962, theorem 1).
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(chase_init)(uint64_t *p, uint64_t slots, uint64_t stride_words, uint64_t mul, uint64_t inc) {
    uint64_t step = thread_count();
    for (uint64_t i = thread_index(); i < slots; i += step)
        p[i * stride_words] = ((mul * i + inc) & (slots - 1)) * stride_words * 8;
}

// Follows the cycle for steps loads from slot 0, past L1, in one thread, and
// stores the byte offset where it ends in *out.
extern "C" __global__ void __launch_bounds__(1) KERNEL(chase)(const uint64_t *p, uint64_t steps, uint64_t *out) {
    uint64_t offset = 0;
    for (uint64_t i = 0; i < steps; i++)
        offset = load_word_l2((const uint64_t *)((const char *)p + offset));
    *out = offset;
}
