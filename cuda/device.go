package cuda

import (
	"fmt"
	"strings"
	"unsafe"
)

// Device is a CUdevice: a GPU, or a MIG instance, in this process's order,
// which CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER decide. Across processes a
// device is known by its [UUID], which is also how errors name it.
type Device int32

// String gives "device 0".
func (d Device) String() string { return fmt.Sprintf("device %d", int32(d)) }

// UUID identifies a GPU or a MIG instance on any machine and in any process.
type UUID [16]byte

// String gives the form of nvidia-smi -L and CUDA_VISIBLE_DEVICES for a whole
// GPU, "GPU-4be0a5a3-…". See [Lib.DeviceID] for MIG instances.
func (u UUID) String() string { return "GPU-" + u.digits() }

func (u UUID) digits() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// DeviceAttribute is a CUdevice_attribute, an argument of [Lib.DeviceAttribute].
type DeviceAttribute int32

// Device attributes (CU_DEVICE_ATTRIBUTE_…). An attribute is a hint, not a
// promise: drivers answer 1 for features that the machine then refuses.
const (
	AttributeMultiprocessorCount             DeviceAttribute = 16
	AttributeIntegrated                      DeviceAttribute = 18 // shares the host's memory
	AttributeComputeMode                     DeviceAttribute = 20 // a ComputeMode
	AttributePCIBusID                        DeviceAttribute = 33
	AttributePCIDeviceID                     DeviceAttribute = 34
	AttributeMemoryClockRate                 DeviceAttribute = 36 // kHz
	AttributeGlobalMemoryBusWidth            DeviceAttribute = 37 // bits
	AttributeL2CacheSize                     DeviceAttribute = 38 // bytes
	AttributeAsyncEngineCount                DeviceAttribute = 40 // copy engines
	AttributeUnifiedAddressing               DeviceAttribute = 41
	AttributePCIDomainID                     DeviceAttribute = 50
	AttributeComputeCapabilityMajor          DeviceAttribute = 75
	AttributeComputeCapabilityMinor          DeviceAttribute = 76
	AttributePageableMemoryAccess            DeviceAttribute = 88
	AttributeVirtualMemoryManagement         DeviceAttribute = 102 // cuMemCreate and what belongs to it
	AttributeHandleTypePosixFD               DeviceAttribute = 103
	AttributeGPUDirectRDMAWithVMM            DeviceAttribute = 110
	AttributeMemoryPools                     DeviceAttribute = 115
	AttributeGPUDirectRDMA                   DeviceAttribute = 116
	AttributeGPUDirectRDMAWritesOrdering     DeviceAttribute = 118
	AttributeMempoolHandleTypes              DeviceAttribute = 119 // a HandleType
	Attribute64BitStreamMemOps               DeviceAttribute = 122
	AttributeDMABuf                          DeviceAttribute = 124
	AttributeIPCEvent                        DeviceAttribute = 125
	AttributeHandleTypeFabric                DeviceAttribute = 128
	AttributeMPSEnabled                      DeviceAttribute = 133
	AttributeHostNUMAID                      DeviceAttribute = 134 // NUMA node nearest to the device, -1 none
	AttributeHostNUMAVirtualMemoryManagement DeviceAttribute = 141
	AttributeHostVirtualMemoryManagement     DeviceAttribute = 145
	AttributeHostAllocDMABuf                 DeviceAttribute = 146
)

// ComputeMode is the value of [AttributeComputeMode].
type ComputeMode int32

// Compute modes (CU_COMPUTEMODE_…). Sharing between processes on one GPU needs
// ComputeModeDefault, or MPS.
const (
	ComputeModeDefault          ComputeMode = 0
	ComputeModeProhibited       ComputeMode = 2
	ComputeModeExclusiveProcess ComputeMode = 3
)

// String gives the name that nvidia-smi shows.
func (m ComputeMode) String() string {
	switch m {
	case ComputeModeDefault:
		return "Default"
	case ComputeModeProhibited:
		return "Prohibited"
	case ComputeModeExclusiveProcess:
		return "Exclusive_Process"
	}
	return fmt.Sprintf("compute mode %d", int32(m))
}

// P2PAttribute is a CUdevice_P2PAttribute, an argument of [Lib.DeviceP2PAttribute].
type P2PAttribute int32

// Attributes of an ordered pair of devices (CU_DEVICE_P2P_ATTRIBUTE_…).
const (
	P2PPerformanceRank       P2PAttribute = 1 // 0 is the fastest kind of link in this machine
	P2PAccessSupported       P2PAttribute = 2
	P2PNativeAtomicSupported P2PAttribute = 3
)

// DeviceCount returns the number of devices visible to the process
// (cuDeviceGetCount).
func (l *Lib) DeviceCount() (int, error) {
	var n int32
	if r := l.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n))); r != Success {
		return 0, l.fail(cuDeviceGetCount, r)
	}
	return int(n), nil
}

