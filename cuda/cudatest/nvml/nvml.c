// The emulated management library: identity and topology of the machine's
// devices, by the names of libnvidia-ml.so.1. Clocks, power, temperature and
// other readings of a card are not there, for they would be made up.
//
// Any two devices have the machine's number of NVLinks, through switches.
// Without NVLinks, two devices that follow each other (0 and 1, 2 and 3) are
// behind one PCIe switch, others of a NUMA node meet there, the rest do not.
#include "../driver/emulated.h"

#include <strings.h>

#define NVML __attribute__((visibility("default"))) int

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9,
       LIBRARY_MISMATCH = 18 };
enum { LEVEL_SINGLE = 10, LEVEL_NODE = 40, LEVEL_SYSTEM = 50 };
enum { LINK_TO_SWITCH = 2 };
enum { HOST_NUMA_ID = 134, MAX_LINKS = 18 };

struct pci_info {
    char legacy[16];
    uint32_t domain, bus, device, device_id, subsystem_id;
    char id[32];
};
static_assert(sizeof(struct pci_info) == 68, "nvmlPciInfo_t");

__attribute__((constructor)) static void load(void) { machine_load(); }

NVML nvmlInit_v2(void) {
    if (machine.init == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
        return LIBRARY_MISMATCH;
    return machine.count ? SUCCESS : DRIVER_NOT_LOADED;
}

NVML nvmlShutdown(void) { return SUCCESS; }

static int text(char *out, unsigned length, const char *value) {
    if (strlen(value) >= length)
        return INSUFFICIENT_SIZE;
    memcpy(out, value, strlen(value) + 1);
    return SUCCESS;
}

NVML nvmlSystemGetDriverVersion(char *out, unsigned length) {
    return machine.package[0] ? text(out, length, machine.package) : UNINITIALIZED;
}

NVML nvmlDeviceGetCount_v2(unsigned *count) {
    *count = (unsigned)machine.count;
    return SUCCESS;
}

NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **out) {
    if (index >= (unsigned)machine.count)
        return INVALID_ARGUMENT;
    *out = &machine.devices[index];
    return SUCCESS;
}

NVML nvmlDeviceGetHandleByUUID(const char *uuid, struct device **out) {
    for (int i = 0; i < machine.count; i++) {
        char own[48];
        device_uuid(&machine.devices[i], own);
        if (strcasecmp(own, uuid))
            continue;
        *out = &machine.devices[i];
        return SUCCESS;
    }
    return NOT_FOUND;
}

static void address(const char *id, unsigned out[3]) {
    out[0] = out[1] = out[2] = 0;
    sscanf(id, "%x:%x:%x", &out[0], &out[1], &out[2]);
}

NVML nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct device **out) {
    unsigned want[3], have[3];
    address(id, want);
    for (int i = 0; i < machine.count; i++) {
        address(machine.devices[i].pci, have);
        if (memcmp(want, have, sizeof want))
            continue;
        *out = &machine.devices[i];
        return SUCCESS;
    }
    return NOT_FOUND;
}

NVML nvmlDeviceGetName(struct device *d, char *out, unsigned length) { return text(out, length, d->name); }

NVML nvmlDeviceGetUUID(struct device *d, char *out, unsigned length) {
    char uuid[48];
    device_uuid(d, uuid);
    return text(out, length, uuid);
}

NVML nvmlDeviceGetPciInfo_v3(struct device *d, struct pci_info *out) {
    unsigned a[3];
    address(d->pci, a);
    memset(out, 0, sizeof *out);
    out->domain = a[0];
    out->bus = a[1];
    out->device = a[2];
    snprintf(out->id, sizeof out->id, "%08X:%02X:%02X.0", a[0], a[1], a[2]);
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", a[0] & 0xffff, a[1] & 0xff, a[2] & 0xff);
    return SUCCESS;
}

NVML nvmlDeviceGetComputeMode(struct device *d, int *mode) {
    *mode = d->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE];
    return SUCCESS;
}

NVML nvmlDeviceGetMigMode(struct device *d, unsigned *current, unsigned *pending) {
    *current = *pending = d->mig;
    return SUCCESS;
}

NVML nvmlDeviceGetMemoryAffinity(struct device *d, unsigned words, unsigned long *set, int scope) {
    (void)scope;
    memset(set, 0, words * sizeof *set);
    set[0] = 1ul << d->attributes[HOST_NUMA_ID];
    return SUCCESS;
}

NVML nvmlDeviceGetTopologyCommonAncestor(struct device *a, struct device *b, int *level) {
    if (a->attributes[HOST_NUMA_ID] != b->attributes[HOST_NUMA_ID])
        *level = LEVEL_SYSTEM;
    else
        *level = a->index / 2 == b->index / 2 ? LEVEL_SINGLE : LEVEL_NODE;
    return SUCCESS;
}

NVML nvmlDeviceGetNvLinkState(struct device *d, unsigned link, unsigned *active) {
    (void)d;
    if (link >= MAX_LINKS)
        return INVALID_ARGUMENT;
    *active = link < (unsigned)machine.nvlinks;
    return SUCCESS;
}

NVML nvmlDeviceGetNvLinkRemoteDeviceType(struct device *d, unsigned link, int *kind) {
    (void)d;
    if (link >= (unsigned)machine.nvlinks)
        return INVALID_ARGUMENT;
    *kind = LINK_TO_SWITCH;
    return SUCCESS;
}

NVML nvmlDeviceGetP2PStatus(struct device *a, struct device *b, int capability, int *status) {
    (void)capability;
    *status = peer_possible(a->index, b->index) ? 0 : 1; // OK, CHIPSET_NOT_SUPPORTED
    return SUCCESS;
}
