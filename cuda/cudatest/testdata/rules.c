// One function for each rule that is broken, or behaviour that is shown.
#include "selftest.h"

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

bool rule(const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!strcmp(name, rules[i].name)) {
            open_device(0);
            rules[i].run();
            close_device();
            return true;
        }
    return false;
}
