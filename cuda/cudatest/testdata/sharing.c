// Memory shared between two processes, on every path.
#include "selftest.h"

#include <sys/socket.h>
#include <sys/wait.h>

struct message {
    uint64_t bytes, offset, seed;
    struct CUhandle64 key;
};

static void send_message(int s, const struct message *m, int fd) {
    struct iovec v = {(void *)m, sizeof *m};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
    if (fd >= 0) {
        h.msg_control = control;
        h.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(s, &h, MSG_NOSIGNAL) != (ssize_t)sizeof *m) {
        printf("the other process is gone\n");
        exit(2);
    }
}

static int receive_message(int s, struct message *m) {
    struct iovec v = {m, sizeof *m};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(s, &h, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *m) {
        printf("the other process is gone\n");
        exit(2);
    }
    int fd = -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

static int export_dmabuf(struct buffer *b) {
    int fd;
    OK(cuMemGetHandleForAddressRange(&fd, b->address, b->bytes, 1, 0));
    TRUE((uint64_t)lseek(fd, 0, SEEK_END) == b->bytes);
    return fd;
}

// Allocates, fills and exports.
static int produce(const char *path, struct buffer *b, struct message *m) {
    int fd = -1;
    uint64_t seed = m->seed;
    if (!strcmp(path, "vmm") || !strcmp(path, "opaque") || !strcmp(path, "fabric") || !strcmp(path, "dmabuf-vmm")) {
        int type = !strcmp(path, "fabric") ? 8 : 1;
        create_physical(b, (uint32_t)type);
        map_physical(b);
        fill(b->address, b->bytes, seed);
        if (!strcmp(path, "dmabuf-vmm"))
            return export_dmabuf(b);
        OK(cuMemExportToShareableHandle(type == 8 ? (void *)&m->key : (void *)&fd, b->physical, type, 0));
    } else if (!strncmp(path, "ipc", 3)) {
        OK(cuMemAlloc_v2(&b->base, b->bytes));
        b->address = b->base;
        fill(b->address, b->bytes, seed);
        OK(cuIpcGetMemHandle(&m->key, b->address + 64)); // the handle is the allocation's all the same
    } else if (!strcmp(path, "mempool")) {
        struct CUmemPoolProps p = {.allocType = 1, .handleTypes = 1, .location = {1, device}};
        uint64_t other;
        OK(cuMemPoolCreate(&b->pool, &p));
        OK(cuMemPoolExportToShareableHandle(&fd, b->pool, 1, 0));
        OK(cuMemAllocFromPoolAsync(&other, 4096, b->pool, stream));
        OK(cuMemAllocFromPoolAsync(&b->base, b->bytes, b->pool, stream));
        OK(cuMemFreeAsync(other, stream));
        b->address = b->base;
        fill(b->address, b->bytes, seed);
        OK(cuMemPoolExportPointer(&m->key, b->address));
    } else if (!strcmp(path, "dmabuf-pinned")) {
        OK(cuMemAllocHost_v2(&b->cpu, b->bytes));
        b->address = (uint64_t)b->cpu;
        fill(b->address, b->bytes, seed);
        fd = export_dmabuf(b);
    } else { // dmabuf, dmabuf-cpu, dmabuf-part
        uint64_t part = !strcmp(path, "dmabuf-part") ? MIB : 0;
        OK(cuMemAlloc_v2(&b->base, b->bytes + 2 * part));
        fill(b->base, b->bytes + 2 * part, ~seed);
        b->address = b->base + part;
        fill(b->address, b->bytes, seed);
        fd = export_dmabuf(b);
        if (part) { // what lies around it is as it was
            verify(b->base, part, ~seed);
            verify(b->base + part + b->bytes, part, ~seed + (part + b->bytes) / 8 * 0x9E3779B97F4A7C15u);
        }
    }
    return fd;
}

static void release_produced(struct buffer *b) {
    if (b->physical)
        unmap_physical(b);
    else if (b->pool) {
        OK(cuMemFreeAsync(b->base, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuMemPoolDestroy(b->pool));
    } else if (b->cpu)
        OK(cuMemFreeHost(b->cpu));
    else
        OK(cuMemFree_v2(b->base));
}

// Imports; closes the descriptor unless the driver took it.
static void consume(const char *path, struct buffer *b, struct message *m, int fd) {
    b->bytes = m->bytes;
    if (!strcmp(path, "vmm") || !strcmp(path, "fabric")) {
        OK(cuMemImportFromShareableHandle(&b->physical, fd >= 0 ? (void *)(intptr_t)fd : (void *)&m->key, fd >= 0 ? 1 : 8));
        map_physical(b);
    } else if (!strncmp(path, "ipc", 3))
        OK(cuIpcOpenMemHandle_v2(&b->address, m->key, 1));
    else if (!strcmp(path, "mempool")) {
        OK(cuMemPoolImportFromShareableHandle(&b->pool, (void *)(intptr_t)fd, 1, 0));
        struct CUmemAccessDesc a = {{1, device}, 3};
        OK(cuMemPoolSetAccess(b->pool, &a, 1));
        OK(cuMemPoolImportPointer(&b->address, b->pool, &m->key));
    } else if (!strcmp(path, "dmabuf-cpu")) {
        b->cpu = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (b->cpu == MAP_FAILED) {
            printf("mmap: %s\n", strerror(errno));
            exit(1);
        }
        OK(cuMemHostRegister_v2(b->cpu, b->bytes, 2));
        b->address = (uint64_t)b->cpu;
    } else {
        bool opaque = !strcmp(path, "opaque");
        struct CUexternalMemoryHandleDesc h = {.type = opaque ? 1 : 9, .handle.fd = fd, .size = b->bytes};
        struct CUexternalMemoryBufferDesc d = {.size = b->bytes};
        OK(cuImportExternalMemory(&b->external, &h));
        OK(cuExternalMemoryGetMappedBuffer(&b->address, b->external, &d));
        if (opaque)
            return;
    }
    if (fd >= 0)
        close(fd);
}

static void release_consumed(struct buffer *b) {
    if (b->physical)
        unmap_physical(b);
    else if (b->pool) {
        OK(cuMemFree_v2(b->address));
        OK(cuMemPoolDestroy(b->pool));
    } else if (b->cpu) {
        OK(cuMemHostUnregister(b->cpu));
        munmap(b->cpu, b->bytes);
    } else if (b->external) {
        OK(cuMemFree_v2(b->address));
        OK(cuDestroyExternalMemory(b->external));
    } else
        OK(cuIpcCloseMemHandle(b->address));
}

int consumer(const char *path, int ordinal, int s) {
    struct message m;
    struct buffer b = {0};
    open_device(ordinal);
    int fd = receive_message(s, &m);
    consume(path, &b, &m, fd);
    verify(b.address, b.bytes, m.seed);
    fill(b.address, b.bytes, m.seed + 1);
    bool late = !strcmp(path, "ipc-late"); // unmapped only after the producer freed it
    if (!late)
        release_consumed(&b);
    send_message(s, &m, -1);
    if (late) {
        receive_message(s, &m);
        release_consumed(&b);
    }
    close_device();
    return 0;
}

int share(char **argv) {
    const char *path = argv[0];
    int s[2], status;
    struct message m = {.bytes = strtoull(argv[3], NULL, 10), .seed = 42};
    struct buffer b = {.bytes = m.bytes};
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char number[16];
        fcntl(s[1], F_SETFD, 0);
        snprintf(number, sizeof number, "%d", s[1]);
        setenv("GPUSHARE_ROLE", "consumer", 1);
        execl("/proc/self/exe", "selftest", "consumer", path, argv[2], number, (char *)NULL);
        _exit(127);
    }
    close(s[1]);
    open_device(atoi(argv[1]));
    int fd = produce(path, &b, &m);
    send_message(s[0], &m, fd);
    if (fd >= 0)
        close(fd);
    receive_message(s[0], &m);
    verify(b.address, b.bytes, m.seed + 1);
    release_produced(&b);
    if (!strcmp(path, "ipc-late"))
        send_message(s[0], &m, -1);
    close_device();
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
