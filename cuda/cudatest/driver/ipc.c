// Legacy IPC: 64-byte handles of cuMemAlloc memory.
#include "emulated.h"

#include <unistd.h>

API cuIpcGetMemHandle(struct CUhandle64 *out, CUdeviceptr address) {
    ENTER("cuIpcGetMemHandle", NEED_CONTEXT);
    struct range *r = range_find(address);
    if (!r)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no memory", (unsigned long long)address);
    if (r->kind != RANGE_DEVICE) // the machine's answer, not a mistake
        return answer(CUDA_ERROR_INVALID_VALUE, "cuIpcGetMemHandle/%s", range_circumstance(r));
    struct key k;
    if (!key_make(&k, RANGE_IPC, r->backing))
        return refuse(CUDA_ERROR_INVALID_VALUE, "a part of the allocation was made a dma-buf before");
    k.size = r->size;
    r->inode = k.inode;
    memcpy(out, &k, sizeof k);
    return CUDA_SUCCESS;
}

struct search {
    const struct key *key;
    uint64_t context;
    struct range *open, *own;
};

static void match(struct range *r, void *arg) {
    struct search *s = arg;
    if (r->kind == RANGE_IPC && r->inode == s->key->inode && r->context == s->context)
        s->open = r;
    if (r->kind == RANGE_DEVICE && r->inode == s->key->inode && s->key->pid == getpid())
        s->own = r;
}

API cuIpcOpenMemHandle_v2(CUdeviceptr *out, struct CUhandle64 handle, unsigned flags) {
    ENTER("cuIpcOpenMemHandle", NEED_CONTEXT);
    struct key k;
    memcpy(&k, &handle, sizeof k);
    struct context *c = context_current();
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return refuse(CUDA_ERROR_INVALID_VALUE, "flags %u are not LAZY_ENABLE_PEER_ACCESS", flags);
    struct search s = {&k, c->handle, NULL, NULL};
    range_each(match, &s);
    if (s.own)
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "a handle can't be opened in the process that made it");
    if (s.open) {
        s.open->opened++;
        *out = s.open->base;
        return CUDA_SUCCESS;
    }
    CUresult result;
    struct backing *b = key_open(&k, RANGE_IPC, &result);
    if (!b)
        return refuse(result, "process %d has no such memory, or is not visible here", k.pid);
    int device = b->device;
    if (device_ordinal(device) < 0)
        result = refuse(CUDA_ERROR_INVALID_DEVICE, "the memory's device (%d) is not visible here", device);
    else if (!peer_possible(c->device->index, device))
        result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    void *at = result == CUDA_SUCCESS ? backing_map(b, 0, b->size, NULL, protection_full) : NULL;
    if (!at) {
        backing_unref(b);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct range *r = range_add(RANGE_IPC, (uint64_t)at, k.size, b->size);
    r->backing = b;
    r->device = device;
    r->readers = r->writers = 1u << c->device->index;
    r->inode = k.inode;
    r->opened = 1;
    state_import(k.inode, true);
    last_shared = b;
    *out = r->base;
    return CUDA_SUCCESS;
}

API cuIpcCloseMemHandle(CUdeviceptr address) {
    ENTER("cuIpcCloseMemHandle", NEED_CONTEXT);
    struct range *r = range_at(address);
    if (!r || r->kind != RANGE_IPC) {
        violation("%#llx is no open IPC handle%s", (unsigned long long)address,
                  range_was_freed(address) ? "; it was closed before" : "");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (--r->opened > 0)
        return CUDA_SUCCESS;
    struct context *c = context_current();
    if (context_busy(c)) {
        violation("%#llx is closed while work is queued", (unsigned long long)address);
        context_wait(&call, c);
    }
    state_import(r->inode, false);
    range_unmap(r);
    return CUDA_SUCCESS;
}
