// The experiment behind a question: why does cuMemExportToShareableHandle cost
// many times more for a fresh allocation in a program of two processes than in
// one? It varies, one by one, what differs between the two programs:
//
//   other_process  none      no second process
//                  process   one that has not initialised CUDA
//                  context   one with a context on the same GPU that does nothing
//                  importer  one that imports, maps and releases each allocation
//   state          unmapped  exported straight after cuMemCreate
//                  mapped    with an address and access
//                  filled    and written by the GPU
//   pause_us       0 or 1000 slept between what precedes and the first export
//   call           each driver call of the producer; an allocation is exported
//                  twice: first/… and second/…
//
// The other calls are listed because time may move from one to another: what an
// export has to wait for in one state may have been waited for in cuMemSetAccess
// in the next.
#define _GNU_SOURCE
#include "bare.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum other { NONE, PROCESS, CONTEXT, IMPORTER, OTHERS };
enum state { UNMAPPED, MAPPED, FILLED, STATES };
enum step { BEFORE, FIRST, SECOND, AFTER }; // the phases on the tape

static const char *const other_names[OTHERS] = {"none", "process", "context", "importer"};
static const char *const state_names[STATES] = {"unmapped", "mapped", "filled"};
static const int pauses[] = {0, 1000}; // microseconds

static CUdeviceptr map(enum step step, CUmemGenericAllocationHandle handle, size_t size)
{
    CUmemAccessDesc access = vmm_access();
    CUdeviceptr p;
    TIMED(step, cuMemAddressReserve, &p, size, 0, 0, 0);
    TIMED(step, cuMemMap, p, size, 0, handle, 0);
    TIMED(step, cuMemSetAccess, p, size, &access, 1);
    return p;
}

static void unmap(enum step step, CUdeviceptr p, size_t size)
{
    TIMED(step, cuMemUnmap, p, size);
    TIMED(step, cuMemAddressFree, p, size);
}

// cycle_once exports one fresh allocation twice.
static void cycle_once(enum state state, int pause_us, size_t size, int importer)
{
    CUmemAllocationProp properties = vmm_properties();
    CUmemGenericAllocationHandle handle;
    TIMED(BEFORE, cuMemCreate, &handle, size, &properties, 0);
    CUdeviceptr p = 0;
    if (state != UNMAPPED)
        p = map(BEFORE, handle, size);
    if (state == FILLED)
        fill(p, size, 0x5a);
    if (pause_us > 0)
        usleep(pause_us);
    int first, second;
    TIMED(FIRST, cuMemExportToShareableHandle, &first, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    TIMED(SECOND, cuMemExportToShareableHandle, &second, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (importer >= 0) {
        struct message m = {.size = size};
        send_handle(importer, &m, first);
        receive_word(importer);
    }
    close(first);
    close(second);
    if (state != UNMAPPED)
        unmap(AFTER, p, size);
    TIMED(AFTER, cuMemRelease, handle);
}

// be_other is the life of the second process: until its parent closes the socket.
static void be_other(enum other other, int socket)
{
    struct tape unused;
    tape = &unused;
    die_with_parent();
    setenv("GPUSHARE_ROLE", "consumer", 1);
    if (other != PROCESS)
        open_device();
    send_word(socket);
    for (;;) {
        char more;
        if (recv(socket, &more, 1, MSG_PEEK) != 1)
            break;
        struct message m;
        int fd = receive_handle(socket, &m, false);
        CUmemGenericAllocationHandle handle;
        CHECKED(cuMemImportFromShareableHandle, &handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        close(fd);
        unused.n = 0;
        CUdeviceptr p = map(BEFORE, handle, m.size);
        unmap(AFTER, p, m.size);
        CHECKED(cuMemRelease, handle);
        send_word(socket);
    }
    if (other != PROCESS)
        close_device();
    _exit(0);
}

static void report(enum other other, enum state state, int pause_us, size_t size, const struct tape *tapes, int cycles)
{
    double *values = malloc(cycles * sizeof *values);
    if (values == NULL)
        fail("memory for the statistics");
    for (int i = 0; i < tapes[0].n; i++) {
        const struct span *s = &tapes[0].spans[i];
        for (int k = 0; k < cycles; k++)
            values[k] = (double)tapes[k].spans[i].ns;
        const char *which = s->phase == FIRST ? "first/" : s->phase == SECOND ? "second/" : "";
        printf("%zu,%s,%s,%d,%s%s", size, other_names[other], state_names[state], pause_us, which, s->call);
        print_statistics(values, cycles);
    }
    fflush(stdout);
    free(values);
}

// be_producer measures every state, pause and size beside one kind of second process.
static void be_producer(enum other other, const size_t *sizes, int sizes_n, int cycles)
{
    int sockets[2] = {-1, -1};
    pid_t second = -1;
    die_with_parent();
    setenv("GPUSHARE_ROLE", "producer", 1);
    if (other != NONE) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
            fail("socketpair");
        if ((second = fork()) < 0)
            fail("fork");
        if (second == 0) {
            close(sockets[0]);
            be_other(other, sockets[1]);
        }
        close(sockets[1]);
        receive_word(sockets[0]);
    }
    open_device();
    struct tape *tapes = calloc(cycles, sizeof *tapes), warm = {0};
    if (tapes == NULL)
        fail("memory for the samples");
    for (int i = 0; i < sizes_n; i++) {
        for (enum state state = UNMAPPED; state < STATES; state++) {
            for (size_t k = 0; k < sizeof pauses / sizeof pauses[0]; k++) {
                for (int n = -1; n < cycles; n++) { // the first does not count
                    tape = n < 0 ? &warm : &tapes[n];
                    tape->n = 0;
                    cycle_once(state, pauses[k], vmm_round(sizes[i]), other == IMPORTER ? sockets[0] : -1);
                }
                report(other, state, pauses[k], sizes[i], tapes, cycles);
            }
        }
    }
    free(tapes);
    close_device();
    if (second > 0) {
        close(sockets[0]);
        waitpid(second, NULL, 0);
    }
    _exit(0);
}

void why_export(const size_t *sizes, int sizes_n, int cycles)
{
    printf("size_bytes,other_process,state,pause_us,call,n,median_ns,p5_ns,p95_ns\n");
    bool ok = true;
    for (enum other other = NONE; other < OTHERS; other++) {
        fflush(stdout);
        pid_t child = fork(); // so that this process never initialises CUDA
        int status;
        if (child < 0)
            fail("fork");
        if (child == 0)
            be_producer(other, sizes, sizes_n, cycles);
        ok = waitpid(child, &status, 0) == child && status == 0 && ok;
    }
    exit(ok ? 0 : 1);
}
