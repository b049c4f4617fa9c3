// Runs one kernel on the CPU: host_main KERNEL BLOCKS THREADS [NUMBER...], the
// numbers being the kernel's own. Its buffer comes from standard input, the
// results go to standard output: what each kernel gives is said below.
#define GPUSHARE_HOST_SHIM
#include "../kernels.cu"

#include <string.h>

#include <string>

template <class F> static void run_grid(F body) {
    for (machine.block = 0; machine.block < machine.blocks; machine.block++)
        for (machine.thread = 0; machine.thread < machine.threads; machine.thread++)
            body();
}

template <class T> static void put(const T *p, size_t n) {
    if (fwrite(p, sizeof(T), n, stdout) != n)
        exit(1);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    std::string kernel = argv[1];
    machine.blocks = strtoul(argv[2], nullptr, 0);
    machine.threads = strtoul(argv[3], nullptr, 0);
    uint64_t n[5] = {};
    for (int i = 4; i < argc && i < 9; i++)
        n[i - 4] = strtoull(argv[i], nullptr, 0);

    std::vector<uint4> buffer;
    uint4 v;
    while (fread(&v, sizeof v, 1, stdin) == 1)
        buffer.push_back(v);
    uint4 *vectors = buffer.data();
    uint64_t *words = (uint64_t *)vectors;
    machine.base = (const char *)vectors;
    machine.bytes = buffer.size() * sizeof v;
    machine.loads.resize(buffer.size());

    if (kernel == "fill") { // words, seed: the buffer
        run_grid([&] { kernel_fill(words, n[0], n[1]); });
        put(vectors, buffer.size());
    } else if (kernel == "verify") { // words, seed: the three words of the result
        unsigned long long result[3] = {0, ~0ull, 0};
        run_grid([&] { kernel_verify(words, n[0], n[1], result); });
        put(result, 3);
    } else if (kernel == "read" || kernel == "evict") { // n16: the loads of each vector, a byte each
        uint32_t sink = 0;
        run_grid([&] { (kernel == "read" ? kernel_read : kernel_evict)(vectors, n[0], &sink); });
        put(machine.loads.data(), machine.loads.size());
    } else if (kernel == "write") { // n16, value: the buffer
        run_grid([&] { kernel_write(vectors, n[0], (uint32_t)n[1]); });
        put(vectors, buffer.size());
    } else if (kernel == "copy") { // n16: the copy, in a buffer of the same size that held zeros
        std::vector<uint4> dst(buffer.size());
        run_grid([&] { kernel_copy(vectors, dst.data(), n[0]); });
        put(dst.data(), dst.size());
    } else if (kernel == "chase_init") { // slots, stride, mul, inc: the buffer
        run_grid([&] { kernel_chase_init(words, n[0], n[1], n[2], n[3]); });
        put(vectors, buffer.size());
    } else if (kernel == "chase") { // steps: where it ends
        uint64_t out = ~0ull;
        run_grid([&] { kernel_chase(words, n[0], &out); });
        put(&out, 1);
    } else if (kernel == "gate") { // limit, when it opens (a reading of the clock; 0: at once): expired, flag
        uint32_t flag = n[1] == 0, expired = 0;
        machine.gate_flag = &flag;
        machine.gate_opens = n[1];
        run_grid([&] { kernel_gate(&flag, n[0], &expired); });
        put(&expired, 1);
        put(&flag, 1);
    } else {
        return 2;
    }
    return 0;
}
