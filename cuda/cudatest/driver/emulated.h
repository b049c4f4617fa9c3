// The emulated CUDA driver: what its source files share.
//
// One mutex guards all tables. Every entry point begins with ENTER, which
// counts the call, applies injected faults, takes the mutex and checks that the
// driver is initialised and, where the call needs it, that the thread has a
// live context. Entry points that wait release the mutex first.
#ifndef GPUSHARE_EMULATED_H
#define GPUSHARE_EMULATED_H

#include "cuda_abi.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define API __attribute__((visibility("default"))) CUresult

enum {
    MAX_DEVICES = 16,
    MAX_ATTRIBUTES = 160,
    HOST = -1, // where a range lives that is on no device
};

// --- config.c: the machine ---------------------------------------------------

struct device {
    int index; // in the machine's list: the same in every process
    char name[96], pci[32];
    uint8_t uuid[16];
    bool mig;
    uint64_t memory;
    int speed; // the fastest comes first unless CUDA_DEVICE_ORDER=PCI_BUS_ID
    int attributes[MAX_ATTRIBUTES];
};

struct machine {
    char name[64];
    int driver_version;
    CUresult init;
    uint64_t granularity;
    bool dmabuf_memfd; // a memfd of any program passes for a dma-buf of the kernel
    bool dmabuf_mmap; // the CPU may map an exported dma-buf
    int numa_nodes;
    int nvlinks;      // between any two devices
    char package[32]; // the driver package's version, "580.159.04"; empty: not known
    int count;
    struct device devices[MAX_DEVICES];
    bool peer[MAX_DEVICES][MAX_DEVICES];
    int visible_count;
    int visible[MAX_DEVICES]; // ordinal in this process -> index in devices
};

extern struct machine machine;
void machine_load(void);
struct device *device_at(CUdevice ordinal);        // NULL: no such ordinal in this process
void device_uuid(const struct device *, char out[48]); // GPU-… or MIG-…
int device_ordinal(int index);                     // -1: not visible in this process
bool peer_possible(int from_index, int to_index);  // the same device is its own peer
// The machine's answer to a call in a circumstance, "cuMemCreate/FABRIC".
CUresult answer(CUresult otherwise, const char *format, ...) __attribute__((format(printf, 2, 3)));

// --- call.c: entering and leaving a call --------------------------------------

enum need { NEED_NOTHING, NEED_INIT, NEED_CONTEXT };

struct fault;
struct call {
    const char *name;
    const struct fault *fault;
    bool locked;
};

CUresult call_enter(struct call *, const char *name, enum need);
void call_leave(struct call *);
void call_unlock(struct call *);
void call_relock(struct call *);

#define ENTER(name, need)                                         \
    struct call call __attribute__((cleanup(call_leave))) = {0}; \
    do {                                                          \
        CUresult entered_ = call_enter(&call, name, need);        \
        if (entered_ != CUDA_SUCCESS)                             \
            return entered_;                                      \
    } while (0)

extern pthread_mutex_t driver_mutex;
extern bool driver_initialised;
extern const char *last_call; // the newest call's name, for reports

// --- report.c: what the caller did wrong ---------------------------------------

