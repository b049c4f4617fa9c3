// Checks and measures the kernels on a real GPU, without the Go tool: once as
// the PTX that the tool carries, compiled by the driver, and once as nvcc
// compiles the same source. From the root of the repository:
//
//   nvcc -O3 -arch=native -o /tmp/kernels-bench kernels/bench/bench.cu && /tmp/kernels-bench
//
// Arguments: [MIB [PTX]], the size of a bandwidth buffer (2048) and the PTX file
// (the one beside this source). Two buffers of that size are allocated. The
// status is 0 if every check held, 1 if not; figures never fail it.
//
// GB/s are 1e9 bytes/s, medians of 11 after 3 that are not counted, by CUDA
// events around one launch that waits behind the gate kernel, as the tool does.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "../kernels.cu"

static int passed, failed;

#define CHECK(ok, ...)                                      \
    do {                                                    \
        if (ok) {                                           \
            passed++;                                       \
        } else {                                            \
            failed++;                                       \
            printf("FAILED %s:%d: ", __FILE__, __LINE__);   \
            printf(__VA_ARGS__);                            \
            printf("\n");                                   \
        }                                                   \
    } while (0)

// MUST ends the program: after a CUDA error no further figure means anything.
#define MUST(call)                                                                            \
    do {                                                                                      \
        int must_result = (int)(call);                                                        \
        if (must_result != 0) {                                                               \
            printf("%s: error %d, %s:%d\n", #call, must_result, __FILE__, __LINE__);          \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

enum Kernel { FILL, VERIFY, READ, WRITE, COPY, EVICT, CHASE_INIT, CHASE, GATE, KERNELS };
static const char *const names[KERNELS] = {"fill", "verify", "read", "write", "copy", "evict", "chase_init", "chase", "gate"};
static const void *const compiled[KERNELS] = {
    (const void *)kernel_fill, (const void *)kernel_verify, (const void *)kernel_read,
    (const void *)kernel_write, (const void *)kernel_copy, (const void *)kernel_evict,
    (const void *)kernel_chase_init, (const void *)kernel_chase, (const void *)kernel_gate,
};

// The driver's functions by dlopen, so that nothing but the runtime is linked.
static CUresult (*module_load_data)(CUmodule *, const void *);
static CUresult (*module_get_function)(CUfunction *, CUmodule, const char *);
static CUresult (*launch_kernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                                 void **, void **);
static CUresult (*func_get_attribute)(int *, CUfunction_attribute, CUfunction);

template <class F> static void driver_symbol(void *lib, const char *name, F *f) {
    *f = (F)dlsym(lib, name);
    if (*f == nullptr) {
        printf("libcuda.so.1 has no %s\n", name);
        exit(1);
    }
}

static CUfunction loaded[KERNELS]; // from the PTX
static bool use_ptx;               // which of the two sets launch uses
static cudaStream_t stream;

static void load_ptx(const std::string &path) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (lib == nullptr) {
        printf("%s\n", dlerror());
        exit(1);
    }
    driver_symbol(lib, "cuModuleLoadData", &module_load_data);
    driver_symbol(lib, "cuModuleGetFunction", &module_get_function);
    driver_symbol(lib, "cuLaunchKernel", &launch_kernel);
    driver_symbol(lib, "cuFuncGetAttribute", &func_get_attribute);
    std::ifstream in(path);
    std::string ptx((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (ptx.empty()) {
        printf("no PTX in %s\n", path.c_str());
        exit(1);
    }
    CUmodule module;
    MUST(module_load_data(&module, ptx.c_str()));
    printf("%s\n%-12s registers, bytes of local memory a thread\n", path.c_str(), "kernel");
    for (int k = 0; k < KERNELS; k++) {
        int registers = 0, local = 0;
        MUST(module_get_function(&loaded[k], module, names[k]));
        MUST(func_get_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, loaded[k]));
        MUST(func_get_attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, loaded[k]));
        printf("%-12s %d, %d\n", names[k], registers, local);
        CHECK(local == 0, "%s uses %d bytes of local memory", names[k], local);
    }
}

// Launches with kernels.Shape's grid for n items; args are the addresses of the
// kernel's arguments.
static void launch(Kernel k, uint64_t n, std::vector<void *> args) {
    uint64_t per_block = k == READ ? 1024 : 256;
    unsigned block = k == CHASE || k == GATE ? 1 : 256;
    unsigned grid = block == 1 ? 1 : (unsigned)std::max<uint64_t>(1, (n + per_block - 1) / per_block);
    if (use_ptx)
        MUST(launch_kernel(loaded[k], grid, 1, 1, block, 1, 1, 0, (CUstream)stream, args.data(), nullptr));
    else
        MUST(cudaLaunchKernel(compiled[k], dim3(grid), dim3(block), args.data(), 0, stream));
}

// The kernels with typed arguments: they are passed by address, so each must
// have exactly the size of its parameter.
static void fill(uint64_t *p, uint64_t words, uint64_t seed) { launch(FILL, words, {&p, &words, &seed}); }
static void verify(const uint64_t *p, uint64_t words, uint64_t seed, unsigned long long *result) {
    launch(VERIFY, words, {&p, &words, &seed, &result});
}
static void stream_read(const uint4 *p, uint64_t n16, uint32_t *sink) { launch(READ, n16, {&p, &n16, &sink}); }
static void stream_write(uint4 *p, uint64_t n16, uint32_t value) { launch(WRITE, n16, {&p, &n16, &value}); }
static void stream_copy(const uint4 *src, uint4 *dst, uint64_t n16) { launch(COPY, n16, {&src, &dst, &n16}); }
static void evict(const uint4 *p, uint64_t n16, uint32_t *sink) { launch(EVICT, n16, {&p, &n16, &sink}); }
static void chase_init(uint64_t *p, uint64_t slots, uint64_t stride, uint64_t mul, uint64_t inc) {
    launch(CHASE_INIT, slots, {&p, &slots, &stride, &mul, &inc});
}
static void chase(const uint64_t *p, uint64_t steps, uint64_t *out) { launch(CHASE, 1, {&p, &steps, &out}); }
static void gate(volatile uint32_t *flag, uint64_t limit_ns, volatile uint32_t *expired) {
    launch(GATE, 1, {&flag, &limit_ns, &expired});
}

static volatile uint32_t *host_words; // pinned: [0] the gate's flag, [1] whether it expired
static cudaEvent_t before, after;

// Time of work in milliseconds by events, the work waiting behind the gate until
// all of it is queued.
static float gated_ms(const std::function<void()> &work) {
    host_words[0] = host_words[1] = 0;
    gate(host_words, 100000000, host_words + 1);
    MUST(cudaEventRecord(before, stream));
    work();
    MUST(cudaEventRecord(after, stream));
    host_words[0] = 1;
    MUST(cudaEventSynchronize(after));
    if (host_words[1] != 0)
        CHECK(false, "the gate expired while work was being queued: this sample is not clean");
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, before, after));
    return ms;
}

