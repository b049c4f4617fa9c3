// A program against the driver API for the tests of the emulated driver.
//
//	selftest share PATH PRODUCER CONSUMER BYTES
//	        shares memory with a second process and checks both directions
//	selftest rule NAME
//	        breaks one rule, or shows one behaviour
//
// It prints the first call that fails as "call: result" and exits with 1, or
// "corrupt" with 4.
#define _GNU_SOURCE
#include "../driver/cuda_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef CUresult R;
R cuInit(unsigned), cuDeviceGetCount(int *), cuDevicePrimaryCtxRetain(uint64_t *, int), cuDevicePrimaryCtxRelease_v2(int),
    cuCtxSetCurrent(uint64_t), cuCtxSynchronize(void), cuCtxEnablePeerAccess(uint64_t, unsigned),
    cuDeviceGetUuid_v2(uint8_t *, int), cuDeviceGetName(char *, int, int), cuMemGetInfo_v2(size_t *, size_t *),
    cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemAllocHost_v2(void **, size_t), cuMemFreeHost(void *),
    cuMemAllocManaged(uint64_t *, size_t, unsigned), cuMemHostRegister_v2(void *, size_t, unsigned),
    cuMemHostUnregister(void *), cuMemAllocAsync(uint64_t *, size_t, uint64_t), cuMemFreeAsync(uint64_t, uint64_t),
    cuMemcpyHtoD_v2(uint64_t, const void *, size_t), cuMemcpyDtoH_v2(void *, uint64_t, size_t),
    cuMemcpyPeerAsync(uint64_t, uint64_t, uint64_t, uint64_t, size_t, uint64_t),
    cuMemsetD8Async(uint64_t, uint8_t, size_t, uint64_t),
    cuMemCreate(uint64_t *, size_t, const struct CUmemAllocationProp *, uint64_t), cuMemRelease(uint64_t),
    cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, uint64_t), cuMemAddressFree(uint64_t, size_t),
    cuMemMap(uint64_t, size_t, size_t, uint64_t, uint64_t), cuMemUnmap(uint64_t, size_t),
    cuMemSetAccess(uint64_t, size_t, const struct CUmemAccessDesc *, size_t),
    cuMemExportToShareableHandle(void *, uint64_t, int, uint64_t), cuMemImportFromShareableHandle(uint64_t *, void *, int),
    cuMemGetHandleForAddressRange(void *, uint64_t, size_t, int, uint64_t),
    cuImportExternalMemory(uint64_t *, const struct CUexternalMemoryHandleDesc *),
    cuExternalMemoryGetMappedBuffer(uint64_t *, uint64_t, const struct CUexternalMemoryBufferDesc *),
    cuDestroyExternalMemory(uint64_t), cuIpcGetMemHandle(struct CUhandle64 *, uint64_t),
    cuIpcOpenMemHandle_v2(uint64_t *, struct CUhandle64, unsigned), cuIpcCloseMemHandle(uint64_t),
    cuMemPoolCreate(uint64_t *, const struct CUmemPoolProps *), cuMemPoolDestroy(uint64_t),
    cuMemPoolSetAccess(uint64_t, const struct CUmemAccessDesc *, size_t),
    cuMemAllocFromPoolAsync(uint64_t *, size_t, uint64_t, uint64_t),
    cuMemPoolExportToShareableHandle(void *, uint64_t, int, uint64_t),
    cuMemPoolImportFromShareableHandle(uint64_t *, void *, int, uint64_t),
    cuMemPoolExportPointer(struct CUhandle64 *, uint64_t),
    cuMemPoolImportPointer(uint64_t *, uint64_t, const struct CUhandle64 *), cuStreamCreate(uint64_t *, unsigned),
    cuStreamDestroy_v2(uint64_t), cuStreamSynchronize(uint64_t), cuStreamQuery(uint64_t),
    cuStreamWaitEvent(uint64_t, uint64_t, unsigned), cuEventCreate(uint64_t *, unsigned), cuEventDestroy_v2(uint64_t),
    cuEventRecord(uint64_t, uint64_t), cuEventSynchronize(uint64_t), cuEventQuery(uint64_t),
    cuEventElapsedTime_v2(float *, uint64_t, uint64_t), cuModuleLoadData(uint64_t *, const void *), cuModuleUnload(uint64_t),
    cuModuleGetFunction(uint64_t *, uint64_t, const char *),
    cuLaunchKernel(uint64_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, uint64_t, void **, void **),
    cuGetErrorName(R, const char **);

