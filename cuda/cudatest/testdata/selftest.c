// A program against the driver API for the tests of the emulated driver.
//
//	selftest share PATH PRODUCER CONSUMER BYTES
//	        shares memory with a second process and checks both directions
//	selftest rule NAME
//	        breaks one rule, or shows one behaviour
//
// It prints the first call that fails as "call: result" and exits with 1, or
// "corrupt" with 4.
#include "selftest.h"

const char *name_of(R r) {
    const char *name = NULL;
    cuGetErrorName(r, &name);
    return name ? name : "?";
}

void ok(R r, const char *call) {
    if (r == CUDA_SUCCESS)
        return;
    printf("%.*s: %s\n", (int)strcspn(call, "("), call, name_of(r));
    exit(1);
}

void want(R got, R expected, const char *call, int line) {
    if (got == expected)
        return;
    printf("line %d: %s: %s, want %s\n", line, call, name_of(got), name_of(expected));
    exit(1);
}
static const char ptx[] = ".version 8.0\n.target sm_70\n.entry fill(\n.entry verify(\n.entry read(\n.entry gate(\n.entry chase_init(\n"
                          ".entry chase(\n.entry write(\n.entry copy(\n";

uint64_t context, module, stream;
uint64_t *scratch;
int device;

void open_device(int ordinal) {
    device = ordinal;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, ordinal));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAllocHost_v2((void **)&scratch, 4096));
}

void close_device(void) {
    OK(cuMemFreeHost(scratch));
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(device));
}

R launch(const char *name, unsigned block, void **parameters) {
    uint64_t f;
    OK(cuModuleGetFunction(&f, module, name));
    return cuLaunchKernel(f, 1, 1, 1, block, 1, 1, 0, stream, parameters, NULL);
}

void fill(uint64_t p, uint64_t bytes, uint64_t seed) {
    uint64_t words = bytes / 8;
    ok(launch("fill", 256, (void *[]){&p, &words, &seed}), "kernel fill");
    ok(cuStreamSynchronize(stream), "kernel fill");
}

void verify(uint64_t p, uint64_t bytes, uint64_t seed) {
    uint64_t words = bytes / 8, at = (uint64_t)scratch;
    scratch[0] = scratch[2] = 0;
    scratch[1] = ~0ull;
    ok(launch("verify", 256, (void *[]){&p, &words, &seed, &at}), "kernel verify");
    ok(cuStreamSynchronize(stream), "kernel verify");
    if (scratch[0]) {
        uint64_t word;
        OK(cuMemcpyDtoH_v2(&word, p + 8 * scratch[1], 8));
        printf("corrupt: %llu words, first %llu, last %llu: %#llx\n", (unsigned long long)scratch[0],
               (unsigned long long)scratch[1], (unsigned long long)scratch[2], (unsigned long long)word);
        exit(4);
    }
}

void set_access(uint64_t address, uint64_t bytes) {
    struct CUmemAccessDesc a = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(address, bytes, &a, 1));
}

void map_physical(struct buffer *b) {
    b->reserved = (b->bytes + GRANULE - 1) / GRANULE * GRANULE;
    OK(cuMemAddressReserve(&b->address, b->reserved, 0, 0, 0));
    OK(cuMemMap(b->address, b->reserved, 0, b->physical, 0));
    set_access(b->address, b->reserved);
}

void unmap_physical(struct buffer *b) {
    OK(cuMemUnmap(b->address, b->reserved));
    OK(cuMemAddressFree(b->address, b->reserved));
    OK(cuMemRelease(b->physical));
}

void create_physical(struct buffer *b, uint32_t handles) {
    struct CUmemAllocationProp p = {.type = 1, .requestedHandleTypes = handles, .location = {1, device}};
    b->reserved = (b->bytes + GRANULE - 1) / GRANULE * GRANULE;
    OK(cuMemCreate(&b->physical, b->reserved, &p, 0));
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 6 && !strcmp(argv[1], "share"))
        return share(argv + 2);
    if (argc == 5 && !strcmp(argv[1], "consumer"))
        return consumer(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (argc == 3 && !strcmp(argv[1], "rule") && rule(argv[2]))
        return 0;
    fprintf(stderr, "usage: selftest share PATH PRODUCER CONSUMER BYTES | selftest rule NAME\n");
    return 2;
}
