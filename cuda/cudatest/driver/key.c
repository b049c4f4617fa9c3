// Keys: handles that are 64 bytes rather than a descriptor.
#define _GNU_SOURCE
#include "emulated.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static_assert(sizeof(struct key) == 64, "a key has 64 bytes");

bool key_make(struct key *k, uint32_t kind, struct backing *b) {
    if (b->segments != 1)
        return false;
    struct segment *s = &b->segment[0];
    *k = (struct key){.magic = "eGK", .kind = kind, .pid = getpid(), .fd = s->fd, .dev = s->dev, .inode = s->inode,
                      .size = b->size, .id = s->inode};
    s->exported = b->exported = true;
    last_shared = b;
    return true;
}

struct backing *key_open(const struct key *k, uint32_t kind, CUresult *result) {
    if (memcmp(k->magic, "eGK", 4) || k->kind != kind) {
        *result = CUDA_ERROR_INVALID_VALUE;
        return NULL;
    }
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", k->pid, k->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) || st.st_dev != k->dev || st.st_ino != k->inode) {
        if (fd >= 0)
            close(fd);
        *result = CUDA_ERROR_INVALID_HANDLE;
        return NULL;
    }
    enum carrier carrier;
    struct backing *b = backing_open(fd, &carrier, result);
    close(fd);
    return b;
}
