// Allocations with an address: device, pinned, registered and managed memory.
#include "emulated.h"

static CUresult allocate(enum range_kind kind, int device, size_t bytes, uint64_t *out) {
    if (bytes == 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "the size is 0");
    struct range *r;
    CUresult result = range_allocate(kind, device, bytes, &r);
    if (result == CUDA_SUCCESS)
        *out = r->base;
    return result;
}

API cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
    ENTER("cuMemAlloc", NEED_CONTEXT);
    return allocate(RANGE_DEVICE, context_current()->device->index, bytes, out);
}

API cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
    ENTER("cuMemAllocManaged", NEED_CONTEXT);
    if (flags != 1 && flags != 2)
        return refuse(CUDA_ERROR_INVALID_VALUE, "flags %u are neither ATTACH_GLOBAL nor ATTACH_HOST", flags);
    return allocate(RANGE_MANAGED, context_current()->device->index, bytes, out);
}

API cuMemAllocHost_v2(void **out, size_t bytes) {
    ENTER("cuMemAllocHost", NEED_CONTEXT);
    return allocate(RANGE_PINNED, HOST, bytes, (uint64_t *)out);
}

API cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    ENTER("cuMemHostAlloc", NEED_CONTEXT);
    if (flags & ~7u)
        return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags %u", flags);
    return allocate(RANGE_PINNED, HOST, bytes, (uint64_t *)out);
}

static CUresult not_allocated(uint64_t address) {
    struct range *r = range_at(address);
    if (r ? r->freeing : range_was_freed(address))
        violation("%#llx is released twice", (unsigned long long)address);
    else
        violation("%#llx is not the beginning of an allocation", (unsigned long long)address);
    return CUDA_ERROR_INVALID_VALUE;
}

static bool freeable(const struct range *r) {
    switch (r->kind) {
    case RANGE_DEVICE: case RANGE_ASYNC: case RANGE_POOL: case RANGE_MANAGED: case RANGE_EXTERNAL: case RANGE_POOL_IMPORT:
        return !r->freeing;
    default:
        return false;
    }
}

void range_release(struct range *r) {
    if (r->inode && (r->kind == RANGE_DEVICE || r->kind == RANGE_POOL) && state_importer(r->inode))
        violation("memory at %#llx is released while process %d still has it mapped", (unsigned long long)r->base,
                  state_importer(r->inode));
    if (r->kind == RANGE_POOL_IMPORT)
        state_import(r->inode, false);
    if (r->kind == RANGE_POOL || r->kind == RANGE_POOL_IMPORT)
        pool_block_free(r);
    range_unmap(r);
}

API cuMemFree_v2(CUdeviceptr address) {
    ENTER("cuMemFree", NEED_CONTEXT);
    if (address == 0)
        return CUDA_SUCCESS;
    struct range *r = range_at(address);
    if (!r || !freeable(r))
        return not_allocated(address);
    struct context *c = context_current();
    context_wait(&call, c);
    if (c->sticky != CUDA_SUCCESS)
        return c->sticky;
    if ((r = range_at(address)))
        range_release(r);
    return CUDA_SUCCESS;
}

static void release(struct operation *o) {
    pthread_mutex_lock(&driver_mutex);
    struct range *r = range_at(o->release.base);
    if (r)
        range_release(r);
    pthread_mutex_unlock(&driver_mutex);
}

API cuMemFreeAsync(CUdeviceptr address, uint64_t stream) {
    ENTER("cuMemFreeAsync", NEED_CONTEXT);
    CUresult result;
    struct stream *s = stream_resolve(stream, &result);
    if (!s)
        return result;
    struct range *r = range_at(address);
    if (!r || !freeable(r) || (r->kind != RANGE_ASYNC && r->kind != RANGE_POOL && r->kind != RANGE_POOL_IMPORT))
        return not_allocated(address);
    r->freeing = true;
    struct operation *o = operation_new(release);
    o->release.base = address;
    stream_enqueue(s, o);
    return CUDA_SUCCESS;
}

