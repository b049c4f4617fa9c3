// The address space: which addresses are memory, whose, and for whom.
#define _GNU_SOURCE
#include "emulated.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FREED = 1024 };

const int protection_full = PROT_READ | PROT_WRITE;

static struct range **table; // by base
static int table_count, table_capacity;
static uint64_t freed[FREED]; // the newest addresses that were released
static unsigned freed_next;
static uint64_t next_id = 1;

static const char *const names[] = {
    "cuMemAlloc memory", "cuMemAllocAsync memory", "memory of a pool", "pinned host memory", "registered host memory",
    "managed memory", "mapping", "mapping of an IPC handle", "mapped external memory", "imported pool memory",
};

const char *range_kind_name(enum range_kind kind) { return names[kind]; }

const char *range_circumstance(const struct range *r) {
    switch (r->kind) {
    case RANGE_DEVICE: return "device";
    case RANGE_ASYNC: return "async";
    case RANGE_POOL: return "pool";
    case RANGE_PINNED: return "pinned";
    case RANGE_REGISTERED: return "registered";
    case RANGE_MANAGED: return "managed";
    case RANGE_VMM: return r->device == HOST ? "vmm-host" : r->rdma ? "vmm-rdma" : "vmm";
    default: return "imported";
    }
}

uint64_t page_size(void) {
    static uint64_t size;
    if (!size)
        size = (uint64_t)sysconf(_SC_PAGESIZE);
    return size;
}

uint64_t page_round(uint64_t n) { return (n + page_size() - 1) & ~(page_size() - 1); }

// The number of ranges that begin at or below address.
static int position(uint64_t address) {
    int low = 0, high = table_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct range *range_add(enum range_kind kind, uint64_t base, uint64_t size, uint64_t span) {
    struct range *r = calloc(1, sizeof *r);
    r->kind = kind;
    r->base = base;
    r->size = size;
    r->span = span;
    r->device = HOST;
    r->id = next_id++;
    struct context *c = context_current();
    r->context = c ? c->handle : 0;
    if (table_count == table_capacity) {
        table_capacity = table_capacity ? 2 * table_capacity : 256;
        table = realloc(table, (size_t)table_capacity * sizeof *table);
    }
    int at = position(base);
    memmove(table + at + 1, table + at, (size_t)(table_count - at) * sizeof *table);
    table[at] = r;
    table_count++;
    for (int i = 0; i < FREED; i++)
        if (freed[i] == base)
            freed[i] = 0;
    state_objects(1);
    return r;
}

struct range *range_find(uint64_t address) {
    int at = position(address);
    struct range *r = at ? table[at - 1] : NULL;
    return r && address - r->base < r->size ? r : NULL;
}

struct range *range_at(uint64_t base) {
    struct range *r = range_find(base);
    return r && r->base == base ? r : NULL;
}

void range_remove(struct range *r) {
    int at = position(r->base) - 1;
    memmove(table + at, table + at + 1, (size_t)(table_count - at - 1) * sizeof *table);
    table_count--;
    freed[freed_next++ % FREED] = r->base;
    state_objects(-1);
    free(r);
}

void range_unmap(struct range *r) {
    if (r->kind == RANGE_VMM) // the address stays reserved
        mmap((void *)r->base, r->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    else if (r->kind != RANGE_REGISTERED)
        munmap((void *)r->base, r->span);
    backing_unref(r->backing);
    range_remove(r);
}

bool range_was_freed(uint64_t base) {
    for (int i = 0; i < FREED; i++)
        if (base && freed[i] == base)
            return true;
    return false;
}

void range_each(void (*visit)(struct range *, void *), void *arg) {
    for (int i = 0; i < table_count; i++)
        visit(table[i], arg);
}

int range_protection(const struct range *r) {
    if (r->kind != RANGE_VMM || r->writers)
        return PROT_READ | PROT_WRITE;
    return r->readers ? PROT_READ : PROT_NONE;
}

static bool usable(const struct context *c, const struct range *r, bool write) {
    if (!c || r->kind == RANGE_MANAGED)
        return true;
    if ((write ? r->writers : r->readers) & 1u << c->device->index)
        return true;
    return r->kind != RANGE_VMM && (r->device == HOST || context_may_use(c, r->device));
}

bool range_usable(const struct context *c, uint64_t address, uint64_t length, bool write, char *why, size_t why_size) {
    for (uint64_t at = address; length == 0 || at < address + length;) {
        struct range *r = range_find(at);
        if (!r) {
            snprintf(why, why_size, "address %#llx %s (%llu bytes at %#llx are used)", (unsigned long long)at,
                     range_was_freed(at) ? "was released" : "is no memory", (unsigned long long)length,
                     (unsigned long long)address);
            return false;
        }
        if (!usable(c, r, write)) {
            snprintf(why, why_size, "device %d has no %s access to the %s at %#llx", c ? c->device->index : HOST,
                     write ? "write" : "read", range_kind_name(r->kind), (unsigned long long)at);
            return false;
        }
        if (length == 0)
            return true;
        at = r->base + r->size;
    }
    return true;
}

CUresult range_allocate(enum range_kind kind, int device, uint64_t size, struct range **out) {
    CUresult result;
    struct backing *b = backing_new(device, page_round(size), 0, &result);
    if (!b)
        return result;
    void *at = backing_map(b, 0, b->size, NULL, protection_full);
    if (!at) {
        backing_unref(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct range *r = range_add(kind, (uint64_t)at, size, b->size);
    r->backing = b;
    r->device = device;
    if (device != HOST)
        r->readers = r->writers = 1u << device;
    *out = r;
    return CUDA_SUCCESS;
}
