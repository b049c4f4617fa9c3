// The machine: read from the line-based file that GPUSHARE_EMULATED_MACHINE
// names. A line is a keyword and its values; a "device" line opens a device and
// the lines after it describe it. Unknown keywords stop the program, so that a
// misspelt machine is not silently a different one.
#define _GNU_SOURCE
#include "emulated.h"

#include <ctype.h>
#include <strings.h>

enum { MAX_ANSWERS = 256 };

struct machine machine;

static struct {
    char what[96];
    CUresult result;
} answers[MAX_ANSWERS];
static int answer_count;

static void stop(const char *message, const char *detail) {
    fprintf(stderr, "emulated CUDA driver: %s: %s\n", message, detail);
    exit(97);
}

static CUresult named(const char *name) {
    CUresult r = result_by_name(name, (CUresult)-1);
    if (r == (CUresult)-1)
        stop("unknown result", name);
    return r;
}

static void parse_uuid(const char *text, uint8_t *out) {
    int digits = 0;
    for (const char *p = strchr(text, '-'); p && *p && digits < 32; p++) {
        if (!isxdigit((unsigned char)*p))
            continue;
        int value = isdigit((unsigned char)*p) ? *p - '0' : tolower((unsigned char)*p) - 'a' + 10;
        out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | value);
        digits++;
    }
    if (digits != 32)
        stop("a UUID needs 32 hexadecimal digits", text);
}

static void parse_device(struct device *d, const char *key, char *value) {
    int attribute, number;
    if (!strcmp(key, "name"))
        snprintf(d->name, sizeof d->name, "%s", value);
    else if (!strcmp(key, "uuid")) {
        parse_uuid(value, d->uuid);
        d->mig = !strncmp(value, "MIG-", 4);
    } else if (!strcmp(key, "pci"))
        snprintf(d->pci, sizeof d->pci, "%s", value);
    else if (!strcmp(key, "memory"))
        d->memory = strtoull(value, NULL, 10);
    else if (!strcmp(key, "speed"))
        d->speed = atoi(value);
    else if (!strcmp(key, "attribute") && sscanf(value, "%d %d", &attribute, &number) == 2 && attribute >= 0 &&
             attribute < MAX_ATTRIBUTES)
        d->attributes[attribute] = number;
    else
        stop("unknown line for a device", key);
}

static void parse_machine(const char *key, char *value) {
    char what[96], result[64];
    int from, to;
    if (!strcmp(key, "machine"))
        snprintf(machine.name, sizeof machine.name, "%s", value);
    else if (!strcmp(key, "driver"))
        machine.driver_version = atoi(value);
    else if (!strcmp(key, "init"))
        machine.init = named(value);
    else if (!strcmp(key, "granularity"))
        machine.granularity = strtoull(value, NULL, 10);
    else if (!strcmp(key, "numa-nodes"))
        machine.numa_nodes = atoi(value);
    else if (!strcmp(key, "nvlinks"))
        machine.nvlinks = atoi(value);
    else if (!strcmp(key, "package"))
        snprintf(machine.package, sizeof machine.package, "%s", value);
    else if (!strcmp(key, "dmabuf-memfd"))
        machine.dmabuf_memfd = atoi(value) != 0;
    else if (!strcmp(key, "dmabuf-mmap"))
        machine.dmabuf_mmap = atoi(value) != 0;
    else if (!strcmp(key, "peer") && sscanf(value, "%d %d", &from, &to) == 2 && from >= 0 && from < MAX_DEVICES &&
             to >= 0 && to < MAX_DEVICES)
        machine.peer[from][to] = true;
    else if (!strcmp(key, "answer") && sscanf(value, "%95s %63s", what, result) == 2 && answer_count < MAX_ANSWERS) {
        snprintf(answers[answer_count].what, sizeof answers[0].what, "%s", what);
        answers[answer_count++].result = named(result);
    } else
        stop("unknown line", key);
}

static int compare_pci(const void *a, const void *b) {
    return strcmp(machine.devices[*(const int *)a].pci, machine.devices[*(const int *)b].pci);
}

