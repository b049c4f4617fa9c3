#define _GNU_SOURCE
#include "bare.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct tape *tape;
CUdevice device;
CUstream stream;
static CUcontext context;

void record(int phase, const char *call, int64_t ns)
{
    if (tape->n == MAX_SPANS) {
        fprintf(stderr, "more than %d timed calls in a cycle\n", MAX_SPANS);
        exit(1);
    }
    tape->spans[tape->n++] = (struct span){phase, call, ns};
}

void check(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "an unknown error";
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s (%d), %s:%d\n", call, name, (int)result, file, line);
    exit(1);
}

void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

void send_handle(int socket, const struct message *m, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec data = {(void *)m, sizeof *m};
    struct msghdr h = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        h.msg_control = control.bytes;
        h.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    tape->sent = now();
    if (sendmsg(socket, &h, MSG_NOSIGNAL) != (ssize_t)sizeof *m)
        fail("send the handle");
}

int receive_handle(int socket, struct message *m, int polling)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec data = {m, sizeof *m};
    struct msghdr h;
    ssize_t n;
    do {
        h = (struct msghdr){.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
        n = recvmsg(socket, &h, MSG_CMSG_CLOEXEC | (polling ? MSG_DONTWAIT : 0));
    } while (n < 0 && (errno == EAGAIN || errno == EINTR));
    tape->received = now();
    if (n < 0)
        fail("receive the handle");
    if (n == 0)
        exit(1); // the other end has said why
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    int fd = -1;
    if (c != NULL)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

void send_word(int socket)
{
    char word = 0;
    if (send(socket, &word, 1, MSG_NOSIGNAL) != 1)
        exit(1); // the other end is gone
}

void receive_word(int socket)
{
    char word;
    ssize_t n;
    do
        n = recv(socket, &word, 1, 0);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        exit(1);
}

void die_with_parent(void)
{
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        exit(1); // it died before the call
}

void pin_to(int cpu)
{
    if (cpu < 0)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("bind a process to a core");
}

void *shared_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED)
        fail("memory for the samples");
    return p;
}

void open_device(void)
{
    CHECKED(cuInit, 0);
    CHECKED(cuDeviceGet, &device, 0);
    CHECKED(cuDevicePrimaryCtxRetain, &context, device);
    CHECKED(cuCtxSetCurrent, context);
    CHECKED(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
}

void close_device(void)
{
    CHECKED(cuStreamDestroy, stream);
    CHECKED(cuDevicePrimaryCtxRelease, device);
}

CUmemAllocationProp vmm_properties(void)
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return p;
}

CUmemAccessDesc vmm_access(void)
{
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.location.id = device;
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return a;
}

