// Streams: a queue and a thread each, so that work is asynchronous and a gate
// holds up only its own stream. stream_mutex guards queues and events; it is
// taken after driver_mutex, and never held while an operation runs.
#include "emulated.h"

#include <time.h>

struct stream {
    uint64_t handle;
    struct context *context;
    unsigned flags;
    bool closing;
    pthread_t thread;
    bool started;
    // Tickets: operations queued and done since the structure was made. They go
    // on counting when it is used for another stream, so that an operation that
    // waits for a stream that is gone finds it done.
    uint64_t submitted, finished;
    struct operation *head, *tail;
    struct stream *next;
};

struct event {
    unsigned flags;
    struct stream *stream; // NULL: never recorded
    uint64_t ticket, generation, time;
    struct context *context;
    struct event *next;
};

static pthread_mutex_t stream_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stream_changed = PTHREAD_COND_INITIALIZER;
static struct stream *streams, *spare_streams;
static struct event *spare_events;

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool ready(const struct operation *o) {
    if (o->wait_for && o->wait_for->finished < o->wait_ticket)
        return false;
    for (int i = 0; i < o->barriers; i++)
        if (o->barrier[i]->finished < o->barrier_ticket[i])
            return false;
    return true;
}

static void *work(void *arg) {
    struct stream *s = arg;
    pthread_mutex_lock(&stream_mutex);
    for (;;) {
        while (s->head ? !ready(s->head) : !s->closing)
            pthread_cond_wait(&stream_changed, &stream_mutex);
        struct operation *o = s->head;
        if (!o)
            break;
        pthread_mutex_unlock(&stream_mutex);
        if (o->run && __atomic_load_n(&o->context->sticky, __ATOMIC_ACQUIRE) == CUDA_SUCCESS)
            o->run(o);
        pthread_mutex_lock(&stream_mutex);
        s->head = o->next;
        s->finished++;
        free(o);
        pthread_cond_broadcast(&stream_changed);
    }
    pthread_mutex_unlock(&stream_mutex);
    return NULL;
}

struct stream *stream_new(struct context *c, unsigned flags) {
    pthread_mutex_lock(&stream_mutex);
    struct stream *s = spare_streams;
    if (s)
        spare_streams = s->next;
    else
        s = calloc(1, sizeof *s);
    s->context = c;
    s->flags = flags;
    s->closing = s->started = false;
    s->handle = 0;
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&stream_mutex);
    return s;
}

void stream_delete(struct call *call, struct stream *s) {
    pthread_mutex_lock(&stream_mutex);
    s->closing = true;
    bool started = s->started;
    pthread_cond_broadcast(&stream_changed);
    pthread_mutex_unlock(&stream_mutex);
    call_unlock(call);
    if (started)
        pthread_join(s->thread, NULL);
    call_relock(call);
    pthread_mutex_lock(&stream_mutex);
    struct stream **at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    s->next = spare_streams;
    spare_streams = s;
    pthread_mutex_unlock(&stream_mutex);
}

struct operation *operation_new(void (*run)(struct operation *)) {
    struct operation *o = calloc(1, sizeof *o);
    o->run = run;
    return o;
}

// The default stream waits for all blocking streams, and they for it.
static void add_barriers(struct stream *s, struct operation *o) {
    bool legacy = s == s->context->legacy;
    if (!legacy && s->flags & CU_STREAM_NON_BLOCKING)
        return;
    for (struct stream *other = streams; other; other = other->next) {
        bool other_legacy = other == s->context->legacy;
        if (other == s || other->context != s->context || other->finished == other->submitted)
            continue;
        if (legacy ? other->flags & CU_STREAM_NON_BLOCKING : !other_legacy)
            continue;
        if (o->barriers == (int)(sizeof o->barrier / sizeof o->barrier[0])) {
            fprintf(stderr, "emulated CUDA driver: more busy streams than it can order\n");
            abort();
        }
        o->barrier[o->barriers] = other;
        o->barrier_ticket[o->barriers++] = other->submitted;
    }
}

