// What sharing.c, export.c and peer.c have in common: the clock, timed driver
// calls, the socket that carries a handle, the set-up of a process, the gate, and
// sizes on the command line.
#ifndef BARE_H
#define BARE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline int64_t now(void) // nanoseconds
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// A span is one timed call. Its name is a string literal, which processes that
// were forked from one another can exchange as a pointer.
struct span {
    int phase;
    const char *call;
    int64_t ns;
};

enum { MAX_SPANS = 16 };

// A tape holds what one process timed in one cycle.
struct tape {
    int n;
    struct span spans[MAX_SPANS];
    int64_t sent, received; // stamps of the handle's message
};

extern struct tape *tape; // where this process records; set before each cycle

void record(int phase, const char *call, int64_t ns);
void check(CUresult result, const char *call, const char *file, int line);

// TIMED records a driver call under a phase, CHECKED only makes it. Both end the
// process when the driver refuses.
#define TIMED(phase, function, ...)                          \
    do {                                                     \
        int64_t start_ = now();                              \
        CUresult result_ = function(__VA_ARGS__);            \
        int64_t end_ = now();                                \
        check(result_, #function, __FILE__, __LINE__);       \
        record(phase, #function, end_ - start_);             \
    } while (0)
#define CHECKED(function, ...) check(function(__VA_ARGS__), #function, __FILE__, __LINE__)

void fail(const char *what); // prints what and errno, and ends the process

// --- processes and messages --------------------------------------------------

struct message {
    size_t size;
    unsigned char key[64]; // of paths whose handle is bytes
};

void send_handle(int socket, const struct message *m, int fd); // fd -1: none
int receive_handle(int socket, struct message *m, int polling); // returns the descriptor or -1
void send_word(int socket);
void receive_word(int socket); // ends the process when the other end is gone

void die_with_parent(void);
void pin_to(int cpu); // -1: leave it
void *shared_memory(size_t bytes);

// --- CUDA ------------------------------------------------------------------

extern CUdevice device;
extern CUstream stream;

void open_device(void); // the primary context of device 0, and a stream
void close_device(void);
CUmemAllocationProp vmm_properties(void);
CUmemAccessDesc vmm_access(void);
size_t vmm_round(size_t size); // up to the granularity

// Work on a buffer that is not timed, each of it finished on return. With the
// tool's own kernels, once they are loaded; otherwise memset and copies.
void load_kernels(const char *ptx);
void fill(CUdeviceptr p, size_t size, uint64_t seed);
void touch(CUdeviceptr p, size_t size);
void verify(CUdeviceptr p, size_t size, uint64_t seed, CUdeviceptr local); // ends the process on a mismatch

// The gate needs load_kernels: what is queued behind it begins when it is opened.
// It gives up after 2 seconds, which ends the process.
void close_gate(CUstream s); // of the context in which the kernels were loaded
void open_gate(CUstream s);  // and waits for the stream

// --- the command line and statistics ------------------------------------------------------------

// Reads "2MiB,64M,1GiB" or bytes and returns how many, at most most; ends the
// process when it is something else.
int parse_sizes(char *list, size_t *sizes, int most);

// Sorts v and prints ",n,median,p5,p95" and the end of the line. Quantiles
// between two samples are interpolated.
void print_statistics(double *v, int n);

void why_export(const size_t *sizes, int sizes_n, int cycles);

#endif