static const char *name_of(R r) {
    const char *name = NULL;
    cuGetErrorName(r, &name);
    return name ? name : "?";
}

static void ok(R r, const char *call) {
    if (r == CUDA_SUCCESS)
        return;
    printf("%.*s: %s\n", (int)strcspn(call, "("), call, name_of(r));
    exit(1);
}
#define OK(call) ok(call, #call)

static void want(R got, R expected, const char *call, int line) {
    if (got == expected)
        return;
    printf("line %d: %s: %s, want %s\n", line, call, name_of(got), name_of(expected));
    exit(1);
}
#define WANT(expected, call) want(call, expected, #call, __LINE__)
#define TRUE(condition)                                              \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: not true: %s\n", __LINE__, #condition); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

enum { MIB = 1 << 20, GRANULE = 2 * MIB };
static const char ptx[] = ".version 8.0\n.target sm_70\n.entry fill(\n.entry verify(\n.entry read(\n.entry gate(\n.entry chase_init(\n"
                          ".entry chase(\n.entry write(\n.entry copy(\n";

static uint64_t context, module, stream;
static uint64_t *scratch; // pinned
static int device;

static void open_device(int ordinal) {
    device = ordinal;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, ordinal));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAllocHost_v2((void **)&scratch, 4096));
}

static void close_device(void) {
    OK(cuMemFreeHost(scratch));
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(device));
}

static R launch(const char *name, unsigned block, void **parameters) {
    uint64_t f;
    OK(cuModuleGetFunction(&f, module, name));
    return cuLaunchKernel(f, 1, 1, 1, block, 1, 1, 0, stream, parameters, NULL);
}

static void fill(uint64_t p, uint64_t bytes, uint64_t seed) {
    uint64_t words = bytes / 8;
    ok(launch("fill", 256, (void *[]){&p, &words, &seed}), "kernel fill");
    ok(cuStreamSynchronize(stream), "kernel fill");
}

static void verify(uint64_t p, uint64_t bytes, uint64_t seed) {
    uint64_t words = bytes / 8, at = (uint64_t)scratch;
    scratch[0] = scratch[2] = 0;
    scratch[1] = ~0ull;
    ok(launch("verify", 256, (void *[]){&p, &words, &seed, &at}), "kernel verify");
    ok(cuStreamSynchronize(stream), "kernel verify");
    if (scratch[0]) {
        uint64_t word;
        OK(cuMemcpyDtoH_v2(&word, p + 8 * scratch[1], 8));
        printf("corrupt: %llu words, first %llu, last %llu: %#llx\n", (unsigned long long)scratch[0],
               (unsigned long long)scratch[1], (unsigned long long)scratch[2], (unsigned long long)word);
        exit(4);
    }
}

// --- sharing -------------------------------------------------------------------

struct message {
    uint64_t bytes, offset, seed;
    struct CUhandle64 key;
};

struct buffer {
    uint64_t address, bytes;             // what is shared
    uint64_t base, allocation, physical; // what is released
    uint64_t pool;
    uint64_t reserved, external;
    void *cpu;
};

static void send_message(int s, const struct message *m, int fd) {
    struct iovec v = {(void *)m, sizeof *m};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
    if (fd >= 0) {
        h.msg_control = control;
        h.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(s, &h, MSG_NOSIGNAL) != (ssize_t)sizeof *m) {
        printf("the other process is gone\n");
        exit(2);
    }
}

static int receive_message(int s, struct message *m) {
    struct iovec v = {m, sizeof *m};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(s, &h, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *m) {
        printf("the other process is gone\n");
        exit(2);
    }
    int fd = -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

static void set_access(uint64_t address, uint64_t bytes) {
    struct CUmemAccessDesc a = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(address, bytes, &a, 1));
}

static void map_physical(struct buffer *b) {
    b->reserved = (b->bytes + GRANULE - 1) / GRANULE * GRANULE;
    OK(cuMemAddressReserve(&b->address, b->reserved, 0, 0, 0));
    OK(cuMemMap(b->address, b->reserved, 0, b->physical, 0));
    set_access(b->address, b->reserved);
}