void stream_enqueue(struct stream *s, struct operation *o) {
    pthread_mutex_lock(&stream_mutex);
    o->stream = s;
    o->context = s->context;
    add_barriers(s, o);
    if (s->head)
        s->tail->next = o;
    else
        s->head = o;
    s->tail = o;
    s->submitted++;
    if (!s->started) {
        s->started = true;
        if (pthread_create(&s->thread, NULL, work, s)) {
            fprintf(stderr, "emulated CUDA driver: cannot start a thread for a stream\n");
            abort();
        }
    }
    pthread_cond_broadcast(&stream_changed);
    pthread_mutex_unlock(&stream_mutex);
}

static void wait_ticket(struct call *call, struct stream *s, uint64_t ticket) {
    call_unlock(call);
    pthread_mutex_lock(&stream_mutex);
    while (s->finished < ticket)
        pthread_cond_wait(&stream_changed, &stream_mutex);
    pthread_mutex_unlock(&stream_mutex);
    call_relock(call);
}

static uint64_t newest_ticket(struct stream *s) {
    pthread_mutex_lock(&stream_mutex);
    uint64_t ticket = s->submitted;
    pthread_mutex_unlock(&stream_mutex);
    return ticket;
}

bool stream_done(struct stream *s, uint64_t ticket) {
    pthread_mutex_lock(&stream_mutex);
    bool done = s->finished >= ticket;
    pthread_mutex_unlock(&stream_mutex);
    return done;
}

void stream_wait(struct call *call, struct stream *s) { wait_ticket(call, s, newest_ticket(s)); }

static struct stream *busy_stream(struct context *c) {
    pthread_mutex_lock(&stream_mutex);
    struct stream *s = streams;
    while (s && (s->context != c || s->finished == s->submitted))
        s = s->next;
    pthread_mutex_unlock(&stream_mutex);
    return s;
}

bool context_busy(struct context *c) { return busy_stream(c) != NULL; }

void context_wait(struct call *call, struct context *c) {
    for (struct stream *s; (s = busy_stream(c));)
        stream_wait(call, s);
}

struct stream *stream_resolve(uint64_t handle, CUresult *result) {
    struct context *c = context_current();
    *result = CUDA_SUCCESS;
    if (handle <= 2)
        return c->legacy;
    struct stream *s = object_get(OBJECT_STREAM, handle);
    if (!s || s->context != c) {
        *result = refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no stream of the current context", (unsigned long long)handle);
        return NULL;
    }
    return s;
}

API cuStreamCreate(uint64_t *out, unsigned flags) {
    ENTER("cuStreamCreate", NEED_CONTEXT);
    if (flags & ~1u)
        return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags %u", flags);
    struct stream *s = stream_new(context_current(), flags);
    *out = s->handle = object_add(OBJECT_STREAM, s);
    return CUDA_SUCCESS;
}

API cuStreamDestroy_v2(uint64_t handle) {
    ENTER("cuStreamDestroy", NEED_CONTEXT);
    CUresult result;
    struct stream *s = handle > 2 ? stream_resolve(handle, &result) : NULL;
    if (!s)
        return CUDA_ERROR_INVALID_HANDLE;
    object_remove(handle);
    stream_delete(&call, s);
    return CUDA_SUCCESS;
}

API cuStreamSynchronize(uint64_t handle) {
    ENTER("cuStreamSynchronize", NEED_CONTEXT);
    CUresult result;
    struct context *c = context_current();
    struct stream *s = stream_resolve(handle, &result);
    if (!s)
        return result;
    stream_wait(&call, s);
    return c->sticky;
}

API cuStreamQuery(uint64_t handle) {
    ENTER("cuStreamQuery", NEED_CONTEXT);
    CUresult result;
    struct stream *s = stream_resolve(handle, &result);
    if (!s)
        return result;
    return stream_done(s, newest_ticket(s)) ? context_current()->sticky : CUDA_ERROR_NOT_READY;
}

API cuStreamWaitEvent(uint64_t handle, uint64_t event, unsigned flags) {
    ENTER("cuStreamWaitEvent", NEED_CONTEXT);
    CUresult result;
    struct stream *s = stream_resolve(handle, &result);
    struct event *e = object_get(OBJECT_EVENT, event);
    if (!s || !e || flags)
        return s ? refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no event", (unsigned long long)event) : result;
    if (!e->stream)
        return CUDA_SUCCESS;
    struct operation *o = operation_new(NULL);
    o->wait_for = e->stream;
    o->wait_ticket = e->ticket;
    stream_enqueue(s, o);
    return CUDA_SUCCESS;
}