API cuMemFreeHost(void *address) {
    ENTER("cuMemFreeHost", NEED_CONTEXT);
    struct range *r = range_at((uint64_t)address);
    if (!r || r->kind != RANGE_PINNED)
        return not_allocated((uint64_t)address);
    struct context *c = context_current();
    context_wait(&call, c);
    if (c->sticky != CUDA_SUCCESS)
        return c->sticky;
    if ((r = range_at((uint64_t)address)))
        range_unmap(r);
    return CUDA_SUCCESS;
}

API cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    ENTER("cuMemHostRegister", NEED_CONTEXT);
    uint64_t base = (uint64_t)address;
    if (bytes == 0 || flags & ~15u)
        return refuse(CUDA_ERROR_INVALID_VALUE, "the size is 0, or unknown flags %u", flags);
    if (range_find(base) || range_find(base + bytes - 1))
        return refuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "%#llx is known already", (unsigned long long)base);
    range_add(RANGE_REGISTERED, base, bytes, bytes);
    return CUDA_SUCCESS;
}

API cuMemHostUnregister(void *address) {
    ENTER("cuMemHostUnregister", NEED_CONTEXT);
    struct range *r = range_at((uint64_t)address);
    if (!r || r->kind != RANGE_REGISTERED) {
        violation("%p is not registered", address);
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    context_wait(&call, context_current());
    if ((r = range_at((uint64_t)address)))
        range_remove(r);
    return CUDA_SUCCESS;
}

API cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned flags) {
    ENTER("cuMemHostGetDevicePointer", NEED_CONTEXT);
    struct range *r = range_find((uint64_t)address);
    if (flags != 0 || !r || (r->kind != RANGE_PINNED && r->kind != RANGE_REGISTERED))
        return refuse(CUDA_ERROR_INVALID_VALUE, "%p is neither pinned nor registered memory", address);
    *out = (uint64_t)address;
    return CUDA_SUCCESS;
}

API cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    ENTER("cuMemGetAddressRange", NEED_CONTEXT);
    struct range *r = range_find(address);
    if (!r)
        return refuse(CUDA_ERROR_NOT_FOUND, "%#llx is no memory", (unsigned long long)address);
    if (base)
        *base = r->base;
    if (bytes)
        *bytes = r->size;
    return CUDA_SUCCESS;
}

API cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    ENTER("cuMemGetInfo", NEED_CONTEXT);
    struct device *d = context_current()->device;
    uint64_t used = state_used(d->index);
    *total = d->memory;
    *free_bytes = used < d->memory ? d->memory - used : 0;
    return CUDA_SUCCESS;
}

API cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
    ENTER("cuPointerGetAttribute", NEED_CONTEXT);
    struct range *r = range_find(address);
    if (!r)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no memory", (unsigned long long)address);
    uint32_t *word = out;
    uint64_t *wide = out;
    bool host = r->kind == RANGE_PINNED || r->kind == RANGE_REGISTERED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *wide = r->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *word = host ? 1 : 2; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *wide = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host)
            return CUDA_ERROR_INVALID_VALUE;
        *wide = address;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *word = 0; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *wide = r->id; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *word = r->kind == RANGE_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = r->device == HOST ? -1 : device_ordinal(r->device); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *word = r->kind == RANGE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *wide = r->base; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *wide = r->size; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *wide = r->handle_types; break;
    default: return refuse(CUDA_ERROR_INVALID_VALUE, "unknown attribute %d", attribute);
    }
    return CUDA_SUCCESS;
}

API cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr address) {
    ENTER("cuPointerSetAttribute", NEED_CONTEXT);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !value || !range_find(address))
        return refuse(CUDA_ERROR_INVALID_VALUE, "attribute %d of %#llx", attribute, (unsigned long long)address);
    return CUDA_SUCCESS;
}
