// The report: what the caller did wrong, appended line by line to the file
// that GPUSHARE_EMULATED_REPORT names. A line is
//
//	class pid role: call: text
//
// with the classes refused (a rule was broken, the call answered an error),
// violation (a rule was broken that a real driver might not notice), leak
// (alive when the last context was released) and ok (nothing was).
#define _GNU_SOURCE
#include "emulated.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static long wrong; // violations and leaks of this process

static void write_line(const char *class, const char *format, va_list list) {
    const char *path = getenv("GPUSHARE_EMULATED_REPORT"), *role = getenv("GPUSHARE_ROLE");
    if (!path)
        return;
    char line[1024];
    size_t used = (size_t)snprintf(line, sizeof line, "%s %d %s: %s: ", class, getpid(), role ? role : "-", last_call);
    used += (size_t)vsnprintf(line + used, sizeof line - used, format, list);
    if (used > sizeof line - 2)
        used = sizeof line - 2;
    line[used++] = '\n';
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (write(fd, line, used) < 0)
        perror("emulated CUDA driver: cannot write the report");
    close(fd);
}

void report_line(const char *class, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_line(class, format, list);
    va_end(list);
}

CUresult refuse(CUresult result, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_line("refused", format, list);
    va_end(list);
    return result;
}

void violation(const char *format, ...) {
    va_list list;
    wrong++;
    va_start(list, format);
    write_line("violation", format, list);
    va_end(list);
}

static void leak(const char *format, ...) {
    va_list list;
    wrong++;
    va_start(list, format);
    write_line("leak", format, list);
    va_end(list);
}

static void leaked_object(enum object_kind kind, uint64_t handle, void *object, void *arg) {
    (void)object;
    (void)arg;
    // Functions go with their module and the default pools with their context.
    if (kind == OBJECT_FUNCTION || kind == OBJECT_CONTEXT)
        return;
    leak("%s %#llx", object_kind_name(kind), (unsigned long long)handle);
}

static void leaked_range(struct range *r, void *arg) {
    (void)arg;
    leak("%s of %llu bytes at %#llx", range_kind_name(r->kind), (unsigned long long)r->size, (unsigned long long)r->base);
}

static void leaked_reservation(uint64_t base, uint64_t size) {
    leak("address reservation of %llu bytes at %#llx", (unsigned long long)size, (unsigned long long)base);
}

static void leaked_descriptors(bool own) {
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", entry->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = '\0';
        if (strstr(target, "/memfd:gpushare-emulated") && (own || !backing_owns_descriptor(atoi(entry->d_name))))
            leak("descriptor %s of a shared buffer is still open", entry->d_name);
    }
    if (dir)
        closedir(dir);
}

void report_leaks(void) {
    object_each(leaked_object, NULL);
    range_each(leaked_range, NULL);
    reservation_each(leaked_reservation);
    // The driver's own may be open only if something that needs them is left.
    leaked_descriptors(wrong == 0);
    if (wrong == 0)
        report_line("ok", "everything was released");
    wrong = 0;
}
