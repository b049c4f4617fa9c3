// Handles: a slot number with a generation, so that a handle that was released
// is told from one that is alive.
#include "emulated.h"

struct slot {
    void *object;
    enum object_kind kind;
    uint32_t generation;
};

static struct slot *slots;
static uint32_t slot_count, slot_capacity;

static const char *const names[OBJECT_KINDS] = {
    "context", "stream", "event", "module", "function", "physical memory handle", "external memory", "memory pool",
};

const char *object_kind_name(enum object_kind kind) { return names[kind]; }

static uint64_t handle_of(uint32_t index) {
    return (uint64_t)(slots[index].kind + 1) << 48 | (uint64_t)(slots[index].generation & 0xffffff) << 24 | (index + 1);
}

uint64_t object_add(enum object_kind kind, void *object) {
    uint32_t index = 0;
    while (index < slot_count && slots[index].object)
        index++;
    if (index == slot_capacity) {
        slot_capacity = slot_capacity ? 2 * slot_capacity : 256;
        slots = realloc(slots, slot_capacity * sizeof *slots);
        memset(slots + index, 0, (slot_capacity - index) * sizeof *slots);
    }
    if (index == slot_count)
        slot_count++;
    slots[index].object = object;
    slots[index].kind = kind;
    slots[index].generation++;
    if (kind != OBJECT_CONTEXT)
        state_objects(1);
    return handle_of(index);
}

void *object_get(enum object_kind kind, uint64_t handle) {
    uint32_t index = (uint32_t)(handle & 0xffffff) - 1;
    if (index >= slot_count)
        return NULL;
    if (slots[index].object && handle_of(index) == handle && slots[index].kind == kind)
        return slots[index].object;
    if (handle >> 48 == (uint64_t)kind + 1 && (handle >> 24 & 0xffffff) <= (slots[index].generation & 0xffffff))
        violation("%s %#llx is used after its release", names[kind], (unsigned long long)handle);
    return NULL;
}

void object_remove(uint64_t handle) {
    struct slot *s = &slots[(uint32_t)(handle & 0xffffff) - 1];
    s->object = NULL;
    if (s->kind != OBJECT_CONTEXT)
        state_objects(-1);
}

void object_each(void (*visit)(enum object_kind, uint64_t, void *, void *), void *arg) {
    for (uint32_t i = 0; i < slot_count; i++)
        if (slots[i].object)
            visit(slots[i].kind, handle_of(i), slots[i].object, arg);
}
