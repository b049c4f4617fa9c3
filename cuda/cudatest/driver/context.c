// Contexts: only primary ones, as the runtime library uses.
#include "emulated.h"

static struct context *contexts[MAX_DEVICES]; // by device index
static __thread uint64_t stack[16];           // of this thread's contexts, as handles
static __thread int depth;

struct context *context_current(void) {
    if (depth == 0 || stack[depth - 1] == 0)
        return NULL;
    return object_get(OBJECT_CONTEXT, stack[depth - 1]);
}

struct context *context_of_device(int index) { return contexts[index]; }

void context_poison(struct context *c, CUresult result) {
    if (c->sticky == CUDA_SUCCESS)
        c->sticky = result;
}

bool context_any_poisoned(void) {
    for (int i = 0; i < MAX_DEVICES; i++)
        if (contexts[i] && contexts[i]->sticky != CUDA_SUCCESS)
            return true;
    return false;
}

bool context_may_use(const struct context *c, int device_index) {
    return c->device->index == device_index || (c->peers & 1u << device_index);
}

API cuDevicePrimaryCtxRetain(uint64_t *out, CUdevice ordinal) {
    ENTER("cuDevicePrimaryCtxRetain", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d)
        return refuse(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", ordinal);
    struct context *c = contexts[d->index];
    if (!c) {
        int mode = d->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE];
        if (mode == CU_COMPUTEMODE_PROHIBITED ||
            !state_claim(d->index, mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS))
            return CUDA_ERROR_DEVICE_UNAVAILABLE;
        c = calloc(1, sizeof *c);
        c->device = d;
        c->handle = object_add(OBJECT_CONTEXT, c);
        c->legacy = stream_new(c, 0);
        contexts[d->index] = c;
    }
    c->retained++;
    *out = c->handle;
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    ENTER("cuDevicePrimaryCtxRelease", NEED_INIT);
    struct device *d = device_at(ordinal);
    struct context *c = d ? contexts[d->index] : NULL;
    if (!c)
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "device %d has no retained primary context", ordinal);
    if (--c->retained > 0)
        return CUDA_SUCCESS;
    if (c->sticky == CUDA_SUCCESS)
        context_wait(&call, c);
    bool poisoned = context_any_poisoned();
    contexts[d->index] = NULL;
    object_remove(c->handle);
    pools_release(c);
    stream_delete(&call, c->legacy);
    free(c);
    state_context(d->index, false);
    bool last = true;
    for (int i = 0; i < MAX_DEVICES; i++)
        last = last && !contexts[i];
    // What a poisoned context holds can't be released, so nobody is blamed.
    if (last && !poisoned)
        report_leaks();
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active) {
    ENTER("cuDevicePrimaryCtxGetState", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = contexts[d->index] != NULL;
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    ENTER("cuDevicePrimaryCtxSetFlags", NEED_INIT);
    (void)flags;
    return device_at(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API cuCtxSetCurrent(uint64_t handle) {
    ENTER("cuCtxSetCurrent", NEED_INIT);
    if (handle && !object_get(OBJECT_CONTEXT, handle))
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "%#llx is no context", (unsigned long long)handle);
    if (depth == 0)
        depth = 1;
    stack[depth - 1] = handle;
    return CUDA_SUCCESS;
}

API cuCtxGetCurrent(uint64_t *out) {
    ENTER("cuCtxGetCurrent", NEED_INIT);
    *out = depth ? stack[depth - 1] : 0;
    return CUDA_SUCCESS;
}

API cuCtxPushCurrent_v2(uint64_t handle) {
    ENTER("cuCtxPushCurrent", NEED_INIT);
    if (!object_get(OBJECT_CONTEXT, handle) || depth == (int)(sizeof stack / sizeof stack[0]))
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = handle;
    return CUDA_SUCCESS;
}

API cuCtxPopCurrent_v2(uint64_t *out) {
    ENTER("cuCtxPopCurrent", NEED_INIT);
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (out)
        *out = stack[depth];
    return CUDA_SUCCESS;
}

API cuCtxGetDevice(CUdevice *out) {
    ENTER("cuCtxGetDevice", NEED_CONTEXT);
    *out = device_ordinal(context_current()->device->index);
    return CUDA_SUCCESS;
}

API cuCtxSynchronize(void) {
    ENTER("cuCtxSynchronize", NEED_CONTEXT);
    struct context *c = context_current();
    context_wait(&call, c);
    return c->sticky;
}

API cuCtxEnablePeerAccess(uint64_t handle, unsigned flags) {
    ENTER("cuCtxEnablePeerAccess", NEED_CONTEXT);
    struct context *c = context_current(), *peer = object_get(OBJECT_CONTEXT, handle);
    if (!peer || flags != 0)
        return refuse(peer ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT, "no peer context, or flags not 0");
    if (peer == c)
        return refuse(CUDA_ERROR_INVALID_DEVICE, "a context is no peer of itself");
    if (!peer_possible(c->device->index, peer->device->index))
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (c->peers & 1u << peer->device->index)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    c->peers |= 1u << peer->device->index;
    return CUDA_SUCCESS;
}

API cuCtxDisablePeerAccess(uint64_t handle) {
    ENTER("cuCtxDisablePeerAccess", NEED_CONTEXT);
    struct context *c = context_current(), *peer = object_get(OBJECT_CONTEXT, handle);
    if (!peer || !(c->peers & 1u << peer->device->index))
        return refuse(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access was not enabled");
    c->peers &= ~(1u << peer->device->index);
    return CUDA_SUCCESS;
}
