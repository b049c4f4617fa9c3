// What moving memory between two GPUs takes in bare C: copies by the copy engines
// in one process that has a context on each, to hold gpushare-bench's kernels of
// the same names against.
//
//   peer [-g PRODUCER,CONSUMER] [-n SAMPLES] [-s SIZE,…] [-k PTX]
//
// -g gives the numbers of the two GPUs, in the driver's order; without it they are
// 0 and 1, or 0 twice where there is no other. -k is the file with the tool's
// kernels (kernels/ptx/kernels.ptx), of which the gate is used.
//
// Standard output is CSV, one row for each size and metric. Copies are queued in
// the consumer's context, as the tool's are:
//
//   memcpy        from the producer's buffer to the consumer's
//   memcpy-to     from the consumer's buffer to the producer's
//   memcpy-both   both at once, on two streams, one half of the buffer each way
//
// The time is that of one pass, size_bytes in all, whatever the metric: size_bytes
// divided by nanoseconds is GB/s. A sample is up to 16 passes between two events,
// all queued before a gate is opened. The first sample is left out.
//
// path says how the copies go: "peer" (cuMemcpyPeerAsync with peer access),
// "peer-host" (cuMemcpyPeerAsync where there is none, which goes through the host)
// or "same" (both buffers on one GPU, cuMemcpyDtoDAsync: no link is measured).
#include "bare.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum end { PRODUCER, CONSUMER };
enum metric { MEMCPY, MEMCPY_TO, MEMCPY_BOTH, METRICS };
enum { MAX_SIZES = 32, MAX_PASSES = 16, SAMPLE_BYTES = 256 << 20 };

static const char *const metric_names[METRICS] = {"memcpy", "memcpy-to", "memcpy-both"};

static CUcontext contexts[2]; // by end; the same where both are one GPU
static CUdeviceptr buffers[2];
static CUstream there, back; // both of the consumer
static CUevent start, end, meet;

// copy queues a copy of a part of the buffers to one of the ends.
static void copy(enum end to, size_t offset, size_t bytes, CUstream s)
{
    enum end from = to == PRODUCER ? CONSUMER : PRODUCER;
    if (contexts[PRODUCER] == contexts[CONSUMER])
        CHECKED(cuMemcpyDtoDAsync, buffers[to] + offset, buffers[from] + offset, bytes, s);
    else
        CHECKED(cuMemcpyPeerAsync, buffers[to] + offset, contexts[to], buffers[from] + offset, contexts[from], bytes, s);
}

static void pass(enum metric m, size_t size)
{
    size_t half = size / 2;
    switch (m) {
    case MEMCPY_BOTH:
        copy(CONSUMER, 0, half, there);
        copy(PRODUCER, half, size - half, back);
        break;
    case MEMCPY_TO: copy(PRODUCER, 0, size, there); break;
    default: copy(CONSUMER, 0, size, there);
    }
}

// follow makes a stream wait for what the other has got so far.
static void follow(CUstream s, CUstream other)
{
    CHECKED(cuEventRecord, meet, other);
    CHECKED(cuStreamWaitEvent, s, meet, 0);
}

// sample returns the nanoseconds of one pass.
static double sample(enum metric m, size_t size)
{
    size_t passes = SAMPLE_BYTES / size;
    passes = passes < 1 ? 1 : passes > MAX_PASSES ? MAX_PASSES : passes;
    close_gate(there);
    CHECKED(cuEventRecord, start, there);
    follow(back, there);
    for (size_t i = 0; i < passes; i++)
        pass(m, size);
    if (m == MEMCPY_BOTH)
        follow(there, back);
    CHECKED(cuEventRecord, end, there);
    open_gate(there);
    float ms;
    CHECKED(cuEventElapsedTime, &ms, start, end);
    return (double)ms * 1e6 / (double)passes;
}

// set fills an end's buffer with a byte.
static void set(enum end e, unsigned char value, size_t size)
{
    CHECKED(cuCtxSetCurrent, contexts[e]);
    CHECKED(cuMemsetD8, buffers[e], value, size);
    CHECKED(cuCtxSynchronize);
    CHECKED(cuCtxSetCurrent, contexts[CONSUMER]);
}

// expect ends the process unless a byte of an end's buffer is as it should be.
static void expect(enum end e, size_t offset, unsigned char want, enum metric m)
{
    unsigned char got;
    CHECKED(cuCtxSetCurrent, contexts[e]);
    CHECKED(cuMemcpyDtoH, &got, buffers[e] + offset, 1);
    CHECKED(cuCtxSetCurrent, contexts[CONSUMER]);
    if (got != want) {
        fprintf(stderr, "%s: byte %zu of the %s's buffer is %d, not %d\n", metric_names[m], offset, e == PRODUCER ? "producer" : "consumer", got, want);
        exit(1);
    }
}