static double median_ms(const std::function<void()> &prepare, const std::function<void()> &work) {
    // Not behind a gate: what a first launch loads may wait for the device.
    prepare();
    work();
    std::vector<float> t;
    for (int i = 0; i < 13; i++) {
        prepare();
        MUST(cudaStreamSynchronize(stream));
        float ms = gated_ms(work);
        if (i >= 2)
            t.push_back(ms);
    }
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}

static void nothing() {}

static uint64_t reference_word(uint64_t seed, uint64_t i) {
    uint64_t z = seed + i * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

template <class T> static std::vector<T> fetch(const void *p, size_t n) {
    std::vector<T> v(n);
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

static void check_verify(const char *what, const uint64_t *p, uint64_t words, uint64_t seed, unsigned long long *result,
                         unsigned long long count, unsigned long long low, unsigned long long high) {
    const unsigned long long start[3] = {0, ~0ull, 0};
    MUST(cudaMemcpy(result, start, sizeof start, cudaMemcpyHostToDevice));
    verify(p, words, seed, result);
    std::vector<unsigned long long> r = fetch<unsigned long long>(result, 3);
    CHECK(r[0] == count && r[1] == low && r[2] == high, "verify, %s: %llu %llu %llu, want %llu %llu %llu", what, r[0], r[1],
          r[2], count, low, high);
}

static void check_pattern(uint64_t *p, uint64_t words, unsigned long long *result) {
    const uint64_t seed = 0xFEDCBA9876543210ull;
    for (uint64_t n : {(uint64_t)1, (uint64_t)511, (uint64_t)1000003, words}) {
        MUST(cudaMemset(p, 0xA5, words * 8));
        fill(p, n, seed);
        uint64_t head = std::min<uint64_t>(n, 4096);
        std::vector<uint64_t> first = fetch<uint64_t>(p, head), last = fetch<uint64_t>(p + n - head, head);
        bool same = true;
        for (uint64_t i = 0; i < head; i++)
            same = same && first[i] == reference_word(seed, i) && last[i] == reference_word(seed, n - head + i);
        CHECK(same, "fill of %" PRIu64 " words is not the pattern", n);
        if (n < words)
            CHECK(fetch<uint64_t>(p + n, 1)[0] == 0xA5A5A5A5A5A5A5A5ull, "fill of %" PRIu64 " words writes on", n);
        check_verify("intact", p, n, seed, result, 0, ~0ull, 0);
    }
    const uint64_t low = 12345, high = words - 7, wrong = 0;
    MUST(cudaMemcpy(p + low, &wrong, 8, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(p + high, &wrong, 8, cudaMemcpyHostToDevice));
    check_verify("two words broken", p, words, seed, result, 2, low, high);
    check_verify("up to the second", p, high, seed, result, 1, low, low);
    check_verify("another seed", p, words, seed + 1, result, words, 0, words - 1);
}

static void check_streams(uint4 *a, uint4 *b, uint64_t n16, uint32_t *sink) {
    for (uint64_t n : {(uint64_t)1, (uint64_t)3, (uint64_t)255, (uint64_t)256, (uint64_t)257, (uint64_t)1023, (uint64_t)1024,
                       (uint64_t)1025, (uint64_t)4097, n16 - 1}) {
        uint64_t shown = std::min<uint64_t>(n, 2048);
        fill((uint64_t *)a, 2 * n, n);
        MUST(cudaMemsetAsync(b, 0x5A, n16 * 16, stream));
        stream_copy(a, b, n);
        std::vector<uint64_t> got = fetch<uint64_t>(b + n - shown, 2 * shown + 2);
        bool same = true;
        for (uint64_t i = 0; i < 2 * shown; i++)
            same = same && got[i] == reference_word(n, 2 * (n - shown) + i);
        CHECK(same, "copy of %" PRIu64 " vectors differs", n);
        CHECK(got[2 * shown] == 0x5A5A5A5A5A5A5A5Aull, "copy of %" PRIu64 " vectors writes on", n);

        stream_write(b, n, 0x01020304);
        got = fetch<uint64_t>(b + n - shown, 2 * shown + 2);
        same = true;
        for (uint64_t i = 0; i < 2 * shown; i++)
            same = same && got[i] == 0x0102030401020304ull;
        CHECK(same, "write of %" PRIu64 " vectors is wrong", n);
        CHECK(got[2 * shown] == 0x5A5A5A5A5A5A5A5Aull, "write of %" PRIu64 " vectors writes on", n);

        // One vector that folds to the value at which read and evict store, at the
        // very end: they got there, and their tails load it.
        uint32_t folds[4] = {0x13572468, 0, 0, 0};
        for (int which = 0; which < 2; which++) {
            MUST(cudaMemset(b, 0, n16 * 16));
            MUST(cudaMemcpy(b + n - 1, folds, 16, cudaMemcpyHostToDevice));
            MUST(cudaMemset(sink, 0, 4));
            which == 0 ? stream_read(b, n, sink) : evict(b, n, sink);
            CHECK(fetch<uint32_t>(sink, 1)[0] == folds[0], "%s does not reach the last of %" PRIu64 " vectors",
                  which == 0 ? "read" : "evict", n);
        }
    }
}

static const uint64_t slot_words = 16, chase_mul = 6364136223846793005ull;

static void check_chase(uint64_t *p, uint64_t *out) {
    const uint64_t slots = 1 << 15, inc = 987654321;
    chase_init(p, slots, slot_words, chase_mul, inc);
    std::vector<uint64_t> next = fetch<uint64_t>(p, slots * slot_words);
    uint64_t offset = 0, halfway = 0, length = 0;
    do {
        offset = next[offset / 8];
        if (++length == slots / 2)
            halfway = offset;
    } while (offset != 0 && length < slots && offset % (slot_words * 8) == 0 && offset < slots * slot_words * 8);
    CHECK(offset == 0 && length == slots, "the cycle is %" PRIu64 " long, want %" PRIu64, length, slots);
    for (uint64_t steps : {(uint64_t)0, slots / 2, slots}) {
        chase(p, steps, out);
        uint64_t end = fetch<uint64_t>(out, 1)[0];
        CHECK(end == (steps == slots / 2 ? halfway : 0), "chase of %" PRIu64 " steps ends at %" PRIu64, steps, end);
    }
}

static void check_gate() {
    host_words[0] = host_words[1] = 0;
    MUST(cudaEventRecord(before, stream));
    gate(host_words, 5000000, host_words + 1); // nobody opens it
    MUST(cudaEventRecord(after, stream));
    MUST(cudaEventSynchronize(after));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, before, after));
    CHECK(host_words[1] == 1, "a gate that nobody opened did not say that it expired");
    CHECK(ms > 4.9 && ms < 50, "a gate of 5 ms held for %.3f ms", ms);

    host_words[0] = host_words[1] = 0;
    gate(host_words, 2000000000, host_words + 1);
    MUST(cudaEventRecord(after, stream));
    CHECK(cudaEventQuery(after) == cudaErrorNotReady, "work got past a closed gate");
    host_words[0] = 1;
    MUST(cudaEventSynchronize(after));
    CHECK(host_words[1] == 0, "a gate that was opened in time said that it expired");
}

static void row(const char *what, double bytes, double ms, double goal) {
    printf("  %-34s %8.1f GB/s  %9.4f ms", what, bytes / ms / 1e6, ms);
    if (goal > 0)
        printf("  %s %.0f", bytes / ms / 1e6 >= goal ? "reaches" : "BELOW", goal);
    printf("\n");
}

int main(int argc, char **argv) {
    std::string here = __FILE__;
    std::string::size_type slash = here.rfind('/');
    here = slash == std::string::npos ? "." : here.substr(0, slash);
    uint64_t mib = argc > 1 ? strtoull(argv[1], nullptr, 10) : 2048;
    std::string ptx = argc > 2 ? argv[2] : here + "/../ptx/kernels.ptx";
    if (mib < 64) {
        printf("size %" PRIu64 " MiB: at least 64 are needed, for example 2048\n", mib);
        return 2;
    }
    const uint64_t bytes = mib << 20, n16 = bytes / 16;

    MUST(cudaSetDevice(0));
    cudaDeviceProp prop;
    MUST(cudaGetDeviceProperties(&prop, 0));
    const uint64_t l2 = prop.l2CacheSize;
    const uint64_t scratch_bytes = (4 * l2 + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    const bool goals = strstr(prop.name, "H200") != nullptr && mib >= 2048;
    printf("%s, compute capability %d.%d, %d SMs, L2 %" PRIu64 " bytes; buffers of %" PRIu64 " MiB\n", prop.name, prop.major,
           prop.minor, prop.multiProcessorCount, l2, mib);

    uint4 *a, *b, *scratch;
    uint64_t *out;
    void *pinned;
    MUST(cudaMalloc((void **)&a, bytes));
    MUST(cudaMalloc((void **)&b, bytes));
    MUST(cudaMalloc((void **)&scratch, scratch_bytes));
    MUST(cudaMalloc((void **)&out, 4096));
    MUST(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped));
    host_words = (volatile uint32_t *)pinned;
    MUST(cudaMemset(scratch, 0, scratch_bytes));
    MUST(cudaStreamCreate(&stream)); // in order with cudaMemset and cudaMemcpy
    MUST(cudaEventCreate(&before));
    MUST(cudaEventCreate(&after));
    MUST(cudaDeviceSynchronize());
    uint32_t *sink = (uint32_t *)out;
    load_ptx(ptx);

    for (bool from_ptx : {true, false}) {
        use_ptx = from_ptx;
        printf("%s\n", use_ptx ? "PTX compiled by the driver" : "source compiled by nvcc");
        check_gate();
        check_pattern((uint64_t *)a, bytes / 8, (unsigned long long *)out);
        check_streams(a, b, std::min<uint64_t>(n16, 1 << 22), sink);
        check_chase((uint64_t *)a, out);

        fill((uint64_t *)a, bytes / 8, 1);
        row("read", bytes, median_ms(nothing, [&] { stream_read(a, n16, sink); }), goals ? 4500 : 0);
        row("write", bytes, median_ms(nothing, [&] { stream_write(b, n16, 7); }), goals ? 4550 : 0);
        row("copy, read + written", 2.0 * bytes, median_ms(nothing, [&] { stream_copy(a, b, n16); }), goals ? 4200 : 0);
        row("fill", bytes, median_ms(nothing, [&] { fill((uint64_t *)b, bytes / 8, 2); }), 0);
        row("verify", bytes, median_ms(nothing, [&] { verify((uint64_t *)a, bytes / 8, 1, (unsigned long long *)out); }), 0);
        row("cudaMemcpyAsync, read + written", 2.0 * bytes,
            median_ms(nothing, [&] { MUST(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream)); }), 0);
        row("cudaMemsetAsync", bytes, median_ms(nothing, [&] { MUST(cudaMemsetAsync(b, 1, bytes, stream)); }), 0);

        // Cold caches: after evict a buffer that fits the L2 must come from memory.
        const uint64_t small = 16 << 20;
        auto read_small = [&] { stream_read(a, small / 16, sink); };
        row("read 16 MiB, warm", small, median_ms([&] { evict(a, small / 16, sink); }, read_small), 0);
        row("read 16 MiB, after evict", small, median_ms([&] { evict(scratch, scratch_bytes / 16, sink); }, read_small), 0);
        row("read 16 MiB, after write", small,
            median_ms([&] { stream_write(scratch, scratch_bytes / 16, 0); }, read_small), 0);

        // Latency: over the largest power of two of slots, and within the L2.
        uint64_t large = 1;
        while (large <= bytes / (slot_words * 8) / 2)
            large *= 2;
        const uint64_t steps = 1 << 15;
        for (uint64_t slots : {large, (uint64_t)(8 << 20) / (slot_words * 8)}) {
            chase_init((uint64_t *)a, slots, slot_words, chase_mul, 12345);
            uint64_t lap = std::min(steps, slots);
            double ms = median_ms(
                [&] {
                    if (slots != large)
                        chase((uint64_t *)a, slots, out);
                    else
                        evict(scratch, scratch_bytes / 16, sink);
                },
                [&] { chase((uint64_t *)a, lap, out); });
            printf("  chase through %6.0f MiB, %s          %8.1f ns a load\n", slots * slot_words * 8 / 1048576.0,
                   slots != large ? "warm" : "cold", ms * 1e6 / lap);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