static void unmap_physical(struct buffer *b) {
    OK(cuMemUnmap(b->address, b->reserved));
    OK(cuMemAddressFree(b->address, b->reserved));
    OK(cuMemRelease(b->physical));
}

static void create_physical(struct buffer *b, uint32_t handles) {
    struct CUmemAllocationProp p = {.type = 1, .requestedHandleTypes = handles, .location = {1, device}};
    b->reserved = (b->bytes + GRANULE - 1) / GRANULE * GRANULE;
    OK(cuMemCreate(&b->physical, b->reserved, &p, 0));
}

static int export_dmabuf(struct buffer *b) {
    int fd;
    OK(cuMemGetHandleForAddressRange(&fd, b->address, b->bytes, 1, 0));
    TRUE((uint64_t)lseek(fd, 0, SEEK_END) == b->bytes);
    return fd;
}

// Allocates, fills and exports.
static int produce(const char *path, struct buffer *b, struct message *m) {
    int fd = -1;
    uint64_t seed = m->seed;
    if (!strcmp(path, "vmm") || !strcmp(path, "opaque") || !strcmp(path, "fabric") || !strcmp(path, "dmabuf-vmm")) {
        int type = !strcmp(path, "fabric") ? 8 : 1;
        create_physical(b, (uint32_t)type);
        map_physical(b);
        fill(b->address, b->bytes, seed);
        if (!strcmp(path, "dmabuf-vmm"))
            return export_dmabuf(b);
        OK(cuMemExportToShareableHandle(type == 8 ? (void *)&m->key : (void *)&fd, b->physical, type, 0));
    } else if (!strncmp(path, "ipc", 3)) {
        OK(cuMemAlloc_v2(&b->base, b->bytes));
        b->address = b->base;
        fill(b->address, b->bytes, seed);
        OK(cuIpcGetMemHandle(&m->key, b->address + 64)); // the handle is the allocation's all the same
    } else if (!strcmp(path, "mempool")) {
        struct CUmemPoolProps p = {.allocType = 1, .handleTypes = 1, .location = {1, device}};
        uint64_t other;
        OK(cuMemPoolCreate(&b->pool, &p));
        OK(cuMemPoolExportToShareableHandle(&fd, b->pool, 1, 0));
        OK(cuMemAllocFromPoolAsync(&other, 4096, b->pool, stream));
        OK(cuMemAllocFromPoolAsync(&b->base, b->bytes, b->pool, stream));
        OK(cuMemFreeAsync(other, stream));
        b->address = b->base;
        fill(b->address, b->bytes, seed);
        OK(cuMemPoolExportPointer(&m->key, b->address));
    } else if (!strcmp(path, "dmabuf-pinned")) {
        OK(cuMemAllocHost_v2(&b->cpu, b->bytes));
        b->address = (uint64_t)b->cpu;
        fill(b->address, b->bytes, seed);
        fd = export_dmabuf(b);
    } else { // dmabuf, dmabuf-cpu, dmabuf-part
        uint64_t part = !strcmp(path, "dmabuf-part") ? MIB : 0;
        OK(cuMemAlloc_v2(&b->base, b->bytes + 2 * part));
        fill(b->base, b->bytes + 2 * part, ~seed);
        b->address = b->base + part;
        fill(b->address, b->bytes, seed);
        fd = export_dmabuf(b);
        if (part) { // what lies around it is as it was
            verify(b->base, part, ~seed);
            verify(b->base + part + b->bytes, part, ~seed + (part + b->bytes) / 8 * 0x9E3779B97F4A7C15u);
        }
    }
    return fd;
}