// DeviceGet returns the device at position ordinal, 0 to DeviceCount-1
// (cuDeviceGet).
func (l *Lib) DeviceGet(ordinal int) (Device, error) {
	var d int32
	if r := l.call(cuDeviceGet, uintptr(unsafe.Pointer(&d)), uintptr(ordinal)); r != Success {
		return 0, l.fail(cuDeviceGet, r)
	}
	return Device(d), nil
}

// DeviceName returns the device's name, "NVIDIA H200" (cuDeviceGetName).
func (l *Lib) DeviceName(d Device) (string, error) {
	var name [256]byte
	if r := l.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(d)); r != Success {
		return "", l.fail(cuDeviceGetName, r, d)
	}
	return cString(name[:]), nil
}

// DeviceUUID returns the device's UUID (cuDeviceGetUuid_v2): of a MIG instance
// its own, or its GPU's where the driver is older than CUDA 11.4 (cuDeviceGetUuid).
func (l *Lib) DeviceUUID(d Device) (UUID, error) {
	var u UUID
	if r := l.call(cuDeviceGetUuid, uintptr(unsafe.Pointer(&u)), uintptr(d)); r != Success {
		return UUID{}, l.fail(cuDeviceGetUuid, r, d)
	}
	return u, nil
}

// DeviceID returns the name by which nvidia-smi -L, NVML and
// CUDA_VISIBLE_DEVICES know the device on its machine: its UUID after "GPU-" or,
// for a MIG instance, after "MIG-". The driver tells the two apart only by the
// device's name, "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
func (l *Lib) DeviceID(d Device) (string, error) {
	u, err := l.DeviceUUID(d)
	if err != nil {
		return "", err
	}
	name, err := l.DeviceName(d)
	if err != nil {
		return "", err
	}
	if isInstance(name) {
		return "MIG-" + u.digits(), nil
	}
	return u.String(), nil
}

// isInstance reports whether a device's name is that of a MIG instance.
func isInstance(name string) bool { return strings.Contains(name, " MIG ") }

// DevicePCI returns the device's PCI address, "0000:0F:00.0" (cuDeviceGetPCIBusId).
func (l *Lib) DevicePCI(d Device) (string, error) {
	var addr [32]byte
	if r := l.call(cuDeviceGetPCIBusId, uintptr(unsafe.Pointer(&addr)), uintptr(len(addr)), uintptr(d)); r != Success {
		return "", l.fail(cuDeviceGetPCIBusId, r, d)
	}
	return cString(addr[:]), nil
}

// DeviceTotalMem returns the bytes of memory on the device (cuDeviceTotalMem_v2).
func (l *Lib) DeviceTotalMem(d Device) (int64, error) {
	var n uint64
	if r := l.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&n)), uintptr(d)); r != Success {
		return 0, l.fail(cuDeviceTotalMem, r, d)
	}
	return int64(n), nil
}

// DeviceAttribute returns one attribute of a device (cuDeviceGetAttribute). An
// attribute that the driver is too old to know is ErrorInvalidValue.
func (l *Lib) DeviceAttribute(a DeviceAttribute, d Device) (int, error) {
	var v int32
	if r := l.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(d)); r != Success {
		return 0, l.fail(cuDeviceGetAttribute, r, fmt.Sprintf("attribute %d", int32(a)), d)
	}
	return int(v), nil
}

// DeviceCanAccessPeer reports whether a context on d may enable access to the
// memory of peer (cuDeviceCanAccessPeer).
func (l *Lib) DeviceCanAccessPeer(d, peer Device) (bool, error) {
	var v int32
	if r := l.call(cuDeviceCanAccessPeer, uintptr(unsafe.Pointer(&v)), uintptr(d), uintptr(peer)); r != Success {
		return false, l.fail(cuDeviceCanAccessPeer, r, d, peerDevice(peer))
	}
	return v != 0, nil
}

// DeviceP2PAttribute returns an attribute of the link over which src accesses
// dst (cuDeviceGetP2PAttribute).
func (l *Lib) DeviceP2PAttribute(a P2PAttribute, src, dst Device) (int, error) {
	var v int32
	if r := l.call(cuDeviceGetP2PAttribute, uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(src), uintptr(dst)); r != Success {
		return 0, l.fail(cuDeviceGetP2PAttribute, r, fmt.Sprintf("attribute %d", int32(a)), src, dst)
	}
	return int(v), nil
}

// DeviceDefaultMemPool returns the pool that MemAllocAsync takes from
// (cuDeviceGetDefaultMemPool). It cannot be shared between processes.
func (l *Lib) DeviceDefaultMemPool(d Device) (MemPool, error) {
	var p MemPool
	if r := l.call(cuDeviceGetDefaultMemPool, uintptr(unsafe.Pointer(&p)), uintptr(d)); r != Success {
		return 0, l.fail(cuDeviceGetDefaultMemPool, r, d)
	}
	return p, nil
}
