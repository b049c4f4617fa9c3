// What the parts of the self-test share.
#ifndef SELFTEST_H
#define SELFTEST_H

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

const char *name_of(CUresult);

// Ends the program unless a call succeeds, answers what is expected, or a
// condition holds.
void ok(CUresult, const char *call);
void want(CUresult got, CUresult expected, const char *call, int line);
#define OK(call) ok(call, #call)
#define WANT(expected, call) want(call, expected, #call, __LINE__)
#define TRUE(condition)                                              \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: not true: %s\n", __LINE__, #condition); \
            exit(1);                                                 \
        }                                                            \
    } while (0)


enum { MIB = 1 << 20, GRANULE = 2 * MIB };

extern uint64_t context, module, stream;
extern uint64_t *scratch; // pinned, a page
extern int device;

void open_device(int ordinal);
void close_device(void);
CUresult launch(const char *kernel, unsigned block, void **parameters);
void fill(uint64_t p, uint64_t bytes, uint64_t seed);
void verify(uint64_t p, uint64_t bytes, uint64_t seed);

struct buffer {
    uint64_t address, bytes; // what is shared
    uint64_t base, physical, pool, reserved, external; // what is released
    void *cpu;
};

void set_access(uint64_t address, uint64_t bytes);
void create_physical(struct buffer *, uint32_t handle_types);
void map_physical(struct buffer *);
void unmap_physical(struct buffer *);

int share(char **arguments);
int consumer(const char *path, int ordinal, int socket);
bool rule(const char *name);
void rule_answers(void);

#endif