static void release_produced(struct buffer *b) {
    if (b->physical)
        unmap_physical(b);
    else if (b->pool) {
        OK(cuMemFreeAsync(b->base, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuMemPoolDestroy(b->pool));
    } else if (b->cpu)
        OK(cuMemFreeHost(b->cpu));
    else
        OK(cuMemFree_v2(b->base));
}

// Imports; closes the descriptor unless the driver took it.
static void consume(const char *path, struct buffer *b, struct message *m, int fd) {
    b->bytes = m->bytes;
    if (!strcmp(path, "vmm") || !strcmp(path, "fabric")) {
        OK(cuMemImportFromShareableHandle(&b->physical, fd >= 0 ? (void *)(intptr_t)fd : (void *)&m->key, fd >= 0 ? 1 : 8));
        map_physical(b);
    } else if (!strncmp(path, "ipc", 3))
        OK(cuIpcOpenMemHandle_v2(&b->address, m->key, 1));
    else if (!strcmp(path, "mempool")) {
        OK(cuMemPoolImportFromShareableHandle(&b->pool, (void *)(intptr_t)fd, 1, 0));
        struct CUmemAccessDesc a = {{1, device}, 3};
        OK(cuMemPoolSetAccess(b->pool, &a, 1));
        OK(cuMemPoolImportPointer(&b->address, b->pool, &m->key));
    } else if (!strcmp(path, "dmabuf-cpu")) {
        b->cpu = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (b->cpu == MAP_FAILED) {
            printf("mmap: %s\n", strerror(errno));
            exit(1);
        }
        OK(cuMemHostRegister_v2(b->cpu, b->bytes, 2));
        b->address = (uint64_t)b->cpu;
    } else {
        bool opaque = !strcmp(path, "opaque");
        struct CUexternalMemoryHandleDesc h = {.type = opaque ? 1 : 9, .handle.fd = fd, .size = b->bytes};
        struct CUexternalMemoryBufferDesc d = {.size = b->bytes};
        OK(cuImportExternalMemory(&b->external, &h));
        OK(cuExternalMemoryGetMappedBuffer(&b->address, b->external, &d));
        if (opaque)
            return;
    }
    if (fd >= 0)
        close(fd);
}

static void release_consumed(struct buffer *b) {
    if (b->physical)
        unmap_physical(b);
    else if (b->pool) {
        OK(cuMemFree_v2(b->address));
        OK(cuMemPoolDestroy(b->pool));
    } else if (b->cpu) {
        OK(cuMemHostUnregister(b->cpu));
        munmap(b->cpu, b->bytes);
    } else if (b->external) {
        OK(cuMemFree_v2(b->address));
        OK(cuDestroyExternalMemory(b->external));
    } else
        OK(cuIpcCloseMemHandle(b->address));
}

static int consumer(const char *path, int ordinal, int s) {
    struct message m;
    struct buffer b = {0};
    open_device(ordinal);
    int fd = receive_message(s, &m);
    consume(path, &b, &m, fd);
    verify(b.address, b.bytes, m.seed);
    fill(b.address, b.bytes, m.seed + 1);
    bool late = !strcmp(path, "ipc-late"); // unmapped only after the producer freed it
    if (!late)
        release_consumed(&b);
    send_message(s, &m, -1);
    if (late) {
        receive_message(s, &m);
        release_consumed(&b);
    }
    close_device();
    return 0;
}

static int share(char **argv) {
    const char *path = argv[0];
    int s[2], status;
    struct message m = {.bytes = strtoull(argv[3], NULL, 10), .seed = 42};
    struct buffer b = {.bytes = m.bytes};
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        fcntl(s[1], F_SETFD, 0);
        snprintf(number, sizeof number, "%d", s[1]);
        setenv("GPUSHARE_ROLE", "consumer", 1);
        execl("/proc/self/exe", "selftest", "consumer", path, argv[2], number, (char *)NULL);
        _exit(127);
    }
    close(s[1]);
    open_device(atoi(argv[1]));
    int fd = produce(path, &b, &m);
    send_message(s[0], &m, fd);
    if (fd >= 0)
        close(fd);
    receive_message(s[0], &m);
    verify(b.address, b.bytes, m.seed + 1);
    release_produced(&b);
    if (!strcmp(path, "ipc-late"))
        send_message(s[0], &m, -1);
    close_device();
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// --- rules ----------------------------------------------------------------------

static void rule_granularity(void) {
    struct CUmemAllocationProp p = {.type = 1, .location = {1, 0}};
    uint64_t h;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&h, MIB, &p, 0));
}

static void rule_reserve(void) {
    uint64_t a;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&a, MIB, 0, 0, 0));
}

static void rule_handle_type(void) {
    struct buffer b = {.bytes = GRANULE};
    int fd;
    create_physical(&b, 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&fd, b.physical, 1, 0));
    OK(cuMemRelease(b.physical));
}

