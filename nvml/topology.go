package nvml

import (
	"fmt"
	"structs"
	"unsafe"
)

// pciInfo is nvmlPciInfo_t.
type pciInfo struct {
	_           structs.HostLayout
	busIDLegacy [16]byte
	domain      uint32
	bus         uint32
	device      uint32
	deviceID    uint32 // device and vendor
	subsystemID uint32
	busID       [32]byte
}

func (d *Device) pci() (pciInfo, bool) {
	var p pciInfo
	r := d.call(nvmlDeviceGetPciInfo, uintptr(unsafe.Pointer(&p)))
	return p, r == success
}

func (p pciInfo) same(q pciInfo) bool {
	return p.domain == q.domain && p.bus == q.bus && p.device == q.device
}

// LinkClass says how two devices are connected, in the words of nvidia-smi topo:
//
//   - "same": one device
//   - "NV6": 6 NVLinks, directly or through NVSwitch
//   - "PIX": at most one PCIe bridge
//   - "PXB": several PCIe bridges, no host bridge
//   - "PHB": through a host bridge, that is, typically, the CPU
//   - "NODE": through the links between host bridges of one NUMA node
//   - "SYS": through the links between NUMA nodes
//
// It is "" when NVML does not tell.
func LinkClass(a, b *Device) string {
	if a == nil || b == nil {
		return ""
	}
	if a.handle == b.handle {
		return "same"
	}
	if n := NVLinks(a, b); n != nil && *n > 0 {
		return fmt.Sprintf("NV%d", *n)
	}
	var level int32 // nvmlGpuTopologyLevel_t
	if a.call(nvmlDeviceGetTopologyCommonAncestor, b.handle, uintptr(unsafe.Pointer(&level))) != success {
		return ""
	}
	switch level {
	case 0, 10: // two GPUs of one board, a single switch
		return "PIX"
	case 20:
		return "PXB"
	case 30:
		return "PHB"
	case 40:
		return "NODE"
	case 50:
		return "SYS"
	}
	return ""
}

// maxLinks is more than the NVLinks of any GPU (NVML_NVLINK_MAX_LINKS is 18).
const maxLinks = 36

// nvmlIntNvLinkDeviceType_t.
const remoteSwitch = 2

// NVLinks returns the number of NVLinks between two different devices: direct
// ones, or, where both are connected to NVSwitch, as many as the device with
// fewer has. It is nil when NVML does not tell.
func NVLinks(a, b *Device) *int {
	if a == nil || b == nil {
		return nil
	}
	pciA, okA := a.pci()
	pciB, okB := b.pci()
	if !okA || !okB {
		return nil
	}
	direct, switchedA, known := a.links(pciB)
	if !known {
		return nil
	}
	if direct > 0 {
		return &direct
	}
	_, switchedB, known := b.links(pciA)
	if !known {
		return nil
	}
	n := min(switchedA, switchedB)
	if n > 0 {
		// Links to a switch connect two GPUs only if the fabric is set up so.
		const capsNVLink, statusOK = 2, 0
		var status int32
		if r := a.call(nvmlDeviceGetP2PStatus, b.handle, capsNVLink, uintptr(unsafe.Pointer(&status))); r == success && status != statusOK {
			n = 0
		}
	}
	return &n
}

// links counts the active NVLinks of d that end at the device at peer, and those
// that end at a switch.
func (d *Device) links(peer pciInfo) (direct, switched int, known bool) {
	for link := range uintptr(maxLinks) {
		var active uint32
		switch r := d.call(nvmlDeviceGetNvLinkState, link, uintptr(unsafe.Pointer(&active))); {
		case r == ErrorFunctionNotFound || r == ErrorUninitialized || r == ErrorGPUIsLost:
			return 0, 0, false
		case r == ErrorInvalidArgument: // beyond the last link
			return direct, switched, true
		case r != success || active == 0:
			continue
		}
		var kind uint32
		if d.call(nvmlDeviceGetNvLinkRemoteDeviceType, link, uintptr(unsafe.Pointer(&kind))) == success && kind == remoteSwitch {
			switched++
			continue
		}
		var remote pciInfo
		if d.call(nvmlDeviceGetNvLinkRemotePciInfo, link, uintptr(unsafe.Pointer(&remote))) == success && remote.same(peer) {
			direct++
		}
	}
	return direct, switched, true
}
