// Stream-ordered memory pools. The memory of a pool that can be shared is one
// memfd that grows; allocations are blocks in it. Allocations of other pools
// have a memfd each.
#include "emulated.h"

#include <errno.h>
#include <sys/stat.h>

struct block {
    uint64_t offset, size;
    struct block *next;
};

struct pool {
    uint64_t handle;
    int device, references; // one for the handle, one for every block
    bool is_default, imported;
    uint32_t handle_types, readers, writers;
    uint64_t maximum, threshold, used;
    struct backing *backing; // NULL: not to be shared
    struct block *blocks;    // in use, by offset
};

static struct pool *default_pools[MAX_DEVICES];

static void pool_unref(struct pool *p) {
    if (--p->references > 0)
        return;
    backing_unref(p->backing);
    free(p);
}

static struct pool *pool_new(int device) {
    struct pool *p = calloc(1, sizeof *p);
    p->references = 1;
    p->device = device;
    p->readers = p->writers = 1u << device;
    p->handle = object_add(OBJECT_POOL, p);
    return p;
}

static struct pool *pool_get(uint64_t handle) {
    struct pool *p = object_get(OBJECT_POOL, handle);
    if (!p)
        refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no pool", (unsigned long long)handle);
    return p;
}

void pools_release(struct context *c) {
    struct pool *p = default_pools[c->device->index];
    if (!p)
        return;
    default_pools[c->device->index] = NULL;
    object_remove(p->handle);
    pool_unref(p);
}

static struct pool *default_pool(int device) {
    if (!default_pools[device]) {
        default_pools[device] = pool_new(device);
        default_pools[device]->is_default = true;
    }
    return default_pools[device];
}

API cuDeviceGetDefaultMemPool(uint64_t *out, CUdevice ordinal) {
    ENTER("cuDeviceGetDefaultMemPool", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    *out = default_pool(d->index)->handle;
    return CUDA_SUCCESS;
}

API cuMemPoolCreate(uint64_t *out, const struct CUmemPoolProps *props) {
    ENTER("cuMemPoolCreate", NEED_CONTEXT);
    struct device *d = props->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? device_at(props->location.id) : NULL;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !d || props->handleTypes & ~9u)
        return refuse(CUDA_ERROR_INVALID_VALUE, "allocation type %d, location %d %d, handle types %u", props->allocType,
                      props->location.type, props->location.id, props->handleTypes);
    if (props->handleTypes & ~(uint32_t)d->attributes[CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES])
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = CUDA_SUCCESS;
    if (props->handleTypes & CU_MEM_HANDLE_TYPE_FABRIC)
        result = answer(CUDA_SUCCESS, "cuMemPoolCreate/FABRIC");
    struct backing *b = NULL;
    if (result == CUDA_SUCCESS && props->handleTypes)
        b = backing_new(d->index, 0, props->handleTypes, &result);
    if (result != CUDA_SUCCESS)
        return result;
    struct pool *p = pool_new(d->index);
    p->backing = b;
    p->handle_types = props->handleTypes;
    p->maximum = props->maxSize;
    *out = p->handle;
    return CUDA_SUCCESS;
}