static void rule_bounds(void) {
    struct buffer b = {.bytes = GRANULE};
    uint64_t a;
    create_physical(&b, 0);
    OK(cuMemAddressReserve(&a, 2 * GRANULE, 0, 0, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(a, 2 * GRANULE, 0, b.physical, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(a + 2 * GRANULE, GRANULE, 0, b.physical, 0));
    OK(cuMemMap(a + GRANULE, GRANULE, 0, b.physical, 0));
    WANT(CUDA_ERROR_ALREADY_MAPPED, cuMemMap(a + GRANULE, GRANULE, 0, b.physical, 0));
    OK(cuMemUnmap(a + GRANULE, GRANULE));
    OK(cuMemAddressFree(a, 2 * GRANULE));
    OK(cuMemRelease(b.physical));
}

static void rule_alignment(void) {
    uint64_t a;
    int fd;
    OK(cuMemAlloc_v2(&a, MIB));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemGetHandleForAddressRange(&fd, a + 64, 4096, 1, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemGetHandleForAddressRange(&fd, a, 100, 1, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemGetHandleForAddressRange(&fd, a, 2 * MIB, 1, 0));
    OK(cuMemFree_v2(a));
}

static void rule_double_free(void) {
    uint64_t a;
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuMemFree_v2(a));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(a));
}

static void rule_release_twice(void) {
    struct buffer b = {.bytes = GRANULE};
    create_physical(&b, 0);
    OK(cuMemRelease(b.physical));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(b.physical));
}

static void rule_use_after_release(void) {
    struct buffer b = {.bytes = GRANULE};
    uint64_t a;
    create_physical(&b, 0);
    OK(cuMemAddressReserve(&a, GRANULE, 0, 0, 0));
    OK(cuMemRelease(b.physical));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(a, GRANULE, 0, b.physical, 0));
    OK(cuMemAddressFree(a, GRANULE));
}

static void rule_free_mapped_reservation(void) {
    struct buffer b = {.bytes = GRANULE};
    create_physical(&b, 0);
    map_physical(&b);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(b.address, b.reserved));
    unmap_physical(&b);
}

static void rule_unmap_twice(void) {
    struct buffer b = {.bytes = GRANULE};
    create_physical(&b, 0);
    map_physical(&b);
    OK(cuMemUnmap(b.address, b.reserved));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(b.address, b.reserved));
    OK(cuMemAddressFree(b.address, b.reserved));
    OK(cuMemRelease(b.physical));
}

static void *no_context(void *arg) {
    uint64_t a;
    (void)arg;
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&a, MIB));
    return NULL;
}

static void rule_wrong_thread(void) {
    pthread_t t;
    pthread_create(&t, NULL, no_context, NULL);
    pthread_join(t, NULL);
}

// Ends in a poisoned context: the process must be given up, so it exits here.
static void poisoned(void) {
    uint64_t a;
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc_v2(&a, MIB));
    printf("poisoned\n");
    exit(0);
}

static void start_fill(uint64_t p, uint64_t bytes) {
    uint64_t words = bytes / 8, seed = 1;
    OK(launch("fill", 256, (void *[]){&p, &words, &seed}));
}

static void rule_no_access(void) {
    struct buffer b = {.bytes = GRANULE};
    uint64_t a;
    create_physical(&b, 0);
    OK(cuMemAddressReserve(&a, GRANULE, 0, 0, 0));
    OK(cuMemMap(a, GRANULE, 0, b.physical, 0));
    start_fill(a, GRANULE);
    poisoned();
}

static void rule_read_only(void) {
    struct buffer b = {.bytes = GRANULE};
    create_physical(&b, 0);
    map_physical(&b);
    struct CUmemAccessDesc a = {{1, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    OK(cuMemSetAccess(b.address, b.reserved, &a, 1));
    start_fill(b.address, GRANULE);
    poisoned();
}

static void rule_past_the_end(void) {
    uint64_t a;
    OK(cuMemAlloc_v2(&a, MIB));
    start_fill(a, MIB + 8);
    poisoned();
}

static void rule_use_after_free(void) {
    uint64_t a;
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuMemFree_v2(a));
    start_fill(a, MIB);
    poisoned();
}

static void rule_peer_not_enabled(void) {
    uint64_t a, other;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxSetCurrent(other));
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuCtxSetCurrent(context));
    start_fill(a, MIB);
    poisoned();
}

