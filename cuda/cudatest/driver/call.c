// What every entry point does first and last.
#include "emulated.h"

pthread_mutex_t driver_mutex = PTHREAD_MUTEX_INITIALIZER;
bool driver_initialised;
const char *last_call = "cuInit";

CUresult call_enter(struct call *call, const char *name, enum need need) {
    call->name = name;
    call->fault = fault_next(name);
    CUresult injected = fault_before(call->fault);
    pthread_mutex_lock(&driver_mutex);
    call->locked = true;
    last_call = name;
    if (need >= NEED_INIT && !driver_initialised)
        return refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    struct context *c = need == NEED_CONTEXT ? context_current() : NULL;
    if (need == NEED_CONTEXT && !c)
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "this thread has no current context");
    if (injected != CUDA_SUCCESS) {
        if (c && fault_is_sticky(call->fault))
            context_poison(c, injected);
        return injected;
    }
    if (c && c->sticky != CUDA_SUCCESS)
        return c->sticky;
    return answer(CUDA_SUCCESS, "%s", name);
}

void call_leave(struct call *call) {
    if (!call->locked)
        return;
    fault_after(call->fault);
    pthread_mutex_unlock(&driver_mutex);
    call->locked = false;
}

void call_unlock(struct call *call) {
    if (call->locked)
        pthread_mutex_unlock(&driver_mutex);
    call->locked = false;
}

void call_relock(struct call *call) {
    pthread_mutex_lock(&driver_mutex);
    call->locked = true;
}