static int compare_speed(const void *a, const void *b) {
    const struct device *x = &machine.devices[*(const int *)a], *y = &machine.devices[*(const int *)b];
    return x->speed != y->speed ? y->speed - x->speed : x->index - y->index;
}

void device_uuid(const struct device *d, char out[48]) {
    const uint8_t *u = d->uuid;
    snprintf(out, 48, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", d->mig ? "MIG" : "GPU",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

// CUDA_VISIBLE_DEVICES: ordinals, or UUIDs cut short as long as they are
// unambiguous. The first entry that names nothing ends the list.
static void choose_visible(const int *order) {
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) {
        machine.visible_count = machine.count;
        memcpy(machine.visible, order, sizeof machine.visible);
        return;
    }
    char copy[1024], *rest = copy, *entry;
    snprintf(copy, sizeof copy, "%s", list);
    while ((entry = strsep(&rest, ",")) && machine.visible_count < MAX_DEVICES) {
        while (*entry == ' ')
            entry++;
        int chosen = -1;
        if (isdigit((unsigned char)*entry)) {
            int ordinal = atoi(entry);
            if (ordinal < machine.count)
                chosen = order[ordinal];
        } else if (*entry != '\0') {
            for (int i = 0; i < machine.count; i++) {
                char uuid[48];
                device_uuid(&machine.devices[i], uuid);
                if (strncasecmp(uuid, entry, strlen(entry)))
                    continue;
                if (chosen >= 0) {
                    chosen = -1;
                    break;
                }
                chosen = i;
            }
        }
        if (chosen < 0)
            return;
        machine.visible[machine.visible_count++] = chosen;
    }
}

void machine_load(void) {
    const char *path = getenv("GPUSHARE_EMULATED_MACHINE");
    if (!path)
        stop("GPUSHARE_EMULATED_MACHINE is not set", "it names the file that describes the machine");
    FILE *f = fopen(path, "re");
    if (!f)
        stop("cannot open the machine's file", path);
    machine.granularity = 2 << 20;
    machine.numa_nodes = 1;
    char line[512];
    struct device *d = NULL;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = line, *key = strsep(&value, " ");
        if (*key == '\0' || *key == '#')
            continue;
        if (!value)
            value = key + strlen(key);
        if (!strcmp(key, "device")) {
            if (machine.count == MAX_DEVICES)
                stop("too many devices", path);
            d = &machine.devices[machine.count];
            d->index = machine.count++;
        } else if (d)
            parse_device(d, key, value);
        else
            parse_machine(key, value);
    }
    fclose(f);
    for (int i = 0; i < machine.count; i++) {
        unsigned domain = 0, bus = 0, slot = 0;
        sscanf(machine.devices[i].pci, "%x:%x:%x", &domain, &bus, &slot);
        machine.devices[i].attributes[CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID] = (int)domain;
        machine.devices[i].attributes[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = (int)bus;
        machine.devices[i].attributes[CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID] = (int)slot;
    }
    int order[MAX_DEVICES];
    for (int i = 0; i < MAX_DEVICES; i++)
        order[i] = i;
    const char *by = getenv("CUDA_DEVICE_ORDER");
    qsort(order, (size_t)machine.count, sizeof order[0], by && !strcmp(by, "PCI_BUS_ID") ? compare_pci : compare_speed);
    choose_visible(order);
    if (machine.init == CUDA_SUCCESS && machine.visible_count == 0)
        machine.init = CUDA_ERROR_NO_DEVICE;
}

struct device *device_at(CUdevice ordinal) {
    if (ordinal < 0 || ordinal >= machine.visible_count)
        return NULL;
    return &machine.devices[machine.visible[ordinal]];
}

int device_ordinal(int index) {
    for (int i = 0; i < machine.visible_count; i++)
        if (machine.visible[i] == index)
            return i;
    return -1;
}

bool peer_possible(int from_index, int to_index) {
    return from_index == to_index || machine.peer[from_index][to_index];
}

CUresult answer(CUresult otherwise, const char *format, ...) {
    char what[96];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    for (int i = 0; i < answer_count; i++)
        if (!strcmp(answers[i].what, what))
            return answers[i].result;
    return otherwise;
}