static void rule_peer_enabled(void) {
    uint64_t a, other;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxSetCurrent(other));
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuCtxSetCurrent(context));
    WANT(CUDA_ERROR_INVALID_DEVICE, cuCtxEnablePeerAccess(context, 0));
    OK(cuCtxEnablePeerAccess(other, 0));
    WANT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other, 0));
    fill(a, MIB, 5);
    verify(a, MIB, 5);
    OK(cuCtxSetCurrent(other));
    OK(cuMemFree_v2(a));
    OK(cuCtxSetCurrent(context));
    OK(cuDevicePrimaryCtxRelease_v2(1));
}

static void rule_wrong_context(void) {
    uint64_t other, f;
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuModuleGetFunction(&f, module, "read"));
    OK(cuCtxSetCurrent(other));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){0}, NULL));
    OK(cuCtxSetCurrent(context));
    OK(cuDevicePrimaryCtxRelease_v2(1));
}

static void rule_leak_memory(void) {
    uint64_t a;
    OK(cuMemAlloc_v2(&a, MIB));
}

static void rule_leak_handle(void) {
    struct buffer b = {.bytes = GRANULE};
    create_physical(&b, 0);
}

static void rule_leak_reservation(void) {
    uint64_t a;
    OK(cuMemAddressReserve(&a, GRANULE, 0, 0, 0));
}

static void rule_leak_event(void) {
    uint64_t e;
    OK(cuEventCreate(&e, 0));
}

static void rule_leak_descriptor(void) {
    struct buffer b = {.bytes = GRANULE};
    int fd;
    create_physical(&b, 1);
    OK(cuMemExportToShareableHandle(&fd, b.physical, 1, 0));
    OK(cuMemRelease(b.physical));
}

static void rule_leak_context(void) {
    printf("no release\n");
    exit(0);
}

static void rule_close_taken_descriptor(void) {
    struct buffer b = {.bytes = GRANULE};
    int fd;
    create_physical(&b, 1);
    OK(cuMemExportToShareableHandle(&fd, b.physical, 1, 0));
    struct CUexternalMemoryHandleDesc h = {.type = 1, .handle.fd = fd, .size = GRANULE};
    OK(cuImportExternalMemory(&b.external, &h));
    close(fd);
    OK(cuDestroyExternalMemory(b.external));
    OK(cuMemRelease(b.physical));
}

static void rule_close_driver_descriptor(void) {
    uint64_t a;
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    OK(cuMemAlloc_v2(&a, MIB)); // takes that number
    close(before);
    OK(cuMemFree_v2(a));
}

static void rule_kind_of_descriptor(void) {
    struct buffer b = {.bytes = GRANULE};
    int fd, dmabuf;
    uint64_t h;
    create_physical(&b, 1);
    map_physical(&b);
    OK(cuMemExportToShareableHandle(&fd, b.physical, 1, 0));
    OK(cuMemGetHandleForAddressRange(&dmabuf, b.address, GRANULE, 1, 0));
    struct CUexternalMemoryHandleDesc d = {.type = 1, .handle.fd = dmabuf, .size = GRANULE};
    WANT(CUDA_ERROR_UNKNOWN, cuImportExternalMemory(&b.external, &d));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&h, (void *)(intptr_t)dmabuf, 1));
    TRUE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, dmabuf, 0) == MAP_FAILED);
    TRUE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
    close(fd);
    close(dmabuf);
    unmap_physical(&b);
}

static void rule_ipc_same_process(void) {
    uint64_t a, p;
    struct CUhandle64 k;
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuIpcGetMemHandle(&k, a));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&p, k, 1));
    OK(cuMemFree_v2(a));
}

static void rule_limit(void) {
    size_t before, after, total;
    uint64_t a, b;
    OK(cuMemGetInfo_v2(&before, &total));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&a, total + 1));
    OK(cuMemAlloc_v2(&a, 32 * MIB));
    OK(cuMemGetInfo_v2(&after, &total));
    TRUE(before - after == 32 * MIB);
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&b, total - 16 * MIB));
    OK(cuMemFree_v2(a));
    OK(cuMemGetInfo_v2(&after, &total));
    TRUE(before == after);
}

static void rule_used(void) {
    size_t unused, total;
    OK(cuMemGetInfo_v2(&unused, &total));
    printf("%zu\n", total - unused);
}

static void rule_hold(void) {
    uint64_t a;
    OK(cuMemAlloc_v2(&a, 32 * MIB));
    printf("holding\n");
    for (;;)
        pause();
}