size_t vmm_round(size_t size)
{
    CUmemAllocationProp p = vmm_properties();
    size_t granularity;
    CHECKED(cuMemGetAllocationGranularity, &granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    return (size + granularity - 1) / granularity * granularity;
}

// --- kernels ---------------------------------------------------------------

static CUfunction fill_kernel, verify_kernel, read_kernel, gate_kernel;
static CUdeviceptr result; // of verify: mismatching words, index of the first and of the last; 512: what read sums up

void load_kernels(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail(path);
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    CUmodule module;
    CHECKED(cuModuleLoadData, &module, text);
    CHECKED(cuModuleGetFunction, &fill_kernel, module, "fill");
    CHECKED(cuModuleGetFunction, &verify_kernel, module, "verify");
    CHECKED(cuModuleGetFunction, &read_kernel, module, "read");
    CHECKED(cuModuleGetFunction, &gate_kernel, module, "gate");
    CHECKED(cuMemAlloc, &result, 4096);
}

static volatile uint32_t *gate; // 0: the flag that the kernel waits for; 16: where it says that it has given up

void close_gate(CUstream s)
{
    CUdeviceptr flag, expired;
    uint64_t limit_ns = 2000000000;
    if (gate == NULL)
        CHECKED(cuMemHostAlloc, (void **)&gate, 4096, CU_MEMHOSTALLOC_DEVICEMAP);
    CHECKED(cuMemHostGetDevicePointer, &flag, (void *)gate, 0);
    expired = flag + 64;
    gate[0] = gate[16] = 0;
    void *arguments[] = {&flag, &limit_ns, &expired};
    CHECKED(cuLaunchKernel, gate_kernel, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL);
}

void open_gate(CUstream s)
{
    __atomic_store_n(&gate[0], 1, __ATOMIC_SEQ_CST);
    CHECKED(cuStreamSynchronize, s);
    if (gate[16] != 0) {
        fprintf(stderr, "the work was not queued within the gate's 2 seconds\n");
        exit(1);
    }
}

// launch starts a kernel with 256 threads a block, each thread on per_thread items.
static void launch(CUfunction kernel, size_t items, unsigned per_thread, void **arguments)
{
    size_t block = 256 * (size_t)per_thread;
    CHECKED(cuLaunchKernel, kernel, (unsigned)((items + block - 1) / block), 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
    CHECKED(cuStreamSynchronize, stream);
}

void fill(CUdeviceptr p, size_t size, uint64_t seed)
{
    if (fill_kernel == NULL) {
        CHECKED(cuMemsetD8Async, p, (unsigned char)seed, size, stream);
        CHECKED(cuStreamSynchronize, stream);
        return;
    }
    uint64_t words = size / 8;
    launch(fill_kernel, words, 1, (void *[]){&p, &words, &seed});
}

void touch(CUdeviceptr p, size_t size)
{
    if (read_kernel == NULL)
        return;
    uint64_t vectors = size / 16;
    CUdeviceptr sink = result + 512;
    launch(read_kernel, vectors, 4, (void *[]){&p, &vectors, &sink});
}

void verify(CUdeviceptr p, size_t size, uint64_t seed, CUdeviceptr local)
{
    if (verify_kernel == NULL) {
        CHECKED(cuMemcpyDtoDAsync, local, p, size, stream);
        CHECKED(cuStreamSynchronize, stream);
        return;
    }
    uint64_t words = size / 8, verdict[3] = {0, UINT64_MAX, 0}, witness;
    CHECKED(cuMemcpyHtoDAsync, result, verdict, sizeof verdict, stream);
    launch(verify_kernel, words, 1, (void *[]){&p, &words, &seed, &result});
    CHECKED(cuMemcpyDtoHAsync, verdict, result, sizeof verdict, stream);
    CHECKED(cuStreamSynchronize, stream);
    if (verdict[0] != 0) {
        fprintf(stderr, "%llu words arrived wrong\n", (unsigned long long)verdict[0]);
        exit(1);
    }
    for (int i = 0; i < 4; i++) {
        CHECKED(cuMemcpyDtoHAsync, &witness, p + 8 * (i * (words - 1) / 3), sizeof witness, stream);
        CHECKED(cuStreamSynchronize, stream);
    }
}

// --- the command line and statistics -----------------------------------------

int parse_sizes(char *list, size_t *sizes, int most)
{
    int n = 0;
    for (char *s = strtok(list, ","); s != NULL; s = strtok(NULL, ",")) {
        char *end;
        size_t size = strtoull(s, &end, 10);
        const char *units = "KMG", *unit = *end == '\0' ? NULL : strchr(units, *end);
        if (unit != NULL) {
            size <<= 10 * (unit - units + 1);
            end += strcmp(end + 1, "iB") == 0 ? 3 : 1;
        }
        if (size == 0 || *end != '\0' || n == most) {
            fprintf(stderr, "size %s: want bytes or KiB, MiB, GiB, at most %d of them, such as 2MiB,1GiB\n", s, most);
            exit(2);
        }
        sizes[n++] = size;
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double p)
{
    double at = p * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void print_statistics(double *v, int n)
{
    qsort(v, n, sizeof *v, compare);
    printf(",%d,%.1f,%.1f,%.1f\n", n, quantile(v, n, 0.5), quantile(v, n, 0.05), quantile(v, n, 0.95));
}
