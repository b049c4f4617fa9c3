// Asks the machine what it grants, and prints a line per question.
#include "selftest.h"

static R dmabuf(uint64_t a, uint64_t flags) {
    int fd;
    R r = cuMemGetHandleForAddressRange(&fd, a, GRANULE, 1, flags);
    if (r == CUDA_SUCCESS)
        close(fd);
    return r;
}

void rule_answers(void) {
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
