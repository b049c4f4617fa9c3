// Sharing by descriptor: dma-buf export and external memory.
#define _GNU_SOURCE
#include "emulated.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

struct external {
    struct backing *backing;
    uint64_t size;
    int fd; // that the driver took over, or -1
    dev_t dev;
    ino_t inode;
    int mapped;
};

API cuMemGetHandleForAddressRange(void *out, CUdeviceptr address, size_t size, int type, uint64_t flags) {
    ENTER("cuMemGetHandleForAddressRange", NEED_CONTEXT);
    if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags & ~1ull)
        return refuse(CUDA_ERROR_INVALID_VALUE, "handle type %d, flags %llu", type, (unsigned long long)flags);
    struct range *r = range_find(address);
    if (!r || r->freeing)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no memory", (unsigned long long)address);
    // What the machine declines, it declines whatever the range.
    bool pcie = flags & CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE;
    bool imported = !strcmp(range_circumstance(r), "imported");
    CUresult result = answer(imported ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS, "cuMemGetHandleForAddressRange/%s%s",
                             range_circumstance(r), pcie ? "/PCIE" : "");
    if (result == CUDA_SUCCESS && address != r->base)
        result = answer(CUDA_SUCCESS, "cuMemGetHandleForAddressRange/%s/INSIDE", range_circumstance(r));
    if (result != CUDA_SUCCESS)
        return result;
    if (address % page_size() || size == 0 || size % page_size())
        return refuse(CUDA_ERROR_INVALID_VALUE, "address %#llx and size %zu: multiples of the host's page size %llu",
                      (unsigned long long)address, size, (unsigned long long)page_size());
    if (size > r->base + r->span - address)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx end behind the allocation", size,
                      (unsigned long long)address);
    if (!r->backing)
        return refuse(CUDA_ERROR_INVALID_VALUE, "registered memory was not allocated by the driver");
    context_wait(&call, context_current());
    int fd = backing_export(r->backing, r->offset + (address - r->base), size, CARRIER_DMABUF, machine.dmabuf_mmap);
    if (fd < 0)
        return errno ? CUDA_ERROR_OPERATING_SYSTEM
                     : refuse(CUDA_ERROR_INVALID_VALUE, "the emulation has no dma-buf for a part of memory that is shared");
    *(int *)out = fd;
    return CUDA_SUCCESS;
}

API cuImportExternalMemory(uint64_t *out, const struct CUexternalMemoryHandleDesc *d) {
    ENTER("cuImportExternalMemory", NEED_CONTEXT);
    bool dmabuf = d->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD;
    if (!dmabuf && d->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return refuse(CUDA_ERROR_NOT_SUPPORTED, "external memory of type %d", d->type);
    for (int i = 0; i < 16; i++)
        if (d->reserved[i])
            return refuse(CUDA_ERROR_INVALID_VALUE, "reserved fields are not 0");
    if (d->size == 0 || d->flags & ~1u || (dmabuf && d->flags))
        return refuse(CUDA_ERROR_INVALID_VALUE, "size %llu, flags %u", (unsigned long long)d->size, d->flags);
    CUresult result = answer(CUDA_SUCCESS, "cuImportExternalMemory/%s", dmabuf ? "DMABUF_FD" : "OPAQUE_FD");
    if (result != CUDA_SUCCESS)
        return result;
    enum carrier carrier;
    struct backing *b = backing_open(d->handle.fd, &carrier, &result);
    if (!b)
        return refuse(dmabuf ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNKNOWN, "descriptor %d is no shared memory",
                      d->handle.fd);
    bool is_dmabuf = carrier == CARRIER_DMABUF || carrier == CARRIER_FOREIGN_DMABUF;
    int device = b->device;
    if (carrier == CARRIER_FOREIGN_DMABUF)
        result = answer(CUDA_SUCCESS, "cuImportExternalMemory/DMABUF_FD/foreign");
    if (is_dmabuf && !dmabuf)
        result = answer(CUDA_ERROR_UNKNOWN, "cuImportExternalMemory/OPAQUE_FD/dmabuf");
    else if (dmabuf ? !is_dmabuf : carrier != CARRIER_VMM)
        result = refuse(CUDA_ERROR_INVALID_VALUE, "descriptor %d is of another kind", d->handle.fd);
    else if (d->size > b->size)
        result = refuse(CUDA_ERROR_INVALID_VALUE, "%llu bytes of memory of %llu", (unsigned long long)d->size,
                        (unsigned long long)b->size);
    else if (device != HOST && device_ordinal(device) < 0)
        result = refuse(CUDA_ERROR_INVALID_DEVICE, "the memory's device (%d) is not visible here", device);
    if (result != CUDA_SUCCESS) {
        backing_unref(b);
        return result;
    }
    struct external *e = calloc(1, sizeof *e);
    e->backing = b;
    e->size = d->size;
    e->fd = -1;
    struct stat st;
    // Only an opaque descriptor changes hands; the manual says so of no other.
    if (!dmabuf && fstat(d->handle.fd, &st) == 0) {
        e->fd = d->handle.fd;
        e->dev = st.st_dev;
        e->inode = st.st_ino;
    }
    last_shared = b;
    *out = object_add(OBJECT_EXTERNAL, e);
    return CUDA_SUCCESS;
}

API cuExternalMemoryGetMappedBuffer(CUdeviceptr *out, uint64_t handle, const struct CUexternalMemoryBufferDesc *d) {
    ENTER("cuExternalMemoryGetMappedBuffer", NEED_CONTEXT);
    struct external *e = object_get(OBJECT_EXTERNAL, handle);
    struct context *c = context_current();
    if (!e)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no external memory", (unsigned long long)handle);
    if (d->size == 0 || d->flags || d->offset > e->size || d->size > e->size - d->offset || d->offset % page_size())
        return refuse(CUDA_ERROR_INVALID_VALUE, "%llu bytes at offset %llu of memory of %llu",
                      (unsigned long long)d->size, (unsigned long long)d->offset, (unsigned long long)e->size);
    if (e->backing->device != HOST && !peer_possible(c->device->index, e->backing->device))
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    uint64_t span = page_round(d->size);
    void *at = backing_map(e->backing, d->offset, span, NULL, protection_full);
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct range *r = range_add(RANGE_EXTERNAL, (uint64_t)at, d->size, span);
    r->backing = backing_ref(e->backing);
    r->offset = d->offset;
    r->device = e->backing->device;
    r->readers = r->writers = 1u << c->device->index;
    r->owner = handle;
    *out = r->base;
    return CUDA_SUCCESS;
}

static void count_mapped(struct range *r, void *arg) {
    struct external *e = arg;
    if (r->kind == RANGE_EXTERNAL && r->backing == e->backing)
        e->mapped++;
}

API cuDestroyExternalMemory(uint64_t handle) {
    ENTER("cuDestroyExternalMemory", NEED_CONTEXT);
    struct external *e = object_get(OBJECT_EXTERNAL, handle);
    if (!e)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no external memory", (unsigned long long)handle);
    range_each(count_mapped, e);
    if (e->mapped)
        violation("external memory is destroyed while %d buffers of it are mapped", e->mapped);
    struct stat st;
    if (e->fd >= 0) {
        if (fstat(e->fd, &st) || st.st_dev != e->dev || st.st_ino != e->inode)
            violation("the program closed descriptor %d, which cuImportExternalMemory took over", e->fd);
        else
            close(e->fd);
    }
    backing_unref(e->backing);
    object_remove(handle);
    free(e);
    return CUDA_SUCCESS;
}