// A rule of the API was broken and the driver answers with an error.
CUresult refuse(CUresult, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A rule was broken that a real driver might not notice.
void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_line(const char *class, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Lists what is still alive; to be called when the last context is released.
void report_leaks(void);

// --- faults.c ------------------------------------------------------------------

void faults_load(void);
const struct fault *fault_next(const char *call);   // counts the call
CUresult fault_before(const struct fault *);        // may not return
void fault_after(const struct fault *);             // corrupts the newest shared buffer
void fault_corrupt(const struct fault *, uint8_t *at, uint64_t bytes);
bool fault_is(const struct fault *, const char *action);
bool fault_is_sticky(const struct fault *);
CUresult result_by_name(const char *name, CUresult otherwise);

// --- state.c: what the processes of one machine know of each other -------------

void state_open(void);
void state_charge(int device_index, int64_t bytes);
uint64_t state_used(int device_index);              // of all live processes
void state_context(int device_index, bool held);
bool state_claim(int device_index, bool alone);      // notes a context; false: alone, and another live process holds one
void state_objects(int64_t change);
void state_import(uint64_t inode, bool mapped);     // this process maps memory that another one owns
pid_t state_importer(uint64_t inode);               // a live process that has it mapped, or 0

// --- object.c: handles with generations ----------------------------------------

enum object_kind { OBJECT_CONTEXT, OBJECT_STREAM, OBJECT_EVENT, OBJECT_MODULE, OBJECT_FUNCTION, OBJECT_PHYSICAL,
                   OBJECT_EXTERNAL, OBJECT_POOL, OBJECT_KINDS };

uint64_t object_add(enum object_kind, void *);
void *object_get(enum object_kind, uint64_t handle); // NULL: never one, or no longer
void object_remove(uint64_t handle);
void object_each(void (*)(enum object_kind, uint64_t handle, void *, void *arg), void *arg);
const char *object_kind_name(enum object_kind);

// --- context.c -------------------------------------------------------------------

struct stream;
struct context {
    uint64_t handle;
    struct device *device;
    int retained;
    CUresult sticky;
    uint32_t peers;         // device indices whose allocations this context may use
    struct stream *legacy;  // the default stream
};

struct context *context_current(void);              // NULL: none
struct context *context_of_device(int index);       // NULL: not retained
void context_poison(struct context *, CUresult);
bool context_any_poisoned(void);
bool context_may_use(const struct context *, int device_index); // same device or peer enabled

// --- memory.c, pool.c, key.c ---------------------------------------------------------

struct range;
struct backing;
void range_release(struct range *);                 // what cuMemFree does
void pools_release(struct context *);               // the default pool goes with its context
void pool_block_free(struct range *);

// 64 bytes that name memory of another process: its process id and descriptor.
// They work as long as that process keeps the memory and is visible in /proc.
struct key {
    char magic[4];
    uint32_t kind; // an enum range_kind, or KEY_FABRIC
    int32_t pid, fd;
    uint64_t dev, inode, offset, size, id;
    uint8_t reserved[8];
};
enum { KEY_FABRIC = 100 };

bool key_make(struct key *, uint32_t kind, struct backing *);
struct backing *key_open(const struct key *, uint32_t kind, CUresult *);

// --- backing.c: physical memory ----------------------------------------------------

// What a descriptor that the emulated driver hands out stands for. It is kept
// in the descriptor's status flags, see backing_export.
enum carrier { CARRIER_NONE, CARRIER_DMABUF, CARRIER_VMM, CARRIER_POOL, CARRIER_FOREIGN_DMABUF };

struct segment {
    int fd;
    uint64_t offset, size; // place in the backing
    uint64_t file_offset;  // of its first byte in fd
    dev_t dev;
    ino_t inode;
    bool exported;
};

// Physical memory: one memfd, or several after a dma-buf was made of a part.
struct backing {
    int references;
    int device; // index, or HOST
    uint64_t size;
    uint32_t handle_types;
    bool imported, exported, charged;
    int segments;
    struct segment *segment;
};

struct backing *backing_new(int device, uint64_t size, uint32_t handle_types, CUresult *);
struct backing *backing_open(int fd, enum carrier *, CUresult *); // a new descriptor of the memory behind fd
struct backing *backing_ref(struct backing *);
void backing_unref(struct backing *);
void *backing_map(struct backing *, uint64_t offset, uint64_t length, void *at, int protection);
int backing_export(struct backing *, uint64_t offset, uint64_t length, enum carrier, bool mappable);
CUresult backing_grow(struct backing *, uint64_t size);
struct segment *backing_segment(struct backing *, uint64_t offset);
bool backing_owns_descriptor(int fd);
extern struct backing *last_shared; // what the newest export or import concerned, for injected corruption

// --- range.c: the address space ------------------------------------------------------

enum range_kind { RANGE_DEVICE, RANGE_ASYNC, RANGE_POOL, RANGE_PINNED, RANGE_REGISTERED, RANGE_MANAGED, RANGE_VMM,
                  RANGE_IPC, RANGE_EXTERNAL, RANGE_POOL_IMPORT };

struct range {
    uint64_t base, size; // as the caller asked for
    uint64_t span;       // mapped bytes, whole pages
    enum range_kind kind;
    int device;          // where the memory is, or HOST
    struct backing *backing;
    uint64_t offset;     // in backing
    uint32_t readers, writers; // device indices with cuMemSetAccess (RANGE_VMM only)
    uint64_t owner;      // handle of what it came from: pool, external memory, physical memory
    uint64_t context;
    int opened;          // RANGE_IPC: times opened
    uint64_t inode;      // RANGE_IPC, RANGE_POOL_IMPORT: the exporter's memory
    struct pool *pool;   // RANGE_POOL, RANGE_POOL_IMPORT
    bool freeing;        // cuMemFreeAsync was called
    bool rdma;           // RANGE_VMM: gpuDirectRDMACapable
    uint32_t handle_types;
    uint64_t id;
};

struct range *range_add(enum range_kind, uint64_t base, uint64_t size, uint64_t span);
struct range *range_find(uint64_t address); // that contains address
struct range *range_at(uint64_t base);      // that begins there
void range_remove(struct range *);
void range_unmap(struct range *);           // removes it, unmaps it and drops its backing
bool range_was_freed(uint64_t base);
void range_each(void (*)(struct range *, void *arg), void *arg);
const char *range_kind_name(enum range_kind);
const char *range_circumstance(const struct range *); // the allocator's name in a machine's answers
// Whether a context's device (NULL: the CPU in a copy) may use [address, +length).
bool range_usable(const struct context *, uint64_t address, uint64_t length, bool write, char *why, size_t why_size);
int range_protection(const struct range *);
// A new range of memory with its own backing.
CUresult range_allocate(enum range_kind, int device, uint64_t size, struct range **);
uint64_t page_round(uint64_t);
uint64_t page_size(void);
extern const int protection_full;

// --- vmm.c -----------------------------------------------------------------------------

struct physical { // a CUmemGenericAllocationHandle
    struct backing *backing;
    struct CUmemAllocationProp properties;
    int handles;
};

void reservation_each(void (*)(uint64_t base, uint64_t size));

// --- stream.c ----------------------------------------------------------------------------

struct operation;
struct operation {
    void (*run)(struct operation *);
    struct operation *next;
    struct stream *stream;
    struct context *context;
    struct stream *wait_for;     // finished up to wait_ticket before this one starts
    uint64_t wait_ticket;
    struct stream *barrier[64];  // the same for the default stream
    uint64_t barrier_ticket[64];
    int barriers;
    union {
        struct { uint64_t to, from, bytes; } copy;
        struct { uint64_t to, count; uint32_t value; int width; } set;
        struct { const struct kernel *kernel; const struct fault *fault; uint64_t argument[8]; } launch;
        struct { struct event *event; uint64_t generation; } record;
        struct { uint64_t base; } release;
    };
};

struct stream *stream_resolve(uint64_t handle, CUresult *); // 0, 1, 2: the default stream
struct operation *operation_new(void (*run)(struct operation *));
void stream_enqueue(struct stream *, struct operation *);
void stream_wait(struct call *, struct stream *);           // releases the mutex while it waits
void context_wait(struct call *, struct context *);
bool context_busy(struct context *);
bool stream_done(struct stream *, uint64_t ticket);
struct stream *stream_new(struct context *, unsigned flags);
void stream_delete(struct call *, struct stream *);
uint64_t now_ns(void);

// --- kernels.c -------------------------------------------------------------------------------

struct kernel {
    const char *name;
    int parameters;
    uint8_t size[8];
    unsigned max_threads;
    uint64_t (*bytes)(const uint64_t *argument); // of the buffer that is argument 0
    // Returns false with a reason if the kernel would touch what it may not.
    bool (*run)(struct context *, const uint64_t *argument, char *why, size_t why_size);
};

const struct kernel *kernel_by_name(const char *name);
void operation_launch(struct operation *);
uint64_t pattern_word(uint64_t seed, uint64_t i);
void pattern_stale(uint8_t *at, uint64_t bytes); // what the fill before the last one wrote

#endif
