// The kernels that the emulation can run, by name, and modules.
#define _GNU_SOURCE
#include "emulated.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

static uint64_t last_seed, seed_before; // of the two newest fills

uint64_t pattern_word(uint64_t seed, uint64_t i) {
    uint64_t z = seed + i * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void pattern_stale(uint8_t *at, uint64_t bytes) {
    for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word = seed_before ? pattern_word(seed_before, i / 8) : 0;
        memcpy(at + i, &word, 8);
    }
}

// Whether the kernel may use a buffer that has the given alignment.
static bool may(struct context *c, uint64_t address, uint64_t bytes, unsigned alignment, bool write, char *why, size_t size) {
    if (address % alignment) {
        snprintf(why, size, "address %#llx is not aligned to %u bytes", (unsigned long long)address, alignment);
        return false;
    }
    pthread_mutex_lock(&driver_mutex);
    bool ok = range_usable(c, address, bytes, write, why, size);
    pthread_mutex_unlock(&driver_mutex);
    return ok;
}

#define MAY(address, bytes, alignment, write)                           \
    do {                                                                \
        if (!may(c, address, bytes, alignment, write, why, size))       \
            return false;                                               \
    } while (0)

static bool fill(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[1] * 8, 8, true);
    uint64_t *p = (uint64_t *)a[0];
    for (uint64_t i = 0; i < a[1]; i++)
        p[i] = pattern_word(a[2], i);
    seed_before = last_seed;
    last_seed = a[2];
    return true;
}

static bool verify(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[1] * 8, 8, false);
    MAY(a[3], 24, 8, true);
    const uint64_t *p = (const uint64_t *)a[0];
    uint64_t *result = (uint64_t *)a[3];
    for (uint64_t i = 0; i < a[1]; i++) {
        if (p[i] == pattern_word(a[2], i))
            continue;
        result[0]++;
        result[1] = i < result[1] ? i : result[1];
        result[2] = i > result[2] ? i : result[2];
    }
    return true;
}

static bool read_vectors(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[1] * 16, 16, false);
    MAY(a[2], 4, 4, true);
    const uint64_t *p = (const uint64_t *)a[0];
    uint64_t folded = 0;
    for (uint64_t i = 0; i < 2 * a[1]; i++)
        folded ^= p[i];
    uint32_t narrow = (uint32_t)(folded ^ folded >> 32);
    if (narrow == 0x13572468u)
        *(uint32_t *)a[2] = narrow;
    return true;
}

// There is no cache to clear, and the scratch buffer is large.
static bool evict(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[1] * 16, 16, false);
    MAY(a[2], 4, 4, true);
    return true;
}

static bool write_vectors(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[1] * 16, 16, true);
    uint64_t *p = (uint64_t *)a[0], v = (a[2] & 0xffffffffu) << 32 | (a[2] & 0xffffffffu);
    for (uint64_t i = 0; i < 2 * a[1]; i++)
        p[i] = v;
    return true;
}

static bool copy_vectors(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], a[2] * 16, 16, false);
    MAY(a[1], a[2] * 16, 16, true);
    memcpy((void *)a[1], (const void *)a[0], a[2] * 16);
    return true;
}

static bool chase_init(struct context *c, const uint64_t *a, char *why, size_t size) {
    uint64_t slots = a[1], stride = a[2];
    MAY(a[0], slots ? ((slots - 1) * stride + 1) * 8 : 0, 8, true);
    uint64_t *p = (uint64_t *)a[0];
    for (uint64_t i = 0; i < slots; i++)
        p[i * stride] = ((a[3] * i + a[4]) & (slots - 1)) * stride * 8;
    return true;
}

