// Physical memory is a memfd, so that processes really share it.
//
// A descriptor that is handed out is the memfd opened once more, which gives
// it status flags of its own; they say what it stands for:
//
//	dma-buf    O_WRONLY, or O_RDWR where the CPU may map a dma-buf: mmap of
//	           a descriptor that cannot be read fails with EACCES (the real
//	           one fails with ENOTSUPP), and lseek gives the size
//	VMM        O_WRONLY | O_APPEND, for it cannot be mapped by the CPU either
//	pool       O_WRONLY | O_APPEND | O_NONBLOCK
//
// An importer opens the memfd a third time, readable, through /proc/self/fd.
// The memfd's name carries the device and the handle types that were asked for,
// so a descriptor describes itself in whatever process or namespace it arrives.
//
// A dma-buf of a part of an allocation must begin at offset 0 of its descriptor
// for whoever maps it. That part is moved to a memfd of its own, and mapped in
// place of what was there.
#define _GNU_SOURCE
#include "emulated.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct backing *last_shared;

static struct backing *all[16384]; // alive in this process
static int all_count;

static bool segment_open(struct segment *s, int fd) {
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        return false;
    s->fd = fd;
    s->dev = st.st_dev;
    s->inode = st.st_ino;
    return true;
}

static int memfd_new(int device, uint32_t handle_types, uint64_t size) {
    char name[64];
    snprintf(name, sizeof name, "gpushare-emulated:%d:%u:", device, handle_types);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)size)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int reopen(int fd, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

static struct backing *backing_one(int fd, int device, uint64_t size) {
    struct backing *b = calloc(1, sizeof *b);
    b->references = 1;
    b->device = device;
    b->size = size;
    b->segments = 1;
    b->segment = calloc(1, sizeof *b->segment);
    b->segment->size = size;
    if (all_count == (int)(sizeof all / sizeof all[0]) || !segment_open(b->segment, fd)) {
        free(b->segment);
        free(b);
        return NULL;
    }
    all[all_count++] = b;
    return b;
}

struct backing *backing_new(int device, uint64_t size, uint32_t handle_types, CUresult *result) {
    if (device != HOST && state_used(device) + size > machine.devices[device].memory) {
        *result = CUDA_ERROR_OUT_OF_MEMORY;
        return NULL;
    }
    int fd = memfd_new(device, handle_types, size);
    *result = fd >= 0 ? CUDA_SUCCESS : errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_OPERATING_SYSTEM;
    if (fd < 0)
        return NULL;
    struct backing *b = backing_one(fd, device, size);
    if (!b) {
        close(fd);
        *result = CUDA_ERROR_OUT_OF_MEMORY;
        return NULL;
    }
    b->handle_types = handle_types;
    b->charged = device != HOST;
    state_charge(device, (int64_t)size);
    return b;
}

CUresult backing_grow(struct backing *b, uint64_t size) {
    if (b->charged && state_used(b->device) + size - b->size > machine.devices[b->device].memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct segment *s = &b->segment[b->segments - 1];
    uint64_t more = size - b->size;
    if (ftruncate(s->fd, (off_t)(s->file_offset + s->size + more)))
        return CUDA_ERROR_OPERATING_SYSTEM;
    s->size += more;
    b->size = size;
    if (b->charged)
        state_charge(b->device, (int64_t)more);
    return CUDA_SUCCESS;
}

struct backing *backing_open(int fd, enum carrier *carrier, CUresult *result) {
    char path[64], target[256];
    int device;
    unsigned handle_types;
    *carrier = CARRIER_NONE;
    *result = CUDA_ERROR_INVALID_VALUE;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return NULL;
    target[n] = '\0';
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0)
        return NULL;
    bool own_memfd = !strncmp(target, "/memfd:gpushare-emulated:", 25);
    bool memfd = machine.dmabuf_memfd && !strncmp(target, "/memfd:", 7) && !own_memfd;
    if (!strncmp(target, "/dmabuf:", 8) || memfd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        struct backing *b = copy < 0 ? NULL : backing_one(copy, HOST, (uint64_t)size);
        if (!b)
            return NULL;
        b->imported = true;
        *carrier = CARRIER_FOREIGN_DMABUF;
        *result = CUDA_SUCCESS;
        return b;
    }
    if (sscanf(target, "/memfd:gpushare-emulated:%d:%u:", &device, &handle_types) != 2 || device >= machine.count)
        return NULL;
    int flags = fcntl(fd, F_GETFL);
    *carrier = !(flags & O_APPEND) ? CARRIER_DMABUF : flags & O_NONBLOCK ? CARRIER_POOL : CARRIER_VMM;
    int own = reopen(fd, O_RDWR);
    if (own < 0) {
        *result = CUDA_ERROR_OPERATING_SYSTEM;
        return NULL;
    }
    struct backing *b = backing_one(own, device, (uint64_t)size);
    if (!b) {
        close(own);
        return NULL;
    }
    b->handle_types = handle_types;
    b->imported = true;
    *result = CUDA_SUCCESS;
    return b;
}

struct backing *backing_ref(struct backing *b) {
    b->references++;
    return b;
}

void backing_unref(struct backing *b) {
    if (!b || --b->references > 0)
        return;
    for (int i = 0; i < b->segments; i++) {
        struct segment *s = &b->segment[i];
        struct stat st;
        if (fstat(s->fd, &st) || st.st_dev != s->dev || st.st_ino != s->inode)
            violation("the program closed descriptor %d, which belongs to the driver", s->fd);
        else
            close(s->fd);
    }
    if (b->charged)
        state_charge(b->device, -(int64_t)b->size);
    for (int i = 0; i < all_count; i++)
        if (all[i] == b)
            all[i] = all[--all_count];
    if (last_shared == b)
        last_shared = NULL;
    free(b->segment);
    free(b);
}

bool backing_owns_descriptor(int fd) {
    for (int i = 0; i < all_count; i++)
        for (int j = 0; j < all[i]->segments; j++)
            if (all[i]->segment[j].fd == fd)
                return true;
    return false;
}

struct segment *backing_segment(struct backing *b, uint64_t offset) {
    for (int i = 0; i < b->segments; i++)
        if (offset >= b->segment[i].offset && offset - b->segment[i].offset < b->segment[i].size)
            return &b->segment[i];
    return NULL;
}

// Maps [offset, +length) at a fixed address, or anywhere for NULL. Segments of
// one backing that were mapped follow each other.
void *backing_map(struct backing *b, uint64_t offset, uint64_t length, void *at, int protection) {
    uint8_t *base = at;
    if (!base) {
        base = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            return NULL;
    }
    for (uint64_t done = 0; done < length;) {
        struct segment *s = backing_segment(b, offset + done);
        uint64_t inside = s ? offset + done - s->offset : 0;
        uint64_t n = s && s->size - inside < length - done ? s->size - inside : length - done;
        if (!s || mmap(base + done, n, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, s->fd,
                       (off_t)(s->file_offset + inside)) == MAP_FAILED) {
            if (!at)
                munmap(base, length);
            return NULL;
        }
        done += n;
    }
    return base;
}

static void remap(struct range *r, void *arg) {
    if (r->backing == arg && r->kind != RANGE_REGISTERED)
        backing_map(r->backing, r->offset, r->span, (void *)r->base, range_protection(r));
}

// Gives [offset, +length), a part of segment i, a memfd of its own.
static bool split(struct backing *b, int i, uint64_t offset, uint64_t length) {
    struct segment old = b->segment[i], parts[3];
    int count = 0, fd = memfd_new(b->device, b->handle_types, length);
    uint64_t before = offset - old.offset, after = old.size - before - length;
    if (fd < 0)
        return false;
    uint8_t *from = mmap(NULL, length, PROT_READ, MAP_SHARED, old.fd, (off_t)(old.file_offset + before));
    uint8_t *to = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (from == MAP_FAILED || to == MAP_FAILED)
        return false;
    memcpy(to, from, length);
    munmap(from, length);
    munmap(to, length);
    if (before) {
        parts[count] = old;
        parts[count++].size = before;
    }
    parts[count] = (struct segment){.offset = offset, .size = length};
    segment_open(&parts[count++], fd);
    if (after) {
        parts[count] = old;
        parts[count].offset = offset + length;
        parts[count].size = after;
        parts[count].file_offset = old.file_offset + before + length;
        if (before)
            segment_open(&parts[count], fcntl(old.fd, F_DUPFD_CLOEXEC, 0));
        count++;
    }
    b->segment = realloc(b->segment, (size_t)(b->segments + count - 1) * sizeof *b->segment);
    memmove(b->segment + i + count, b->segment + i + 1, (size_t)(b->segments - i - 1) * sizeof *b->segment);
    memcpy(b->segment + i, parts, (size_t)count * sizeof *parts);
    b->segments += count - 1;
    range_each(remap, b);
    return true;
}

// Returns a descriptor, -1 with errno, or -1 with errno 0 for a part that the
// emulation can't give a descriptor because another process may have the whole.
int backing_export(struct backing *b, uint64_t offset, uint64_t length, enum carrier carrier, bool mappable) {
    struct segment *s = backing_segment(b, offset);
    bool whole = s && s->offset == offset && s->size == length && s->file_offset == 0;
    struct stat st;
    if (whole && (fstat(s->fd, &st) || (uint64_t)st.st_size != length))
        whole = false;
    if (!whole) {
        if (!s || s->exported || b->imported || carrier != CARRIER_DMABUF || offset - s->offset + length > s->size) {
            errno = 0;
            return -1;
        }
        if (!split(b, (int)(s - b->segment), offset, length))
            return -1;
        s = backing_segment(b, offset);
    }
    int flags = mappable ? O_RDWR : O_WRONLY;
    if (carrier == CARRIER_VMM || carrier == CARRIER_POOL)
        flags = O_WRONLY | O_APPEND | (carrier == CARRIER_POOL ? O_NONBLOCK : 0);
    int fd = reopen(s->fd, flags);
    if (fd >= 0) {
        s->exported = b->exported = true;
        last_shared = b;
    }
    return fd;
}