static void rule_streams(void) {
    uint64_t start, end, copy, second, a, n = MIB / 16;
    uint32_t value = 7, *flag = (uint32_t *)scratch + 512, *expired = flag + 1;
    uint64_t limit = 5000000000ull;
    float ms;
    *flag = *expired = 0;
    OK(cuMemAlloc_v2(&a, MIB));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&ms, start, end));
    OK(launch("gate", 1, (void *[]){&flag, &limit, &expired}));
    OK(cuEventRecord(start, stream));
    OK(launch("write", 256, (void *[]){&a, &n, &value}));
    OK(cuEventRecord(end, stream));
    OK(cuStreamCreate(&second, 1));
    OK(cuStreamWaitEvent(second, end, 0));
    OK(cuEventCreate(&copy, 0));
    OK(cuEventRecord(copy, second));
    WANT(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
    WANT(CUDA_ERROR_NOT_READY, cuEventElapsedTime_v2(&ms, start, end));
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    OK(cuEventSynchronize(copy));
    OK(cuEventQuery(end));
    OK(cuEventElapsedTime_v2(&ms, start, end));
    TRUE(ms > 0 && ms < 5000 && *expired == 0);
    OK(cuMemcpyDtoH_v2(scratch, a + MIB - 16, 16));
    TRUE(((uint32_t *)scratch)[3] == 7);
    *flag = 0;
    limit = 1000000;
    OK(launch("gate", 1, (void *[]){&flag, &limit, &expired}));
    OK(cuStreamSynchronize(stream));
    TRUE(*expired == 1);
    WANT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch("gate", 2, (void *[]){&flag, &limit, &expired}));
    OK(cuStreamDestroy_v2(second));
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(end));
    OK(cuEventDestroy_v2(copy));
    OK(cuMemFree_v2(a));
}

static void rule_chase(void) {
    uint64_t a, slots = 4096, stride = 16, mul = 6364136223846793005u, inc = 77, at = (uint64_t)scratch;
    OK(cuMemAlloc_v2(&a, slots * stride * 8));
    OK(launch("chase_init", 256, (void *[]){&a, &slots, &stride, &mul, &inc}));
    OK(launch("chase", 1, (void *[]){&a, &slots, &at}));
    OK(cuStreamSynchronize(stream));
    TRUE(scratch[0] == 0); // a cycle of full length ends where it began
    OK(cuMemFree_v2(a));
}