static bool chase(struct context *c, const uint64_t *a, char *why, size_t size) {
    uint64_t offset = 0, low = 1, high = 0; // offsets known to be fine: [low, high)
    MAY(a[2], 8, 8, true);
    for (uint64_t i = 0; i < a[1]; i++) {
        if (offset < low || offset >= high) {
            MAY(a[0] + offset, 8, 8, false);
            pthread_mutex_lock(&driver_mutex);
            struct range *r = range_find(a[0] + offset);
            low = r && r->base <= a[0] ? 0 : offset;
            high = r ? r->base + r->size - a[0] - 7 : offset + 1;
            pthread_mutex_unlock(&driver_mutex);
        }
        offset = *(const uint64_t *)(a[0] + offset);
    }
    *(uint64_t *)a[2] = offset;
    return true;
}

static bool gate(struct context *c, const uint64_t *a, char *why, size_t size) {
    MAY(a[0], 4, 4, false);
    MAY(a[2], 4, 4, true);
    uint64_t start = now_ns();
    while (__atomic_load_n((uint32_t *)a[0], __ATOMIC_ACQUIRE) == 0) {
        uint64_t waited = now_ns() - start;
        if (waited >= a[1]) {
            __atomic_store_n((uint32_t *)a[2], 1, __ATOMIC_RELEASE);
            break;
        }
        if (waited < 20000)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return true;
}

static uint64_t words(const uint64_t *a) { return a[1] * 8; }
static uint64_t vectors(const uint64_t *a) { return a[1] * 16; }
static uint64_t copied(const uint64_t *a) { return a[2] * 16; }
static uint64_t one_word(const uint64_t *a) { return a[0] ? 4 : 0; }
static uint64_t slots(const uint64_t *a) { return a[1] * a[2] * 8; }

static const struct kernel kernels[] = {
    {"fill", 3, {8, 8, 8}, 256, words, fill},
    {"verify", 4, {8, 8, 8, 8}, 256, words, verify},
    {"read", 3, {8, 8, 8}, 256, vectors, read_vectors},
    {"write", 3, {8, 8, 4}, 256, vectors, write_vectors},
    {"copy", 3, {8, 8, 8}, 256, copied, copy_vectors},
    {"evict", 3, {8, 8, 8}, 256, vectors, evict},
    {"chase_init", 5, {8, 8, 8, 8, 8}, 256, slots, chase_init},
    {"chase", 3, {8, 8, 8}, 1, one_word, chase},
    {"gate", 3, {8, 8, 8}, 1, one_word, gate},
};

const struct kernel *kernel_by_name(const char *name) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (!strcmp(kernels[i].name, name))
            return &kernels[i];
    return NULL;
}

static void poison(struct context *c, CUresult result) {
    pthread_mutex_lock(&driver_mutex);
    context_poison(c, result);
    pthread_mutex_unlock(&driver_mutex);
}

void operation_launch(struct operation *o) {
    const struct kernel *k = o->launch.kernel;
    const struct fault *f = o->launch.fault;
    const uint64_t *a = o->launch.argument;
    char why[256];
    if (fault_is(f, "trap")) {
        poison(o->context, CUDA_ERROR_LAUNCH_FAILED);
        return;
    }
    if (fault_is(f, "skip"))
        return;
    CUresult injected = fault_before(f);
    if (injected != CUDA_SUCCESS) {
        poison(o->context, injected);
        return;
    }
    bool reads = k->run == verify || k->run == read_vectors || k->run == copy_vectors;
    if (reads && f && may(o->context, a[0], k->bytes(a), 1, false, why, sizeof why))
        fault_corrupt(f, (uint8_t *)a[0], k->bytes(a));
    if (!k->run(o->context, a, why, sizeof why)) {
        pthread_mutex_lock(&driver_mutex);
        violation("kernel %s: %s", k->name, why);
        context_poison(o->context, CUDA_ERROR_ILLEGAL_ADDRESS);
        pthread_mutex_unlock(&driver_mutex);
        return;
    }
    if (!reads && f)
        fault_corrupt(f, (uint8_t *)a[0], k->bytes(a));
}
