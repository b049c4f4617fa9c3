// What sharing GPU memory between two processes costs in bare C: the driver
// calls that gpushare-bench makes, in its order, with nothing around them. It is
// the yardstick for the tool: what both measure should agree.
//
//   sharing [-n CYCLES] [-s SIZE,…] [-p PATH,…] [-r RECEIVER,…] [-c CPU,CPU] [-k PTX]
//   sharing --why-export [-n CYCLES] [-s SIZE,…]      the experiment of export.c
//
// Standard output is CSV, one row for each path, allocator, receiver, size and
// metric. Metrics have the tool's names: a phase, or phase/call where a phase has
// several calls; nanoseconds. The first cycle of each case is not in the figures.
// A path that the driver refuses is told on standard error; the others go on, and
// the status is 1.
//
// Two processes, producer and consumer, are forked for each path and allocator
// before either calls cuInit. A cycle:
//
//   producer                              consumer
//   allocate, fill, prepare   →           ready, wait (polling or blocked)
//   export, send              →           import, map, touch, verify, write
//   close, verify, release    ←           unmap, done
//
// Filling, touching and verifying are not timed. With -k they are the tool's own
// kernels (kernels/ptx/kernels.ptx), so that the processes wait for each other as
// long as the tool's do: a processor that has slept longer makes the next calls
// slower. Without it they are memset and copies.
#define _GNU_SOURCE
#include "bare.h"

#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum phase { ALLOCATE, EXPORT, TRANSFER, IMPORT, MAP, UNMAP, RELEASE, PHASES };

static const char *const phase_names[PHASES] = {"allocate", "export", "transfer", "import", "map", "unmap", "release"};

// --- the producer's memory -----------------------------------------------------

struct buffer {
    CUdeviceptr ptr;
    size_t size;
    CUmemGenericAllocationHandle handle;
    CUmemoryPool pool;
};

// map_vmm gives an allocation an address; PHASES as the phase means untimed.
static CUdeviceptr map_vmm(enum phase phase, CUmemGenericAllocationHandle handle, size_t size)
{
    CUmemAccessDesc access = vmm_access();
    CUdeviceptr p;
    if (phase == PHASES) {
        CHECKED(cuMemAddressReserve, &p, size, 0, 0, 0);
        CHECKED(cuMemMap, p, size, 0, handle, 0);
        CHECKED(cuMemSetAccess, p, size, &access, 1);
        return p;
    }
    TIMED(phase, cuMemAddressReserve, &p, size, 0, 0, 0);
    TIMED(phase, cuMemMap, p, size, 0, handle, 0);
    TIMED(phase, cuMemSetAccess, p, size, &access, 1);
    return p;
}

static void create_vmm(struct buffer *b)
{
    b->size = vmm_round(b->size);
    CUmemAllocationProp properties = vmm_properties();
    TIMED(ALLOCATE, cuMemCreate, &b->handle, b->size, &properties, 0);
}

static void allocate_vmm(struct buffer *b)
{
    create_vmm(b);
    b->ptr = map_vmm(ALLOCATE, b->handle, b->size);
}

static void release_vmm(struct buffer *b)
{
    TIMED(RELEASE, cuMemUnmap, b->ptr, b->size);
    TIMED(RELEASE, cuMemAddressFree, b->ptr, b->size);
    TIMED(RELEASE, cuMemRelease, b->handle);
}

static void release_vmm_unmapped(struct buffer *b)
{
    TIMED(RELEASE, cuMemRelease, b->handle);
}

static void allocate_device(struct buffer *b)
{
    TIMED(ALLOCATE, cuMemAlloc, &b->ptr, b->size);
}

static void release_device(struct buffer *b)
{
    TIMED(RELEASE, cuMemFree, b->ptr);
}

static void allocate_pool(struct buffer *b)
{
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    TIMED(ALLOCATE, cuMemPoolCreate, &b->pool, &properties);
    TIMED(ALLOCATE, cuMemAllocFromPoolAsync, &b->ptr, b->size, b->pool, stream);
    TIMED(ALLOCATE, cuStreamSynchronize, stream);
}

