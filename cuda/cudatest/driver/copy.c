// Copies and fills.
#include "emulated.h"

static void copy(struct operation *o) {
    memmove((void *)o->copy.to, (void *)o->copy.from, o->copy.bytes);
}

static void set(struct operation *o) {
    uint8_t *at = (uint8_t *)o->set.to;
    if (o->set.width == 1)
        memset(at, (int)o->set.value, o->set.count);
    else
        for (uint64_t i = 0; i < o->set.count; i++)
            memcpy(at + 4 * i, &o->set.value, 4);
}

enum side { DEVICE_SIDE, HOST_SIDE, EITHER_SIDE };

static bool pinned(uint64_t address) {
    struct range *r = range_find(address);
    return r && r->kind != RANGE_VMM;
}

// Whether c may use one side of a copy. Memory that the driver does not know
// is the program's own, which only a host side may be.
static CUresult check(const struct context *c, uint64_t address, uint64_t bytes, bool write, enum side side) {
    char why[256];
    if (side != DEVICE_SIDE && !range_find(address))
        return CUDA_SUCCESS;
    if (range_usable(c, address, bytes, write, why, sizeof why))
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "%s", why);
}

static CUresult enqueue_copy(struct call *call, uint64_t stream, uint64_t to, enum side to_side, uint64_t from,
                             enum side from_side, uint64_t bytes, bool wait) {
    struct context *c = context_current();
    CUresult result;
    struct stream *s = stream_resolve(stream, &result);
    if (!s)
        return result;
    if (bytes == 0)
        return CUDA_SUCCESS;
    if ((result = check(c, to, bytes, true, to_side)) != CUDA_SUCCESS ||
        (result = check(c, from, bytes, false, from_side)) != CUDA_SUCCESS)
        return result;
    struct operation *o = operation_new(copy);
    o->copy.to = to;
    o->copy.from = from;
    o->copy.bytes = bytes;
    stream_enqueue(s, o);
    // Pageable memory is copied before the call returns.
    wait = wait || (to_side != DEVICE_SIDE && !pinned(to)) || (from_side != DEVICE_SIDE && !pinned(from));
    if (wait)
        stream_wait(call, s);
    return wait ? c->sticky : CUDA_SUCCESS;
}

API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    ENTER("cuMemcpyHtoD", NEED_CONTEXT);
    return enqueue_copy(&call, 0, to, DEVICE_SIDE, (uint64_t)from, HOST_SIDE, bytes, true);
}

API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    ENTER("cuMemcpyDtoH", NEED_CONTEXT);
    return enqueue_copy(&call, 0, (uint64_t)to, HOST_SIDE, from, DEVICE_SIDE, bytes, true);
}

API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    ENTER("cuMemcpyDtoD", NEED_CONTEXT);
    return enqueue_copy(&call, 0, to, DEVICE_SIDE, from, DEVICE_SIDE, bytes, true);
}

API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    ENTER("cuMemcpy", NEED_CONTEXT);
    return enqueue_copy(&call, 0, to, EITHER_SIDE, from, EITHER_SIDE, bytes, true);
}

API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, uint64_t stream) {
    ENTER("cuMemcpyHtoDAsync", NEED_CONTEXT);
    return enqueue_copy(&call, stream, to, DEVICE_SIDE, (uint64_t)from, HOST_SIDE, bytes, false);
}

API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, uint64_t stream) {
    ENTER("cuMemcpyDtoHAsync", NEED_CONTEXT);
    return enqueue_copy(&call, stream, (uint64_t)to, HOST_SIDE, from, DEVICE_SIDE, bytes, false);
}

API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, uint64_t stream) {
    ENTER("cuMemcpyDtoDAsync", NEED_CONTEXT);
    return enqueue_copy(&call, stream, to, DEVICE_SIDE, from, DEVICE_SIDE, bytes, false);
}

API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, uint64_t stream) {
    ENTER("cuMemcpyAsync", NEED_CONTEXT);
    return enqueue_copy(&call, stream, to, EITHER_SIDE, from, EITHER_SIDE, bytes, false);
}

// Needs no peer access: the driver goes through the host where it must.
API cuMemcpyPeerAsync(CUdeviceptr to, uint64_t to_context, CUdeviceptr from, uint64_t from_context, size_t bytes,
                      uint64_t stream) {
    ENTER("cuMemcpyPeerAsync", NEED_CONTEXT);
    struct context *tc = object_get(OBJECT_CONTEXT, to_context), *fc = object_get(OBJECT_CONTEXT, from_context);
    CUresult result;
    struct stream *s = stream_resolve(stream, &result);
    if (!s || !tc || !fc)
        return s ? refuse(CUDA_ERROR_INVALID_CONTEXT, "one of the two contexts is none") : result;
    if ((result = check(tc, to, bytes, true, DEVICE_SIDE)) != CUDA_SUCCESS ||
        (result = check(fc, from, bytes, false, DEVICE_SIDE)) != CUDA_SUCCESS)
        return result;
    struct operation *o = operation_new(copy);
    o->copy.to = to;
    o->copy.from = from;
    o->copy.bytes = bytes;
    stream_enqueue(s, o);
    return CUDA_SUCCESS;
}

static CUresult enqueue_set(struct call *call, uint64_t stream, uint64_t to, uint32_t value, int width, uint64_t count,
                            bool wait) {
    struct context *c = context_current();
    CUresult result;
    struct stream *s = stream_resolve(stream, &result);
    if (!s)
        return result;
    if (to % (unsigned)width)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not aligned to %d bytes", (unsigned long long)to, width);
    if (count == 0)
        return CUDA_SUCCESS;
    if ((result = check(c, to, count * (unsigned)width, true, DEVICE_SIDE)) != CUDA_SUCCESS)
        return result;
    struct operation *o = operation_new(set);
    o->set.to = to;
    o->set.value = value;
    o->set.width = width;
    o->set.count = count;
    stream_enqueue(s, o);
    if (wait)
        stream_wait(call, s);
    return wait ? c->sticky : CUDA_SUCCESS;
}

API cuMemsetD8_v2(CUdeviceptr to, uint8_t value, size_t count) {
    ENTER("cuMemsetD8", NEED_CONTEXT);
    return enqueue_set(&call, 0, to, value, 1, count, true);
}

API cuMemsetD32_v2(CUdeviceptr to, uint32_t value, size_t count) {
    ENTER("cuMemsetD32", NEED_CONTEXT);
    return enqueue_set(&call, 0, to, value, 4, count, true);
}

API cuMemsetD8Async(CUdeviceptr to, uint8_t value, size_t count, uint64_t stream) {
    ENTER("cuMemsetD8Async", NEED_CONTEXT);
    return enqueue_set(&call, stream, to, value, 1, count, false);
}

API cuMemsetD32Async(CUdeviceptr to, uint32_t value, size_t count, uint64_t stream) {
    ENTER("cuMemsetD32Async", NEED_CONTEXT);
    return enqueue_set(&call, stream, to, value, 4, count, false);
}
