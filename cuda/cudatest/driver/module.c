// Modules: PTX is taken as text, and its kernels are run by the functions of
// kernels.c that have their names.
#define _GNU_SOURCE
#include "emulated.h"

struct function {
    const struct kernel *kernel;
    struct module *module;
    uint64_t handle;
    struct function *next;
};

struct module {
    struct context *context;
    char *text;
    struct function *functions;
};

enum { JIT_INFO_LOG_BUFFER = 3, JIT_INFO_LOG_SIZE = 4, JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_SIZE = 6 };

static void write_log(unsigned count, const int *options, void **values, int buffer_option, const char *text) {
    char *buffer = NULL;
    for (unsigned i = 0; i < count; i++)
        if (options[i] == buffer_option)
            buffer = values[i];
    for (unsigned i = 0; i < count; i++) {
        if (options[i] != buffer_option + 1)
            continue;
        size_t room = (size_t)(uintptr_t)values[i], used = strlen(text) + 1;
        if (buffer && room)
            snprintf(buffer, room, "%s", text);
        values[i] = (void *)(uintptr_t)(used < room ? used : room);
    }
}

static CUresult load(uint64_t *out, const void *image, unsigned count, const int *options, void **values) {
    if (!image)
        return refuse(CUDA_ERROR_INVALID_VALUE, "there is no image");
    const char *text = image;
    if (!strstr(text, ".version") || !strstr(text, ".target")) {
        write_log(count, options, values, JIT_ERROR_LOG_BUFFER, "ptxas fatal: Missing .version directive");
        return refuse(CUDA_ERROR_INVALID_PTX, "the image is no PTX");
    }
    write_log(count, options, values, JIT_INFO_LOG_BUFFER, "");
    struct module *m = calloc(1, sizeof *m);
    m->context = context_current();
    m->text = strdup(text);
    *out = object_add(OBJECT_MODULE, m);
    return CUDA_SUCCESS;
}

API cuModuleLoadData(uint64_t *out, const void *image) {
    ENTER("cuModuleLoadData", NEED_CONTEXT);
    return load(out, image, 0, NULL, NULL);
}

API cuModuleLoadDataEx(uint64_t *out, const void *image, unsigned count, const int *options, void **values) {
    ENTER("cuModuleLoadDataEx", NEED_CONTEXT);
    return load(out, image, count, options, values);
}

API cuModuleUnload(uint64_t handle) {
    ENTER("cuModuleUnload", NEED_CONTEXT);
    struct module *m = object_get(OBJECT_MODULE, handle);
    if (!m || m->context != context_current())
        return refuse(m ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE, "%#llx is no module of the current context",
                      (unsigned long long)handle);
    context_wait(&call, m->context);
    for (struct function *f = m->functions, *next; f; f = next) {
        next = f->next;
        object_remove(f->handle);
        free(f);
    }
    object_remove(handle);
    free(m->text);
    free(m);
    return CUDA_SUCCESS;
}

API cuModuleGetFunction(uint64_t *out, uint64_t handle, const char *name) {
    ENTER("cuModuleGetFunction", NEED_CONTEXT);
    struct module *m = object_get(OBJECT_MODULE, handle);
    if (!m)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no module", (unsigned long long)handle);
    char entry[96];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const struct kernel *k = kernel_by_name(name);
    if (!strstr(m->text, entry) || !k)
        return refuse(CUDA_ERROR_NOT_FOUND, "the module, or the emulation, has no kernel %s", name);
    for (struct function *f = m->functions; f; f = f->next)
        if (f->kernel == k) {
            *out = f->handle;
            return CUDA_SUCCESS;
        }
    struct function *f = calloc(1, sizeof *f);
    *f = (struct function){k, m, 0, m->functions};
    m->functions = f;
    *out = f->handle = object_add(OBJECT_FUNCTION, f);
    return CUDA_SUCCESS;
}

API cuLaunchKernel(uint64_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, uint64_t stream, void **parameters, void **extra) {
    ENTER("cuLaunchKernel", NEED_CONTEXT);
    CUresult result;
    struct function *f = object_get(OBJECT_FUNCTION, function);
    struct stream *s = stream_resolve(stream, &result);
    if (!s)
        return result;
    if (!f)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no function", (unsigned long long)function);
    if (f->module->context != context_current())
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "kernel %s was loaded in another context", f->kernel->name);
    if (!grid_x || grid_x > 0x7fffffff || grid_y != 1 || grid_z != 1 || !block_x || block_y != 1 || block_z != 1 ||
        block_x > 1024 || shared > 48 << 10 || extra || !parameters)
        return refuse(CUDA_ERROR_INVALID_VALUE, "grid %u %u %u, block %u %u %u", grid_x, grid_y, grid_z, block_x, block_y,
                      block_z);
    if (block_x > f->kernel->max_threads)
        return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "kernel %s was built for %u threads a block, not %u",
                      f->kernel->name, f->kernel->max_threads, block_x);
    char name[64];
    snprintf(name, sizeof name, "kernel:%s", f->kernel->name);
    struct operation *o = operation_new(operation_launch);
    o->launch.kernel = f->kernel;
    o->launch.fault = fault_next(name);
    for (int i = 0; i < f->kernel->parameters; i++)
        memcpy(&o->launch.argument[i], parameters[i], f->kernel->size[i]);
    stream_enqueue(s, o);
    return CUDA_SUCCESS;
}
