// Virtual memory management: physical memory, addresses, and mappings of the
// one at the other.
#define _GNU_SOURCE
#include "emulated.h"

#include <errno.h>
#include <sys/mman.h>

struct reservation {
    uint64_t base, size;
    struct reservation *next;
};

static struct reservation *reservations;

static struct physical *physical_get(uint64_t handle) {
    struct physical *p = object_get(OBJECT_PHYSICAL, handle);
    if (!p)
        refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no physical memory", (unsigned long long)handle);
    return p;
}

static const char *location_name(int type) {
    static const char *const names[] = {"INVALID", "DEVICE", "HOST", "HOST_NUMA", "HOST_NUMA_CURRENT"};
    return type >= 0 && type <= 4 ? names[type] : names[0];
}

// Where memory of a location lies; false: no such location.
static bool location_device(const struct CUmemLocation *l, int *device) {
    *device = HOST;
    switch (l->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (!device_at(l->id))
            return false;
        *device = device_at(l->id)->index;
        return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return l->id >= 0 && l->id < machine.numa_nodes;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return true;
    }
    return false;
}

API cuMemGetAllocationGranularity(size_t *out, const struct CUmemAllocationProp *p, int option) {
    ENTER("cuMemGetAllocationGranularity", NEED_INIT);
    int device;
    if (!out || p->type != CU_MEM_ALLOCATION_TYPE_PINNED || option < 0 || option > 1)
        return refuse(CUDA_ERROR_INVALID_VALUE, "allocation type %d, option %d", p->type, option);
    if (!location_device(&p->location, &device))
        return refuse(CUDA_ERROR_INVALID_DEVICE, "no location %s %d", location_name(p->location.type), p->location.id);
    *out = machine.granularity;
    return CUDA_SUCCESS;
}

API cuMemCreate(uint64_t *out, size_t size, const struct CUmemAllocationProp *p, uint64_t flags) {
    ENTER("cuMemCreate", NEED_CONTEXT);
    int device;
    if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED || flags != 0 || p->requestedHandleTypes & ~9u)
        return refuse(CUDA_ERROR_INVALID_VALUE, "allocation type %d, handle types %u, flags %llu", p->type,
                      p->requestedHandleTypes, (unsigned long long)flags);
    if (!location_device(&p->location, &device))
        return refuse(p->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE,
                      "no location %s %d", location_name(p->location.type), p->location.id);
    if (size == 0 || size % machine.granularity)
        return refuse(CUDA_ERROR_INVALID_VALUE, "size %zu is no multiple of the granularity %llu", size,
                      (unsigned long long)machine.granularity);
    CUresult result = answer(CUDA_SUCCESS, "cuMemCreate/%s", location_name(p->location.type));
    if (result == CUDA_SUCCESS && p->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC)
        result = answer(CUDA_SUCCESS, "cuMemCreate/FABRIC");
    if (result != CUDA_SUCCESS)
        return result;
    struct backing *b = backing_new(device, size, p->requestedHandleTypes, &result);
    if (!b)
        return result;
    struct physical *m = calloc(1, sizeof *m);
    m->backing = b;
    m->properties = *p;
    m->handles = 1;
    *out = object_add(OBJECT_PHYSICAL, m);
    return CUDA_SUCCESS;
}

API cuMemRelease(uint64_t handle) {
    ENTER("cuMemRelease", NEED_INIT);
    struct physical *m = physical_get(handle);
    if (!m)
        return CUDA_ERROR_INVALID_VALUE;
    if (--m->handles > 0)
        return CUDA_SUCCESS;
    object_remove(handle);
    backing_unref(m->backing);
    free(m);
    return CUDA_SUCCESS;
}

API cuMemRetainAllocationHandle(uint64_t *out, void *address) {
    ENTER("cuMemRetainAllocationHandle", NEED_INIT);
    struct range *r = range_find((uint64_t)address);
    struct physical *m = r && r->kind == RANGE_VMM ? physical_get(r->owner) : NULL;
    if (!m)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%p is no mapping of live physical memory", address);
    m->handles++;
    *out = r->owner;
    return CUDA_SUCCESS;
}

API cuMemGetAllocationPropertiesFromHandle(struct CUmemAllocationProp *out, uint64_t handle) {
    ENTER("cuMemGetAllocationPropertiesFromHandle", NEED_INIT);
    struct physical *m = physical_get(handle);
    if (!m)
        return CUDA_ERROR_INVALID_VALUE;
    *out = m->properties;
    return CUDA_SUCCESS;
}

API cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr wish, uint64_t flags) {
    ENTER("cuMemAddressReserve", NEED_INIT);
    (void)wish;
    if (size == 0 || size % machine.granularity || flags != 0 || (alignment & (alignment - 1)))
        return refuse(CUDA_ERROR_INVALID_VALUE, "size %zu is no multiple of the granularity %llu, or alignment %zu", size,
                      (unsigned long long)machine.granularity, alignment);
    if (alignment < machine.granularity)
        alignment = machine.granularity;
    uint8_t *at = mmap(NULL, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t base = ((uint64_t)at + alignment - 1) & ~(uint64_t)(alignment - 1), before = base - (uint64_t)at;
    if (before)
        munmap(at, before);
    munmap((void *)(base + size), alignment - before);
    struct reservation *r = calloc(1, sizeof *r);
    *r = (struct reservation){base, size, reservations};
    reservations = r;
    state_objects(1);
    *out = base;
    return CUDA_SUCCESS;
}

static void inside(struct range *r, void *arg) {
    struct reservation *in = arg;
    if (r->base >= in->base && r->base < in->base + in->size)
        in->next = in;
}

API cuMemAddressFree(CUdeviceptr base, size_t size) {
    ENTER("cuMemAddressFree", NEED_INIT);
    struct reservation **at = &reservations;
    while (*at && (*at)->base != base)
        at = &(*at)->next;
    struct reservation *r = *at;
    if (!r || r->size != size) {
        violation("%#llx with %zu bytes is no reservation", (unsigned long long)base, size);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct reservation mapped = {base, size, NULL};
    range_each(inside, &mapped);
    if (mapped.next) {
        violation("reservation %#llx is freed while something is mapped there", (unsigned long long)base);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *at = r->next;
    munmap((void *)base, size);
    free(r);
    state_objects(-1);
    return CUDA_SUCCESS;
}

void reservation_each(void (*visit)(uint64_t, uint64_t)) {
    for (struct reservation *r = reservations; r; r = r->next)
        visit(r->base, r->size);
}

static bool reserved(uint64_t base, uint64_t size) {
    for (struct reservation *r = reservations; r; r = r->next)
        if (base >= r->base && base - r->base <= r->size && size <= r->size - (base - r->base))
            return true;
    return false;
}

API cuMemMap(CUdeviceptr base, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    ENTER("cuMemMap", NEED_INIT);
    struct physical *m = physical_get(handle);
    if (!m)
        return CUDA_ERROR_INVALID_VALUE;
    if (size == 0 || size % machine.granularity || base % machine.granularity || offset != 0 || flags != 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "address, size %zu: multiples of %llu; offset %zu and flags: 0", size,
                      (unsigned long long)machine.granularity, offset);
    if (size > m->backing->size)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%zu bytes of an allocation of %llu", size,
                      (unsigned long long)m->backing->size);
    if (!reserved(base, size))
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not reserved for %zu bytes", (unsigned long long)base, size);
    for (uint64_t at = base; at < base + size; at += machine.granularity)
        if (range_find(at))
            return refuse(CUDA_ERROR_ALREADY_MAPPED, "something is mapped at %#llx", (unsigned long long)at);
    if (!backing_map(m->backing, 0, size, (void *)base, PROT_NONE))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct range *r = range_add(RANGE_VMM, base, size, size);
    r->backing = backing_ref(m->backing);
    r->device = m->backing->device;
    r->owner = handle;
    r->rdma = m->properties.gpuDirectRDMACapable;
    r->handle_types = m->properties.requestedHandleTypes;
    return CUDA_SUCCESS;
}

// Calls visit for the mappings that [base, +size) consists of; false if it
// does not consist of whole ones.
static bool whole_mappings(uint64_t base, uint64_t size, void (*visit)(struct range *, void *), void *arg) {
    for (int round = 0; round < 2; round++)
        for (uint64_t at = base, next; at < base + size; at = next) {
            struct range *r = range_at(at);
            if (!r || r->kind != RANGE_VMM || r->size > base + size - at)
                return false;
            next = at + r->size;
            if (round)
                visit(r, arg);
        }
    return true;
}

static void unmap(struct range *r, void *arg) {
    (void)arg;
    range_unmap(r);
}

API cuMemUnmap(CUdeviceptr base, size_t size) {
    ENTER("cuMemUnmap", NEED_INIT);
    struct range *r = range_at(base);
    for (int i = 0; r && i < MAX_DEVICES; i++) {
        struct context *c = context_of_device(i);
        if (!c || !((r->readers | r->writers) & 1u << i))
            continue;
        if (c->sticky == CUDA_SUCCESS && context_busy(c)) {
            violation("%#llx is unmapped while work is queued on device %d", (unsigned long long)base, i);
            context_wait(&call, c);
        }
    }
    if (size == 0 || !whole_mappings(base, size, unmap, NULL)) {
        violation("%#llx with %zu bytes is not made of whole mappings%s", (unsigned long long)base, size,
                  range_was_freed(base) ? "; it was unmapped before" : "");
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

struct access {
    int device; // HOST: the CPU
    bool read, write;
};

static void set_access(struct range *r, void *arg) {
    struct access *a = arg;
    if (a->device != HOST) {
        uint32_t bit = 1u << a->device;
        r->readers = a->read ? r->readers | bit : r->readers & ~bit;
        r->writers = a->write ? r->writers | bit : r->writers & ~bit;
    }
    mprotect((void *)r->base, r->span, a->device == HOST ? protection_full : range_protection(r));
}

static void find_unreachable(struct range *r, void *arg) {
    struct access *a = arg;
    if (a->device == HOST ? r->device != HOST : r->device != HOST && !peer_possible(a->device, r->device))
        a->read = false;
}

API cuMemSetAccess(CUdeviceptr base, size_t size, const struct CUmemAccessDesc *list, size_t count) {
    ENTER("cuMemSetAccess", NEED_INIT);
    if (count == 0 || size == 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "no access is described");
    for (size_t i = 0; i < count; i++) {
        struct access a = {HOST, true, true};
        if (list[i].flags != 0 && list[i].flags != 1 && list[i].flags != 3)
            return refuse(CUDA_ERROR_INVALID_VALUE, "access flags %d", list[i].flags);
        if (!location_device(&list[i].location, &a.device))
            return refuse(CUDA_ERROR_INVALID_DEVICE, "no location %s %d", location_name(list[i].location.type),
                          list[i].location.id);
        if (!whole_mappings(base, size, find_unreachable, &a))
            return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx with %zu bytes is not made of whole mappings",
                          (unsigned long long)base, size);
        if (!a.read) // the location can't reach the memory
            return a.device == HOST ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
        a.read = list[i].flags & 1;
        a.write = list[i].flags & 2;
        whole_mappings(base, size, set_access, &a);
    }
    return CUDA_SUCCESS;
}

API cuMemGetAccess(uint64_t *flags, const struct CUmemLocation *location, CUdeviceptr address) {
    ENTER("cuMemGetAccess", NEED_INIT);
    int device;
    struct range *r = range_find(address);
    if (!r || r->kind != RANGE_VMM || !location_device(location, &device) || device == HOST)
        return refuse(CUDA_ERROR_INVALID_VALUE, "%#llx is no mapping, or no device", (unsigned long long)address);
    *flags = (r->readers >> device & 1) | (r->writers >> device & 1) << 1;
    return CUDA_SUCCESS;
}

API cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags) {
    ENTER("cuMemExportToShareableHandle", NEED_INIT);
    struct physical *m = physical_get(handle);
    if (!m)
        return CUDA_ERROR_INVALID_VALUE;
    bool fabric = type == CU_MEM_HANDLE_TYPE_FABRIC;
    if (flags != 0 || (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && !fabric))
        return refuse(CUDA_ERROR_INVALID_VALUE, "handle type %d, flags %llu", type, (unsigned long long)flags);
    if (!(m->properties.requestedHandleTypes & (uint32_t)type))
        return refuse(CUDA_ERROR_INVALID_VALUE, "handle type %d was not requested when the memory was created", type);
    CUresult result = answer(CUDA_SUCCESS, "cuMemExportToShareableHandle/%s", fabric ? "FABRIC" : "POSIX_FD");
    if (result != CUDA_SUCCESS)
        return result;
    struct key key;
    if (fabric && !key_make(&key, KEY_FABRIC, m->backing))
        return refuse(CUDA_ERROR_INVALID_VALUE, "a part was made a dma-buf before");
    if (fabric) {
        memcpy(out, &key, sizeof key);
        return CUDA_SUCCESS;
    }
    int fd = backing_export(m->backing, 0, m->backing->size, CARRIER_VMM, false);
    if (fd < 0)
        return errno ? CUDA_ERROR_OPERATING_SYSTEM : refuse(CUDA_ERROR_INVALID_VALUE, "a part was made a dma-buf before");
    *(int *)out = fd;
    return CUDA_SUCCESS;
}

API cuMemImportFromShareableHandle(uint64_t *out, void *from, int type) {
    ENTER("cuMemImportFromShareableHandle", NEED_CONTEXT);
    enum carrier carrier = CARRIER_VMM;
    CUresult result;
    struct backing *b;
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        b = backing_open((int)(intptr_t)from, &carrier, &result);
    else if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
        result = answer(CUDA_SUCCESS, "cuMemImportFromShareableHandle/FABRIC");
        if (result != CUDA_SUCCESS)
            return result;
        struct key key;
        memcpy(&key, from, sizeof key);
        b = key_open(&key, KEY_FABRIC, &result);
    } else
        return refuse(CUDA_ERROR_INVALID_VALUE, "handle type %d", type);
    if (!b)
        return refuse(result, "no shared memory behind the handle");
    if (carrier != CARRIER_VMM || (b->device != HOST && device_ordinal(b->device) < 0)) {
        result = carrier != CARRIER_VMM ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
        int device = b->device;
        backing_unref(b);
        return refuse(result, "the handle is no physical memory, or its device (%d) is not visible here", device);
    }
    struct physical *m = calloc(1, sizeof *m);
    m->backing = b;
    m->handles = 1;
    m->properties = (struct CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = b->handle_types,
        .location = {b->device == HOST ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE,
                     b->device == HOST ? 0 : device_ordinal(b->device)},
    };
    last_shared = b;
    *out = object_add(OBJECT_PHYSICAL, m);
    return CUDA_SUCCESS;
}