API cuMemPoolDestroy(uint64_t handle) {
    ENTER("cuMemPoolDestroy", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    if (!p || p->is_default)
        return refuse(CUDA_ERROR_INVALID_VALUE, "a default pool can't be destroyed");
    object_remove(handle);
    pool_unref(p);
    return CUDA_SUCCESS;
}

API cuMemPoolSetAttribute(uint64_t handle, int attribute, void *value) {
    ENTER("cuMemPoolSetAttribute", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    if (!p || attribute < 1 || attribute > 8)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        p->threshold = *(uint64_t *)value;
    return CUDA_SUCCESS;
}

API cuMemPoolGetAttribute(uint64_t handle, int attribute, void *value) {
    ENTER("cuMemPoolGetAttribute", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = p->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: *(uint64_t *)value = p->backing ? p->backing->size : p->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = p->used; break;
    default: return refuse(CUDA_ERROR_INVALID_VALUE, "unknown attribute %d", attribute);
    }
    return CUDA_SUCCESS;
}

static void spread_access(struct range *r, void *arg) {
    struct pool *p = arg;
    if (r->pool == p) {
        r->readers = p->readers;
        r->writers = p->writers;
    }
}

API cuMemPoolSetAccess(uint64_t handle, const struct CUmemAccessDesc *list, size_t count) {
    ENTER("cuMemPoolSetAccess", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct device *d = list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE ? device_at(list[i].location.id) : NULL;
        if (!d || (list[i].flags != 0 && list[i].flags != 1 && list[i].flags != 3))
            return refuse(CUDA_ERROR_INVALID_VALUE, "location %d %d, flags %d", list[i].location.type,
                          list[i].location.id, list[i].flags);
        if (!peer_possible(d->index, p->device))
            return CUDA_ERROR_INVALID_DEVICE;
        uint32_t bit = 1u << d->index;
        p->readers = list[i].flags & 1 ? p->readers | bit : p->readers & ~bit;
        p->writers = list[i].flags & 2 ? p->writers | bit : p->writers & ~bit;
        range_each(spread_access, p);
    }
    return CUDA_SUCCESS;
}

// Finds room for size bytes, growing the pool's memory if need be.
static CUresult block_new(struct pool *p, uint64_t size, uint64_t *offset) {
    struct block **at = &p->blocks;
    uint64_t end = 0;
    while (*at && (*at)->offset - end < size) {
        end = (*at)->offset + (*at)->size;
        at = &(*at)->next;
    }
    if (p->maximum && end + size > p->maximum)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (end + size > p->backing->size) {
        CUresult result = backing_grow(p->backing, end + size);
        if (result != CUDA_SUCCESS)
            return result;
    }
    struct block *b = calloc(1, sizeof *b);
    *b = (struct block){end, size, *at};
    *at = b;
    *offset = end;
    return CUDA_SUCCESS;
}

void pool_block_free(struct range *r) {
    struct pool *p = r->pool;
    struct block **at = &p->blocks;
    while (*at && (*at)->offset != r->offset)
        at = &(*at)->next;
    if (*at && r->kind == RANGE_POOL && p->backing) {
        struct block *b = *at;
        *at = b->next;
        free(b);
    }
    p->used -= r->size;
    pool_unref(p);
}

static CUresult allocate(struct pool *p, uint64_t size, CUdeviceptr *out) {
    struct range *r;
    CUresult result;
    if (size == 0 || p->imported)
        return refuse(CUDA_ERROR_INVALID_VALUE, "the size is 0, or the pool is imported");
    if (!p->backing) {
        result = range_allocate(p->is_default ? RANGE_ASYNC : RANGE_POOL, p->device, size, &r);
        if (result != CUDA_SUCCESS)
            return result;
    } else {
        uint64_t offset, span = (size + machine.granularity - 1) / machine.granularity * machine.granularity;
        result = block_new(p, span, &offset);
        if (result != CUDA_SUCCESS)
            return result;
        void *at = backing_map(p->backing, offset, span, NULL, protection_full);
        r = range_add(RANGE_POOL, (uint64_t)at, size, span);
        r->backing = backing_ref(p->backing);
        r->offset = offset;
        r->device = p->device;
        r->inode = p->backing->segment[0].inode + offset;
    }
    r->handle_types = p->handle_types;
    r->readers = p->readers;
    r->writers = p->writers;
    if (!p->is_default) {
        r->pool = p;
        p->references++;
        p->used += size;
    }
    *out = r->base;
    return CUDA_SUCCESS;
}

API cuMemAllocAsync(CUdeviceptr *out, size_t size, uint64_t stream) {
    ENTER("cuMemAllocAsync", NEED_CONTEXT);
    CUresult result;
    if (!stream_resolve(stream, &result))
        return result;
    return allocate(default_pool(context_current()->device->index), size, out);
}

API cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, uint64_t handle, uint64_t stream) {
    ENTER("cuMemAllocFromPoolAsync", NEED_CONTEXT);
    CUresult result;
    struct pool *p = pool_get(handle);
    if (!p || !stream_resolve(stream, &result))
        return p ? result : CUDA_ERROR_INVALID_VALUE;
    return allocate(p, size, out);
}

API cuMemPoolExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags) {
    ENTER("cuMemPoolExportToShareableHandle", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    if (!p || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !(p->handle_types & (uint32_t)type))
        return refuse(CUDA_ERROR_INVALID_VALUE, "the pool was not created for handle type %d", type);
    if (p->backing->size == 0 && backing_grow(p->backing, machine.granularity) != CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = backing_export(p->backing, 0, p->backing->size, CARRIER_POOL, false);
    if (fd < 0)
        return errno ? CUDA_ERROR_OPERATING_SYSTEM : refuse(CUDA_ERROR_INVALID_VALUE, "a part was made a dma-buf before");
    *(int *)out = fd;
    return CUDA_SUCCESS;
}

API cuMemPoolImportFromShareableHandle(uint64_t *out, void *from, int type, uint64_t flags) {
    ENTER("cuMemPoolImportFromShareableHandle", NEED_CONTEXT);
    enum carrier carrier;
    CUresult result;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags)
        return refuse(CUDA_ERROR_INVALID_VALUE, "handle type %d", type);
    struct backing *b = backing_open((int)(intptr_t)from, &carrier, &result);
    if (!b)
        return refuse(result, "no pool behind the descriptor");
    if (carrier != CARRIER_POOL || device_ordinal(b->device) < 0) {
        result = carrier != CARRIER_POOL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
        backing_unref(b);
        return refuse(result, "the descriptor is no pool, or the pool's device is not visible here");
    }
    struct pool *p = pool_new(b->device);
    p->backing = b;
    p->imported = true;
    last_shared = b;
    *out = p->handle;
    return CUDA_SUCCESS;
}

API cuMemPoolExportPointer(struct CUhandle64 *out, CUdeviceptr address) {
    ENTER("cuMemPoolExportPointer", NEED_CONTEXT);
    struct range *r = range_at(address);
    struct key k;
    if (!r || r->kind != RANGE_POOL || !r->pool->handle_types || !key_make(&k, RANGE_POOL, r->backing))
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not from a pool that can be shared", (unsigned long long)address);
    k.offset = r->offset;
    k.size = r->size;
    k.id = r->inode;
    memcpy(out, &k, sizeof k);
    return CUDA_SUCCESS;
}

// The exporter's pool may have grown since it was imported.
static void catch_up(struct backing *b) {
    struct stat st;
    if (fstat(b->segment[0].fd, &st) == 0)
        b->size = b->segment[0].size = (uint64_t)st.st_size;
}

API cuMemPoolImportPointer(CUdeviceptr *out, uint64_t handle, const struct CUhandle64 *data) {
    ENTER("cuMemPoolImportPointer", NEED_CONTEXT);
    struct pool *p = pool_get(handle);
    struct key k;
    memcpy(&k, data, sizeof k);
    if (!p || !p->imported || memcmp(k.magic, "eGK", 4) || k.kind != RANGE_POOL || k.inode != p->backing->segment[0].inode)
        return refuse(CUDA_ERROR_INVALID_VALUE, "the pointer is not from this pool");
    catch_up(p->backing);
    uint64_t span = (k.size + machine.granularity - 1) / machine.granularity * machine.granularity;
    void *at = backing_map(p->backing, k.offset, span, NULL, protection_full);
    if (!at)
        return CUDA_ERROR_MAP_FAILED;
    struct range *r = range_add(RANGE_POOL_IMPORT, (uint64_t)at, k.size, span);
    r->backing = backing_ref(p->backing);
    r->offset = k.offset;
    r->device = p->device;
    r->readers = p->readers;
    r->writers = p->writers;
    r->inode = k.id;
    r->pool = p;
    p->references++;
    p->used += k.size;
    state_import(k.id, true);
    *out = r->base;
    return CUDA_SUCCESS;
}
