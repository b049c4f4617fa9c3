// What the processes on one emulated machine know of each other: memory in
// use, contexts held, and who has whose memory mapped. It lies in a file beside
// the machine's file, mapped by every process. A process owns one slot and
// holds an open-file-description lock on that slot's byte; the kernel drops the
// lock however the process ends, so a killed process is told from a live one
// without process ids, which differ between namespaces.
#define _GNU_SOURCE
#include "emulated.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 512, IMPORTS = 4096, MAGIC = 0x65677331 };

// Read by the Go side as well: keep the layout in step with report.go.
struct process {
    int32_t pid;
    uint32_t contexts; // bit per device index
    int64_t objects;   // handles, ranges and reservations alive
    char role[16];
    int64_t used[MAX_DEVICES];
};

struct import {
    uint64_t inode; // 0: free
    int32_t slot, count;
};

struct state {
    uint32_t magic, slots;
    uint8_t reserved[56];
    struct process process[SLOTS];
    struct import import[IMPORTS];
};

static_assert(sizeof(struct process) == 160, "report.go reads this");

static struct state *state;
static int state_fd = -1;
static int own = -1;

static struct flock slot_lock(int type, int slot) {
    return (struct flock){.l_type = (short)type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
}

static void table_lock(int type) {
    struct flock lock = slot_lock(type, SLOTS);
    fcntl(state_fd, F_OFD_SETLKW, &lock);
}

static bool alive(int slot) {
    struct flock lock = slot_lock(F_WRLCK, slot);
    return slot == own || (fcntl(state_fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

// Says that a process ended without releasing its contexts, and frees its slot.
static void bury(int slot) {
    struct process *p = &state->process[slot];
    if (p->contexts != 0)
        report_line("unreleased", "process %d (%s) ended with a context and %lld objects", p->pid, p->role,
                    (long long)p->objects);
    for (int i = 0; i < IMPORTS; i++)
        if (state->import[i].inode && state->import[i].slot == slot)
            state->import[i].inode = 0;
    memset(p, 0, sizeof *p);
}

void state_open(void) {
    char path[512];
    snprintf(path, sizeof path, "%s.state", getenv("GPUSHARE_EMULATED_MACHINE"));
    state_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (state_fd < 0 || ftruncate(state_fd, sizeof *state)) {
        perror("emulated CUDA driver: cannot open the machine's state file");
        exit(97);
    }
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, state_fd, 0);
    if (state == MAP_FAILED) {
        perror("emulated CUDA driver: cannot map the machine's state file");
        exit(97);
    }
    table_lock(F_WRLCK);
    state->magic = MAGIC;
    state->slots = SLOTS;
    for (int i = 0; i < SLOTS && own < 0; i++) {
        struct flock lock = slot_lock(F_WRLCK, i);
        if (fcntl(state_fd, F_OFD_SETLK, &lock))
            continue;
        own = i;
        if (state->process[i].pid)
            bury(i);
    }
    table_lock(F_UNLCK);
    if (own < 0) {
        fprintf(stderr, "emulated CUDA driver: more than %d processes on one machine\n", SLOTS);
        exit(97);
    }
    struct process *p = &state->process[own];
    const char *role = getenv("GPUSHARE_ROLE");
    p->pid = getpid();
    snprintf(p->role, sizeof p->role, "%s", role ? role : "-");
}

void state_charge(int device_index, int64_t bytes) {
    if (own >= 0 && device_index >= 0)
        __atomic_add_fetch(&state->process[own].used[device_index], bytes, __ATOMIC_SEQ_CST);
}

uint64_t state_used(int device_index) {
    int64_t sum = 0;
    for (int i = 0; i < SLOTS; i++)
        if (state->process[i].pid && state->process[i].used[device_index] && alive(i))
            sum += state->process[i].used[device_index];
    return (uint64_t)sum;
}

void state_context(int device_index, bool held) {
    if (held)
        __atomic_or_fetch(&state->process[own].contexts, 1u << device_index, __ATOMIC_SEQ_CST);
    else
        __atomic_and_fetch(&state->process[own].contexts, ~(1u << device_index), __ATOMIC_SEQ_CST);
}

static bool other_context(int device_index) {
    for (int i = 0; i < SLOTS; i++)
        if (i != own && (state->process[i].contexts & 1u << device_index) && alive(i))
            return true;
    return false;
}

bool state_claim(int device_index, bool alone) {
    table_lock(F_WRLCK); // of two processes that ask at a time one is the first
    bool granted = !alone || !other_context(device_index);
    if (granted)
        state_context(device_index, true);
    table_lock(F_UNLCK);
    return granted;
}

void state_objects(int64_t change) {
    if (own >= 0)
        __atomic_add_fetch(&state->process[own].objects, change, __ATOMIC_SEQ_CST);
}

void state_import(uint64_t inode, bool mapped) {
    table_lock(F_WRLCK);
    struct import *free_entry = NULL, *hit = NULL;
    for (int i = 0; i < IMPORTS && !hit; i++) {
        struct import *e = &state->import[i];
        if (e->inode == inode && e->slot == own)
            hit = e;
        else if (!e->inode && !free_entry)
            free_entry = e;
    }
    if (!hit && mapped && free_entry)
        *(hit = free_entry) = (struct import){.inode = inode, .slot = own};
    if (hit && (hit->count += mapped ? 1 : -1) <= 0)
        hit->inode = 0;
    table_lock(F_UNLCK);
}

pid_t state_importer(uint64_t inode) {
    for (int i = 0; i < IMPORTS; i++)
        if (state->import[i].inode == inode && state->import[i].slot != own && alive(state->import[i].slot))
            return state->process[state->import[i].slot].pid;
    return 0;
}