static void release_pool(struct buffer *b)
{
    TIMED(RELEASE, cuMemFreeAsync, b->ptr, stream);
    TIMED(RELEASE, cuStreamSynchronize, stream);
    TIMED(RELEASE, cuMemPoolDestroy, b->pool);
}

// --- the paths -------------------------------------------------------------------

struct mapping {
    CUdeviceptr ptr;
    size_t size;
    CUmemGenericAllocationHandle handle;
    CUexternalMemory external;
    CUmemoryPool pool;
};

static int export_vmm(struct buffer *b, struct message *m)
{
    (void)m;
    int fd;
    TIMED(EXPORT, cuMemExportToShareableHandle, &fd, b->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    return fd;
}

static void import_vmm(struct mapping *v, const struct message *m, int fd)
{
    (void)m;
    TIMED(IMPORT, cuMemImportFromShareableHandle, &v->handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(fd);
    v->ptr = map_vmm(MAP, v->handle, v->size);
}

static void unmap_vmm(struct mapping *v)
{
    TIMED(UNMAP, cuMemUnmap, v->ptr, v->size);
    TIMED(UNMAP, cuMemAddressFree, v->ptr, v->size);
    TIMED(UNMAP, cuMemRelease, v->handle);
}

static void import_external(struct mapping *v, const struct message *m, int fd)
{
    (void)m;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle;
    memset(&handle, 0, sizeof handle);
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    handle.handle.fd = fd; // the driver's own from now on
    handle.size = v->size;
    TIMED(IMPORT, cuImportExternalMemory, &v->external, &handle);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC range;
    memset(&range, 0, sizeof range);
    range.size = v->size;
    TIMED(MAP, cuExternalMemoryGetMappedBuffer, &v->ptr, v->external, &range);
}

static void unmap_external(struct mapping *v)
{
    TIMED(UNMAP, cuMemFree, v->ptr);
    TIMED(UNMAP, cuDestroyExternalMemory, v->external);
}

static int export_ipc(struct buffer *b, struct message *m)
{
    CUipcMemHandle handle;
    TIMED(EXPORT, cuIpcGetMemHandle, &handle, b->ptr);
    memcpy(m->key, &handle, sizeof handle);
    return -1;
}

static void import_ipc(struct mapping *v, const struct message *m, int fd)
{
    (void)fd;
    CUipcMemHandle handle;
    memcpy(&handle, m->key, sizeof handle);
    TIMED(MAP, cuIpcOpenMemHandle, &v->ptr, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static void unmap_ipc(struct mapping *v)
{
    TIMED(UNMAP, cuIpcCloseMemHandle, v->ptr);
}

static int export_dma_buf(struct buffer *b, struct message *m)
{
    (void)m;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd;
    TIMED(EXPORT, cuMemGetHandleForAddressRange, &fd, b->ptr, (b->size + page - 1) / page * page, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    return fd;
}

static int export_pool(struct buffer *b, struct message *m)
{
    int fd;
    TIMED(EXPORT, cuMemPoolExportToShareableHandle, &fd, b->pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    CUmemPoolPtrExportData pointer;
    TIMED(EXPORT, cuMemPoolExportPointer, &pointer, b->ptr);
    memcpy(m->key, &pointer, sizeof pointer);
    return fd;
}

static void import_pool(struct mapping *v, const struct message *m, int fd)
{
    TIMED(IMPORT, cuMemPoolImportFromShareableHandle, &v->pool, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    close(fd);
    CUmemAccessDesc access = vmm_access();
    TIMED(MAP, cuMemPoolSetAccess, v->pool, &access, 1);
    CUmemPoolPtrExportData pointer;
    memcpy(&pointer, m->key, sizeof pointer);
    TIMED(MAP, cuMemPoolImportPointer, &v->ptr, v->pool, &pointer);
}

static void unmap_pool(struct mapping *v)
{
    TIMED(UNMAP, cuMemFreeAsync, v->ptr, stream);
    TIMED(UNMAP, cuStreamSynchronize, stream);
    TIMED(UNMAP, cuMemPoolDestroy, v->pool);
}

// A path with one allocator. Without import the consumer only closes what it got.
struct path {
    const char *name, *allocator;
    bool unmapped; // the buffer has an address only while its bytes are written or read
    void (*allocate)(struct buffer *);
    int (*export)(struct buffer *, struct message *);
    void (*import)(struct mapping *, const struct message *, int fd);
    void (*unmap)(struct mapping *);
    void (*release)(struct buffer *);
};

static const struct path paths[] = {
    {"cumemmap", "vmm", false, allocate_vmm, export_vmm, import_vmm, unmap_vmm, release_vmm},
    {"cumemmap", "vmm-unmapped", true, create_vmm, export_vmm, import_vmm, unmap_vmm, release_vmm_unmapped},
    {"opaque-fd", "vmm", false, allocate_vmm, export_vmm, import_external, unmap_external, release_vmm},
    {"cuda-ipc", "device", false, allocate_device, export_ipc, import_ipc, unmap_ipc, release_device},
    {"dma-buf", "device", false, allocate_device, export_dma_buf, NULL, NULL, release_device},
    {"mempool", "pool", false, allocate_pool, export_pool, import_pool, unmap_pool, release_pool},
};
enum { PATHS = sizeof paths / sizeof paths[0] };

// --- the cycle ---------------------------------------------------------------------

static CUdeviceptr local; // memory of this process, of the largest size: where reading copies to

// What the producer writes and what the consumer writes over it.
enum { FORTH = 1, BACK = 2 };

static void fill_forth(CUdeviceptr p, size_t size) { fill(p, size, FORTH); }

static void verify_back(CUdeviceptr p, size_t size) { verify(p, size, BACK, local); }

// with_address does work on a buffer, which gets an address for it if it has none.
static void with_address(const struct path *path, struct buffer *b, void (*work)(CUdeviceptr, size_t))
{
    if (!path->unmapped) {
        work(b->ptr, b->size);
        return;
    }
    CUdeviceptr p = map_vmm(PHASES, b->handle, b->size);
    work(p, b->size);
    CHECKED(cuMemUnmap, p, b->size);
    CHECKED(cuMemAddressFree, p, b->size);
}

static void produce(const struct path *path, size_t size, int socket)
{
    struct buffer b = {.size = size};
    path->allocate(&b);
    with_address(path, &b, fill_forth);
    send_word(socket); // prepare
    struct message m = {0};
    int fd = path->export(&b, &m);
    m.size = b.size;
    receive_word(socket); // ready
    send_handle(socket, &m, fd);
    receive_word(socket); // done
    if (fd >= 0) {
        int64_t start = now();
        close(fd);
        int64_t end = now();
        record(RELEASE, "close", end - start);
    }
    if (path->import != NULL)
        with_address(path, &b, verify_back);
    path->release(&b);
}

static void consume(const struct path *path, bool polling, int socket)
{
    receive_word(socket); // prepare
    send_word(socket);    // ready
    struct message m;
    int fd = receive_handle(socket, &m, polling);
    if (path->import != NULL) {
        struct mapping v = {.size = m.size};
        path->import(&v, &m, fd);
        touch(v.ptr, v.size);
        verify(v.ptr, v.size, FORTH, local);
        fill(v.ptr, v.size, BACK);
        path->unmap(&v);
    } else if (fd >= 0) {
        close(fd);
    }
    send_word(socket); // done
}

// --- results -------------------------------------------------------------------------

// sum_of adds up a phase's calls of one cycle, or only those with a name.
static double sum_of(const struct tape *t, int phase, const char *call)
{
    int64_t ns = 0;
    for (int i = 0; i < t->n; i++)
        if (t->spans[i].phase == phase && (call == NULL || strcmp(t->spans[i].call, call) == 0))
            ns += t->spans[i].ns;
    return (double)ns;
}

// calls_of lists the distinct calls of a phase, in their order.
static int calls_of(const struct tape *t, int phase, const char *calls[MAX_SPANS])
{
    int n = 0;
    for (int i = 0; i < t->n; i++) {
        bool known = t->spans[i].phase != phase;
        for (int k = 0; k < n; k++)
            known = known || strcmp(calls[k], t->spans[i].call) == 0;
        if (!known)
            calls[n++] = t->spans[i].call;
    }
    return n;
}

struct setting {
    const struct path *path;
    bool polling;
    size_t size;
};

static void row(const struct setting *s, const char *phase, const char *call, double *values, int n)
{
    printf("%s,%s,%s,%zu,%s%s%s", s->path->name, s->path->allocator, s->polling ? "polling" : "blocked", s->size,
           phase, call == NULL ? "" : "/", call == NULL ? "" : call);
    print_statistics(values, n);
}

// report prints the rows of a case. Cycle 0 is left out.
static void report(const struct setting *s, const struct tape *producer, const struct tape *consumer, int cycles)
{
    double *values = malloc(cycles * sizeof *values), *setup = calloc(cycles, sizeof *setup);
    if (values == NULL || setup == NULL)
        fail("memory for the statistics");
    for (int phase = 0; phase < PHASES; phase++) {
        const struct tape *side = phase == IMPORT || phase == MAP || phase == UNMAP ? consumer : producer;
        const char *calls[MAX_SPANS];
        int calls_n = calls_of(&side[1], phase, calls);
        if (calls_n == 0 && phase != TRANSFER)
            continue;
        for (int i = 0; i < cycles; i++) {
            values[i] = phase == TRANSFER ? (double)(consumer[i + 1].received - producer[i + 1].sent) : sum_of(&side[i + 1], phase, NULL);
            if (phase >= EXPORT && phase <= MAP)
                setup[i] += values[i];
        }
        row(s, phase_names[phase], NULL, values, cycles);
        for (int k = 0; k < calls_n && calls_n > 1; k++) {
            for (int i = 0; i < cycles; i++)
                values[i] = sum_of(&side[i + 1], phase, calls[k]);
            row(s, phase_names[phase], calls[k], values, cycles);
        }
    }
    if (s->path->import != NULL)
        row(s, "setup", NULL, setup, cycles);
    fflush(stdout);
    free(values);
    free(setup);
}

// --- the program -------------------------------------------------------------------

enum { MAX_SIZES = 32 };

static struct {
    size_t sizes[MAX_SIZES];
    int sizes_n, cycles;
    bool polling, blocked;
    int cpus[2];
    const char *kernels; // file of the tool's kernels; NULL: none
} options = {.sizes = {2 << 20, 64 << 20, 1 << 30}, .sizes_n = 3, .cycles = 201, .polling = true, .blocked = true, .cpus = {-1, -1}};

// run_cases is the life of one of the two processes: both go through the same
// cases in the same order, and the producer prints when the consumer has finished.
static void run_cases(const struct path *path, bool producer, int socket, struct tape *tapes)
{
    pin_to(options.cpus[producer ? 0 : 1]);
    open_device();
    size_t largest = 0;
    for (int i = 0; i < options.sizes_n; i++)
        largest = options.sizes[i] > largest ? options.sizes[i] : largest;
    CHECKED(cuMemAlloc, &local, vmm_round(largest));
    if (options.kernels != NULL)
        load_kernels(options.kernels);
    int cycles = 1 + options.cycles;
    struct tape *produced = tapes, *consumed = tapes + cycles;
    for (int i = 0; i < options.sizes_n; i++) {
        for (int polling = 0; polling < 2; polling++) {
            if (!(polling ? options.polling : options.blocked))
                continue;
            for (int k = 0; k < cycles; k++) {
                tape = producer ? &produced[k] : &consumed[k];
                tape->n = 0;
                if (producer)
                    produce(path, options.sizes[i], socket);
                else
                    consume(path, polling, socket);
            }
            if (producer) {
                report(&(struct setting){path, polling, options.sizes[i]}, produced, consumed, options.cycles);
                send_word(socket); // the tapes may be overwritten
            } else {
                receive_word(socket);
            }
        }
    }
    CHECKED(cuMemFree, local);
    close_device();
}

// measure runs a path in two fresh processes and returns whether both ended well.
static bool measure(const struct path *path)
{
    int sockets[2], status;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        fail("socketpair");
    struct tape *tapes = shared_memory(2 * (size_t)(1 + options.cycles) * sizeof *tapes);
    fflush(stdout);
    pid_t processes[2];
    for (int i = 0; i < 2; i++) {
        processes[i] = fork();
        if (processes[i] < 0)
            fail("fork");
        if (processes[i] == 0) {
            die_with_parent();
            setenv("GPUSHARE_ROLE", i == 0 ? "producer" : "consumer", 1);
            close(sockets[1 - i]);
            run_cases(path, i == 0, sockets[i], tapes);
            fflush(stdout);
            _exit(0);
        }
    }
    close(sockets[0]);
    close(sockets[1]);
    bool ok = true;
    for (int i = 0; i < 2; i++)
        ok = waitpid(processes[i], &status, 0) == processes[i] && status == 0 && ok;
    if (!ok)
        fprintf(stderr, "path %s, allocator %s: not measured to the end\n", path->name, path->allocator);
    return ok;
}

// listed reports whether a comma-separated list has a word.
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = list; s != NULL; s = strchr(s, ',')) {
        s += *s == ',';
        if (strncmp(s, word, n) == 0 && (s[n] == '\0' || s[n] == ','))
            return true;
    }
    return false;
}

// choose_cpus takes the first two cores that this process may use, if there are two.
static void choose_cpus(void)
{
    cpu_set_t set;
    int found[2], n = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &set))
            found[n++] = i;
    if (n == 2)
        memcpy(options.cpus, found, sizeof found);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"why-export", no_argument, NULL, 'w'}, {0}};
    const char *wanted = NULL;
    bool why = false;
    choose_cpus();
    for (int c; (c = getopt_long(argc, argv, "n:s:p:r:c:k:", names, NULL)) != -1;) {
        switch (c) {
        case 'n': options.cycles = atoi(optarg); break;
        case 's': options.sizes_n = parse_sizes(optarg, options.sizes, MAX_SIZES); break;
        case 'p': wanted = optarg; break;
        case 'r':
            options.polling = listed(optarg, "polling");
            options.blocked = listed(optarg, "blocked");
            break;
        case 'k':
            options.kernels = optarg;
            break;
        case 'c':
            if (sscanf(optarg, "%d,%d", &options.cpus[0], &options.cpus[1]) == 2)
                break;
            fprintf(stderr, "-c %s: want two cores, such as 0,1\n", optarg);
            return 2;
        case 'w': why = true; break;
        default: return 2;
        }
    }
    if (options.cycles < 1 || options.cycles > 1000000 || optind != argc) {
        fprintf(stderr, "usage: sharing [-n CYCLES] [-s SIZE,...] [-p PATH,...] [-r polling,blocked] [-c CPU,CPU] [--why-export]\n");
        return 2;
    }
    if (why) {
        why_export(options.sizes, options.sizes_n, options.cycles);
        return 0;
    }
    bool ok = true, any = false;
    printf("path,allocator,receiver,size_bytes,metric,n,median_ns,p5_ns,p95_ns\n");
    for (int i = 0; i < PATHS; i++) {
        if (wanted == NULL || listed(wanted, paths[i].name)) {
            any = true;
            ok = measure(&paths[i]) && ok;
        }
    }
    if (!any)
        fprintf(stderr, "no path of %s\n", wanted);
    return ok && any ? 0 : 1;
}
