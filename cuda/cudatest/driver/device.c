// The driver itself and its devices.
#include "emulated.h"

#include <strings.h>

// The name of the emulated machine. The real driver has no such symbol, so a
// program can tell that it does not measure a GPU.
__attribute__((visibility("default"))) const char *gpushareEmulated(void);
const char *gpushareEmulated(void) { return machine.name; }

__attribute__((constructor)) static void load(void) {
    machine_load();
    faults_load();
}

API cuInit(unsigned flags) {
    ENTER("cuInit", NEED_NOTHING);
    if (flags != 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
    if (machine.init != CUDA_SUCCESS)
        return machine.init;
    if (!driver_initialised)
        state_open();
    driver_initialised = true;
    return CUDA_SUCCESS;
}

API cuDriverGetVersion(int *version) {
    ENTER("cuDriverGetVersion", NEED_NOTHING);
    *version = machine.driver_version;
    return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *count) {
    ENTER("cuDeviceGetCount", NEED_INIT);
    *count = machine.visible_count;
    return CUDA_SUCCESS;
}

API cuDeviceGet(CUdevice *out, int ordinal) {
    ENTER("cuDeviceGet", NEED_INIT);
    if (!device_at(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

API cuDeviceGetName(char *name, int length, CUdevice ordinal) {
    ENTER("cuDeviceGetName", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d || length <= 0)
        return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", d->name);
    return CUDA_SUCCESS;
}

static CUresult get_uuid(uint8_t uuid[16], CUdevice ordinal) {
    struct device *d = device_at(ordinal);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid, d->uuid, sizeof d->uuid);
    return CUDA_SUCCESS;
}

API cuDeviceGetUuid(uint8_t uuid[16], CUdevice ordinal) {
    ENTER("cuDeviceGetUuid", NEED_INIT);
    return get_uuid(uuid, ordinal);
}

API cuDeviceGetUuid_v2(uint8_t uuid[16], CUdevice ordinal) {
    ENTER("cuDeviceGetUuid", NEED_INIT);
    return get_uuid(uuid, ordinal);
}

API cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
    ENTER("cuDeviceTotalMem", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = d->memory;
    return CUDA_SUCCESS;
}

API cuDeviceGetAttribute(int *value, int attribute, CUdevice ordinal) {
    ENTER("cuDeviceGetAttribute", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d || attribute <= 0 || attribute >= MAX_ATTRIBUTES)
        return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
    *value = d->attributes[attribute];
    return CUDA_SUCCESS;
}

API cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
    ENTER("cuDeviceGetPCIBusId", NEED_INIT);
    struct device *d = device_at(ordinal);
    if (!d || length <= 0)
        return d ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)length, "%s", d->pci);
    return CUDA_SUCCESS;
}

API cuDeviceGetByPCIBusId(CUdevice *out, const char *id) {
    ENTER("cuDeviceGetByPCIBusId", NEED_INIT);
    for (int i = 0; i < machine.visible_count; i++)
        if (!strcasecmp(device_at(i)->pci, id)) {
            *out = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

API cuDeviceCanAccessPeer(int *can, CUdevice from, CUdevice to) {
    ENTER("cuDeviceCanAccessPeer", NEED_INIT);
    struct device *a = device_at(from), *b = device_at(to);
    if (!a || !b)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = a != b && peer_possible(a->index, b->index);
    return CUDA_SUCCESS;
}

API cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to) {
    ENTER("cuDeviceGetP2PAttribute", NEED_INIT);
    struct device *a = device_at(from), *b = device_at(to);
    if (!a || !b || a == b)
        return CUDA_ERROR_INVALID_DEVICE;
    if (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK || attribute > CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    bool peers = peer_possible(a->index, b->index);
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ? 0 : peers;
    return CUDA_SUCCESS;
}