static void measure(const char *path, const int gpus[2], enum metric m, size_t size, int samples)
{
    enum { THEIRS = 1, MINE = 2 };
    double *values = malloc((size_t)samples * sizeof *values);
    if (values == NULL)
        fail("memory for the samples");
    set(PRODUCER, THEIRS, size);
    set(CONSUMER, MINE, size);
    // Without a gate: what the driver sets up for the first copy may wait for all that is queued.
    pass(m, size);
    follow(there, back);
    CHECKED(cuStreamSynchronize, there);
    sample(m, size);
    for (int i = 0; i < samples; i++)
        values[i] = sample(m, size);
    int low = m == MEMCPY_TO ? MINE : THEIRS, high = m == MEMCPY ? THEIRS : MINE;
    for (int e = PRODUCER; e <= CONSUMER; e++) {
        expect(e, 0, low, m);
        expect(e, size - 1, high, m);
    }
    printf("%s,device,%d,%d,%zu,%s", path, gpus[PRODUCER], gpus[CONSUMER], size, metric_names[m]);
    print_statistics(values, samples);
    fflush(stdout);
    free(values);
}

// open_pair makes a context and a buffer on each of the two GPUs and returns the path of the copies between them.
static const char *open_pair(const int gpus[2], size_t bytes, const char *kernels)
{
    CUdevice devices[2];
    const char *path = gpus[PRODUCER] == gpus[CONSUMER] ? "same" : "peer";
    for (int e = PRODUCER; e <= CONSUMER; e++) {
        CHECKED(cuDeviceGet, &devices[e], gpus[e]);
        CHECKED(cuDevicePrimaryCtxRetain, &contexts[e], devices[e]);
        CHECKED(cuCtxSetCurrent, contexts[e]);
        CHECKED(cuMemAlloc, &buffers[e], bytes);
    }
    for (int e = PRODUCER; e <= CONSUMER && contexts[PRODUCER] != contexts[CONSUMER]; e++) {
        int can;
        CHECKED(cuDeviceCanAccessPeer, &can, devices[e], devices[!e]);
        if (!can) {
            path = "peer-host";
            continue;
        }
        CHECKED(cuCtxSetCurrent, contexts[e]);
        CHECKED(cuCtxEnablePeerAccess, contexts[!e], 0);
    }
    CHECKED(cuCtxSetCurrent, contexts[CONSUMER]);
    load_kernels(kernels);
    CHECKED(cuStreamCreate, &there, CU_STREAM_NON_BLOCKING);
    CHECKED(cuStreamCreate, &back, CU_STREAM_NON_BLOCKING);
    CHECKED(cuEventCreate, &start, CU_EVENT_DEFAULT);
    CHECKED(cuEventCreate, &end, CU_EVENT_DEFAULT);
    CHECKED(cuEventCreate, &meet, CU_EVENT_DISABLE_TIMING);
    close_gate(there);
    open_gate(there);
    return path;
}

int main(int argc, char **argv)
{
    size_t sizes[MAX_SIZES] = {2 << 20, 64 << 20, 1 << 30}, largest = 0;
    int sizes_n = 3, samples = 21, gpus[2] = {-1, -1}, count;
    const char *kernels = "kernels/ptx/kernels.ptx";
    bool wrong = false;
    for (int c; (c = getopt(argc, argv, "g:n:s:k:")) != -1;) {
        switch (c) {
        case 'g':
            wrong = wrong || sscanf(optarg, "%d,%d", &gpus[PRODUCER], &gpus[CONSUMER]) != 2 || gpus[PRODUCER] < 0 || gpus[CONSUMER] < 0;
            break;
        case 'n': samples = atoi(optarg); break;
        case 's': sizes_n = parse_sizes(optarg, sizes, MAX_SIZES); break;
        case 'k': kernels = optarg; break;
        default: wrong = true;
        }
    }
    if (wrong || samples < 1 || samples > 1000000 || optind != argc) {
        fprintf(stderr, "usage: peer [-g PRODUCER,CONSUMER] [-n SAMPLES] [-s SIZE,...] [-k PTX]\n");
        return 2;
    }
    CHECKED(cuInit, 0);
    CHECKED(cuDeviceGetCount, &count);
    if (gpus[PRODUCER] < 0) {
        gpus[PRODUCER] = 0;
        gpus[CONSUMER] = count > 1 ? 1 : 0;
    }
    for (int i = 0; i < sizes_n; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    const char *path = open_pair(gpus, largest, kernels);
    if (gpus[PRODUCER] == gpus[CONSUMER])
        fprintf(stderr, "both buffers are on GPU %d: these are copies within it, not over a link\n", gpus[PRODUCER]);
    printf("path,allocator,producer,consumer,size_bytes,metric,n,median_ns,p5_ns,p95_ns\n");
    for (int i = 0; i < sizes_n; i++)
        for (int m = MEMCPY; m < METRICS; m++)
            measure(path, gpus, m, sizes[i], samples);
    return 0;
}