API cuEventCreate(uint64_t *out, unsigned flags) {
    ENTER("cuEventCreate", NEED_CONTEXT);
    if (flags & ~7u || (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
        return refuse(CUDA_ERROR_INVALID_VALUE, "flags %u", flags);
    pthread_mutex_lock(&stream_mutex);
    struct event *e = spare_events;
    if (e)
        spare_events = e->next;
    else
        e = calloc(1, sizeof *e);
    e->flags = flags;
    e->stream = NULL;
    e->generation++;
    e->context = context_current();
    pthread_mutex_unlock(&stream_mutex);
    *out = object_add(OBJECT_EVENT, e);
    return CUDA_SUCCESS;
}

API cuEventDestroy_v2(uint64_t handle) {
    ENTER("cuEventDestroy", NEED_CONTEXT);
    struct event *e = object_get(OBJECT_EVENT, handle);
    if (!e)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no event", (unsigned long long)handle);
    object_remove(handle);
    pthread_mutex_lock(&stream_mutex);
    e->next = spare_events;
    spare_events = e;
    pthread_mutex_unlock(&stream_mutex);
    return CUDA_SUCCESS;
}

static void record(struct operation *o) {
    pthread_mutex_lock(&stream_mutex);
    if (o->record.event->generation == o->record.generation)
        o->record.event->time = now_ns();
    pthread_mutex_unlock(&stream_mutex);
}

API cuEventRecord(uint64_t handle, uint64_t stream) {
    ENTER("cuEventRecord", NEED_CONTEXT);
    CUresult result;
    struct event *e = object_get(OBJECT_EVENT, handle);
    struct stream *s = stream_resolve(stream, &result);
    if (!s)
        return result;
    if (!e || e->context != context_current())
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no event of the current context", (unsigned long long)handle);
    struct operation *o = operation_new(record);
    pthread_mutex_lock(&stream_mutex);
    o->record.event = e;
    o->record.generation = ++e->generation;
    pthread_mutex_unlock(&stream_mutex);
    stream_enqueue(s, o);
    e->stream = s;
    e->ticket = newest_ticket(s);
    return CUDA_SUCCESS;
}

API cuEventSynchronize(uint64_t handle) {
    ENTER("cuEventSynchronize", NEED_CONTEXT);
    struct context *c = context_current();
    struct event *e = object_get(OBJECT_EVENT, handle);
    if (!e)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no event", (unsigned long long)handle);
    if (e->stream)
        wait_ticket(&call, e->stream, e->ticket);
    return c->sticky;
}

API cuEventQuery(uint64_t handle) {
    ENTER("cuEventQuery", NEED_CONTEXT);
    struct event *e = object_get(OBJECT_EVENT, handle);
    if (!e)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%#llx is no event", (unsigned long long)handle);
    return !e->stream || stream_done(e->stream, e->ticket) ? context_current()->sticky : CUDA_ERROR_NOT_READY;
}

static CUresult elapsed(float *ms, uint64_t start, uint64_t end) {
    struct event *a = object_get(OBJECT_EVENT, start), *b = object_get(OBJECT_EVENT, end);
    if (!a || !b || !a->stream || !b->stream || (a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "an event was not recorded, or does not keep time");
    if (!stream_done(a->stream, a->ticket) || !stream_done(b->stream, b->ticket))
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((double)(int64_t)(b->time - a->time) / 1e6);
    return CUDA_SUCCESS;
}

API cuEventElapsedTime(float *ms, uint64_t start, uint64_t end) {
    ENTER("cuEventElapsedTime", NEED_CONTEXT);
    return elapsed(ms, start, end);
}

API cuEventElapsedTime_v2(float *ms, uint64_t start, uint64_t end) {
    ENTER("cuEventElapsedTime", NEED_CONTEXT);
    return elapsed(ms, start, end);
}
