// Injected faults: GPUSHARE_EMULATED_FAULTS holds rules, separated by commas
// or semicolons, of the form
//
//	[role:]call[@count]=action
//
// role is producer, consumer, peer1 … and is compared with GPUSHARE_ROLE. call is a
// driver call without its version suffix, or "kernel:" and a kernel's name.
// count says which call of this process: a number, "3+" from the third on,
// "%7" every seventh, "*" every (the default is the first). action is
//
//	CUDA_ERROR_...   the call does nothing and answers this
//	hang             the call, or the kernel, never ends
//	crash, kill      SIGSEGV, SIGKILL
//	exit             the process ends at once with status 0
//	slow:5ms         the call takes this much longer (ns, us, ms, s)
//	sticky:700       the context is poisoned with this result
//	trap             kernels only: CUDA_ERROR_LAUNCH_FAILED, sticky
//	skip             kernels only: the kernel does nothing
//	corrupt[:how]    after the call one byte of the newest shared buffer is
//	                 flipped; how is zeros, constant, shifted, stale or random
//	                 for the whole buffer
#define _GNU_SOURCE
#include "emulated.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct fault {
    char call[64], action[64];
    long from, every, to; // counts
    long seen;
};

enum { MAX_FAULTS = 64 };

static struct fault faults[MAX_FAULTS];
static int fault_count;
static pthread_mutex_t fault_mutex = PTHREAD_MUTEX_INITIALIZER;

// A rule whose action means nothing would let a test pass that tests nothing.
static bool known(const char *action) {
    static const char *const words[] = {"hang", "crash", "kill", "exit", "trap", "skip", "corrupt"};
    static const char *const kinds[] = {"zeros", "constant", "shifted", "stale", "random"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(action, words[i]))
            return true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strncmp(action, "corrupt:", 8) && !strcmp(action + 8, kinds[i]))
            return true;
    char *end;
    if (!strncmp(action, "sticky:", 7))
        return strtol(action + 7, &end, 10) > 0 && *end == '\0';
    if (!strncmp(action, "slow:", 5))
        return strtod(action + 5, &end) > 0 && (!strcmp(end, "ns") || !strcmp(end, "us") || !strcmp(end, "ms") || !strcmp(end, "s"));
    return result_by_name(action, CUDA_SUCCESS) != CUDA_SUCCESS;
}

static void add(char *rule) {
    char *action = strchr(rule, '='), *call = rule;
    const char *role = getenv("GPUSHARE_ROLE");
    if (!action || fault_count == MAX_FAULTS) {
        fprintf(stderr, "emulated CUDA driver: bad fault rule %s\n", rule);
        exit(97);
    }
    *action++ = '\0';
    char *colon = strchr(call, ':');
    if (colon && strncmp(call, "kernel:", 7)) {
        *colon = '\0';
        if (!role || strcmp(role, call))
            return;
        call = colon + 1;
    }
    struct fault *f = &faults[fault_count++];
    char *count = strchr(call, '@');
    f->from = f->every = f->to = 1;
    if (count) {
        *count++ = '\0';
        if (*count == '*')
            f->to = -1;
        else if (*count == '%') {
            f->from = f->every = atol(count + 1);
            f->to = -1;
        } else {
            f->from = atol(count);
            f->to = strchr(count, '+') ? -1 : f->from;
        }
    }
    if (f->from < 1 || f->every < 1) {
        fprintf(stderr, "emulated CUDA driver: bad count in fault rule for %s\n", call);
        exit(97);
    }
    if (!known(action)) {
        fprintf(stderr, "emulated CUDA driver: unknown action %s in fault rule for %s\n", action, call);
        exit(97);
    }
    snprintf(f->call, sizeof f->call, "%s", call);
    snprintf(f->action, sizeof f->action, "%s", action);
}

void faults_load(void) {
    const char *rules = getenv("GPUSHARE_EMULATED_FAULTS");
    if (!rules)
        return;
    char *copy = strdup(rules), *rest = copy, *rule;
    while ((rule = strsep(&rest, ",;\n")))
        if (*rule)
            add(rule);
    free(copy);
}

const struct fault *fault_next(const char *call) {
    const struct fault *hit = NULL;
    pthread_mutex_lock(&fault_mutex);
    for (int i = 0; i < fault_count; i++) {
        struct fault *f = &faults[i];
        if (strcmp(f->call, call))
            continue;
        f->seen++;
        bool due = f->seen >= f->from && (f->to < 0 || f->seen <= f->to) && (f->seen - f->from) % f->every == 0;
        if (due && !hit)
            hit = f;
    }
    pthread_mutex_unlock(&fault_mutex);
    return hit;
}

bool fault_is(const struct fault *f, const char *action) {
    return f && !strcmp(f->action, action);
}

bool fault_is_sticky(const struct fault *f) {
    return f && !strncmp(f->action, "sticky:", 7);
}

static void sleep_for(const char *duration) {
    char *unit;
    double value = strtod(duration, &unit);
    double scale = !strcmp(unit, "ns") ? 1e-9 : !strcmp(unit, "us") ? 1e-6 : !strcmp(unit, "ms") ? 1e-3 : 1;
    struct timespec t = {.tv_sec = (time_t)(value * scale)};
    t.tv_nsec = (long)((value * scale - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

CUresult fault_before(const struct fault *f) {
    if (!f)
        return CUDA_SUCCESS;
    if (fault_is(f, "hang"))
        for (;;)
            pause();
    if (fault_is(f, "crash")) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    }
    if (fault_is(f, "kill"))
        kill(getpid(), SIGKILL);
    if (fault_is(f, "exit"))
        _exit(0);
    if (!strncmp(f->action, "slow:", 5)) {
        sleep_for(f->action + 5);
        return CUDA_SUCCESS;
    }
    if (fault_is_sticky(f))
        return (CUresult)atoi(f->action + 7);
    if (!strncmp(f->action, "corrupt", 7))
        return CUDA_SUCCESS;
    return result_by_name(f->action, CUDA_SUCCESS);
}

static void distort(uint8_t *at, uint64_t bytes, const char *how) {
    if (!strcmp(how, ":zeros"))
        memset(at, 0, bytes);
    else if (!strcmp(how, ":constant"))
        memset(at, 0xff, bytes);
    else if (!strcmp(how, ":shifted"))
        memmove(at, at + 64, bytes - 64);
    else if (!strcmp(how, ":stale"))
        pattern_stale(at, bytes);
    else if (!strcmp(how, ":random"))
        for (uint64_t i = 0; i + 8 <= bytes; i += 8)
            *(uint64_t *)(at + i) = pattern_word(~*(uint64_t *)(at + i), i);
    else
        at[bytes / 2] ^= 0x10;
}

void fault_corrupt(const struct fault *f, uint8_t *at, uint64_t bytes) {
    if (f && !strncmp(f->action, "corrupt", 7))
        distort(at, bytes, f->action + 7);
}

void fault_after(const struct fault *f) {
    struct backing *b = last_shared;
    if (!f || strncmp(f->action, "corrupt", 7) || !b)
        return;
    uint8_t *at = backing_map(b, 0, b->size, NULL, protection_full);
    if (!at)
        return;
    fault_corrupt(f, at, b->size);
    munmap(at, b->size);
}