static void rule_async(void) {
    uint64_t a;
    OK(cuMemAllocAsync(&a, MIB, stream));
    fill(a, MIB, 3);
    OK(cuMemFreeAsync(a, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
}

static void rule_unmap_under_work(void) {
    struct buffer b = {.bytes = GRANULE};
    uint32_t *flag = (uint32_t *)scratch + 512, *expired = flag + 1;
    uint64_t limit = 2000000;
    *flag = *expired = 0;
    create_physical(&b, 0);
    map_physical(&b);
    OK(launch("gate", 1, (void *[]){&flag, &limit, &expired}));
    start_fill(b.address, GRANULE);
    unmap_physical(&b);
}

static void rule_devices(void) {
    int n;
    OK(cuDeviceGetCount(&n));
    for (int i = 0; i < n; i++) {
        uint8_t u[16];
        char name[64];
        OK(cuDeviceGetUuid_v2(u, i));
        OK(cuDeviceGetName(name, sizeof name, i));
        printf("%d %02x%02x %s\n", i, u[14], u[15], name);
    }
}

static R dmabuf(uint64_t a, uint64_t flags) {
    int fd;
    R r = cuMemGetHandleForAddressRange(&fd, a, GRANULE, 1, flags);
    if (r == CUDA_SUCCESS)
        close(fd);
    return r;
}

// Prints what the machine answers, a line per question.
static void rule_answers(void) {
    uint64_t a;
    void *host;
    OK(cuMemAlloc_v2(&a, GRANULE));
    printf("device %s\ndevice/PCIE %s\n", name_of(dmabuf(a, 0)), name_of(dmabuf(a, 1)));
    OK(cuMemFree_v2(a));
    OK(cuMemAllocAsync(&a, GRANULE, stream));
    printf("async %s\nasync/PCIE %s\n", name_of(dmabuf(a, 0)), name_of(dmabuf(a, 1)));
    OK(cuMemFreeAsync(a, stream));
    OK(cuMemAllocManaged(&a, GRANULE, 1));
    printf("managed %s\n", name_of(dmabuf(a, 0)));
    OK(cuMemFree_v2(a));
    OK(cuMemAllocHost_v2(&host, GRANULE));
    printf("pinned %s\n", name_of(dmabuf((uint64_t)host, 0)));
    OK(cuMemFreeHost(host));
    host = mmap(NULL, GRANULE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cuMemHostRegister_v2(host, GRANULE, 2));
    printf("registered %s\n", name_of(dmabuf((uint64_t)host, 0)));
    OK(cuMemHostUnregister(host));
    munmap(host, GRANULE);
    for (int type = 1; type <= 4; type++) {
        static const char *const names[] = {"", "vmm", "HOST", "vmm-host", "HOST_NUMA_CURRENT"};
        struct CUmemAllocationProp p = {.type = 1, .requestedHandleTypes = 1, .location = {type, 0},
                                        .gpuDirectRDMACapable = type == 1};
        struct buffer b = {.reserved = GRANULE, .bytes = GRANULE};
        R r = cuMemCreate(&b.physical, GRANULE, &p, 0);
        printf("cuMemCreate/%s %s\n", names[type], name_of(r));
        if (r != CUDA_SUCCESS)
            continue;
        map_physical(&b);
        printf("%s%s %s\n", names[type], type == 1 ? "-rdma" : "", name_of(dmabuf(b.address, 0)));
        unmap_physical(&b);
    }
    struct CUmemAllocationProp p = {.type = 1, .requestedHandleTypes = 8, .location = {1, 0}};
    R r = cuMemCreate(&a, GRANULE, &p, 0);
    printf("fabric %s\n", name_of(r));
    if (r == CUDA_SUCCESS)
        OK(cuMemRelease(a));
    int fd;
    uint64_t external;
    OK(cuMemAlloc_v2(&a, GRANULE));
    if (cuMemGetHandleForAddressRange(&fd, a, GRANULE, 1, 0) == CUDA_SUCCESS) {
        for (int type = 1; type <= 9; type += 8) {
            struct CUexternalMemoryHandleDesc d = {.type = type, .handle.fd = fd, .size = GRANULE};
            r = cuImportExternalMemory(&external, &d);
            printf("import/%d %s\n", type, name_of(r));
            if (r == CUDA_SUCCESS)
                OK(cuDestroyExternalMemory(external));
        }
        void *at = mmap(NULL, GRANULE, PROT_READ, MAP_SHARED, fd, 0);
        printf("mmap %s\n", at == MAP_FAILED ? strerror(errno) : "granted");
        if (at != MAP_FAILED)
            munmap(at, GRANULE);
        close(fd);
    }
    OK(cuMemFree_v2(a));
}

static const struct {
    const char *name;
    void (*run)(void);
} rules[] = {
#define RULE(name) {#name, rule_##name}
    RULE(granularity), RULE(reserve), RULE(handle_type), RULE(bounds), RULE(alignment), RULE(double_free),
    RULE(release_twice), RULE(use_after_release), RULE(free_mapped_reservation), RULE(unmap_twice), RULE(wrong_thread),
    RULE(no_access), RULE(read_only), RULE(past_the_end), RULE(use_after_free), RULE(peer_not_enabled), RULE(peer_enabled),
    RULE(wrong_context), RULE(leak_memory), RULE(leak_handle), RULE(leak_reservation), RULE(leak_event),
    RULE(leak_descriptor), RULE(leak_context), RULE(close_taken_descriptor), RULE(close_driver_descriptor),
    RULE(kind_of_descriptor), RULE(ipc_same_process), RULE(limit), RULE(streams), RULE(chase), RULE(async),
    RULE(unmap_under_work), RULE(devices), RULE(used), RULE(hold), RULE(answers),
};

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 6 && !strcmp(argv[1], "share"))
        return share(argv + 2);
    if (argc == 5 && !strcmp(argv[1], "consumer"))
        return consumer(argv[2], atoi(argv[3]), atoi(argv[4]));
    for (size_t i = 0; argc == 3 && i < sizeof rules / sizeof rules[0]; i++)
        if (!strcmp(argv[1], "rule") && !strcmp(argv[2], rules[i].name)) {
            open_device(0);
            rules[i].run();
            close_device();
            return 0;
        }
    fprintf(stderr, "usage: selftest share PATH PRODUCER CONSUMER BYTES | selftest rule NAME\n");
    return 2;
}
