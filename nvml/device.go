package nvml

import (
	"fmt"
	"structs"
	"unsafe"
)

// A Device is a GPU or a MIG instance. A nil Device answers no question.
type Device struct {
	lib    *Lib
	handle uintptr // nvmlDevice_t
}

// Info is what does not change while a program measures. A nil field, an empty
// text or a nil list could not be read.
type Info struct {
	Name string // nvmlDeviceGetName: "NVIDIA H200"
	UUID string // nvmlDeviceGetUUID: "GPU-4be0a5a3-…"
	PCI  string // nvmlDeviceGetPciInfo_v3: "00000000:0F:00.0"

	SMClockMaxHz     *int64 // nvmlDeviceGetMaxClockInfo
	MemoryClockMaxHz *int64 // nvmlDeviceGetMaxClockInfo
	PowerLimitMilliW *int64 // nvmlDeviceGetEnforcedPowerLimit: the lowest of all limits

	ECC         *bool  // nvmlDeviceGetEccMode, current
	MIG         *bool  // nvmlDeviceGetMigMode, current
	Persistence *bool  // nvmlDeviceGetPersistenceMode
	ComputeMode string // nvmlDeviceGetComputeMode: "Default", "Prohibited", "Exclusive_Process"

	BAR1TotalBytes   *int64 // nvmlDeviceGetBAR1MemoryInfo
	MemoryTotalBytes *int64 // nvmlDeviceGetMemoryInfo

	PCIeGenerationMax *int64 // nvmlDeviceGetMaxPcieLinkGeneration, of device and system
	PCIeWidthMax      *int64 // nvmlDeviceGetMaxPcieLinkWidth, lanes

	CPUs     []int // nvmlDeviceGetCpuAffinity: processors near the device, ascending
	NUMANode *int  // nvmlDeviceGetMemoryAffinity: the node near the device, if it is one
}

// State is what changes while a program measures. A nil field or list could not
// be read.
type State struct {
	SMClockHz     *int64              // nvmlDeviceGetClockInfo
	MemoryClockHz *int64              // nvmlDeviceGetClockInfo
	TemperatureC  *int64              // nvmlDeviceGetTemperature, of the die
	PowerMilliW   *int64              // nvmlDeviceGetPowerUsage
	Reasons       *ClocksEventReasons // nvmlDeviceGetCurrentClocksEventReasons

	// PCIeGeneration and PCIeWidth (lanes) are of the link as it is now; an idle
	// GPU slows its link down (nvmlDeviceGetCurrPcieLinkGeneration, …Width).
	PCIeGeneration, PCIeWidth *int64

	MemoryUsedBytes *int64 // nvmlDeviceGetMemoryInfo, with what the driver keeps for itself
	MemoryFreeBytes *int64 // nvmlDeviceGetMemoryInfo
	BAR1UsedBytes   *int64 // nvmlDeviceGetBAR1MemoryInfo

	// PIDs are the processes with a compute context on the device
	// (nvmlDeviceGetComputeRunningProcesses), the caller's own among them; empty
	// but not nil when there are none. In a container they can be numbers of the
	// host's, or be missing.
	PIDs []int
}

// nvmlClockType_t and nvmlTemperatureSensors_t.
const (
	clockSM        = 1
	clockMemory    = 2
	temperatureGPU = 0
)

// Info reads what does not change.
func (d *Device) Info() Info {
	i := Info{
		Name:              d.text(nvmlDeviceGetName),
		UUID:              d.text(nvmlDeviceGetUUID),
		SMClockMaxHz:      scale(d.number1(nvmlDeviceGetMaxClockInfo, clockSM), 1e6),
		MemoryClockMaxHz:  scale(d.number1(nvmlDeviceGetMaxClockInfo, clockMemory), 1e6),
		PowerLimitMilliW:  d.number(nvmlDeviceGetEnforcedPowerLimit),
		ECC:               d.mode(nvmlDeviceGetEccMode),
		MIG:               d.mode(nvmlDeviceGetMigMode),
		Persistence:       boolean(d.number(nvmlDeviceGetPersistenceMode)),
		PCIeGenerationMax: d.number(nvmlDeviceGetMaxPcieLinkGeneration),
		PCIeWidthMax:      d.number(nvmlDeviceGetMaxPcieLinkWidth),
	}
	if pci, ok := d.pci(); ok {
		i.PCI = cString(pci.busID[:])
	}
	if mode := d.number(nvmlDeviceGetComputeMode); mode != nil {
		i.ComputeMode = computeMode(*mode)
	}
	if m := d.memory(nvmlDeviceGetBAR1MemoryInfo); m != nil {
		i.BAR1TotalBytes = ptr(int64(m.total))
	}
	if m := d.memory(nvmlDeviceGetMemoryInfo); m != nil {
		i.MemoryTotalBytes = ptr(int64(m.total))
	}
	i.CPUs = d.cpus()
	if nodes := d.nodes(); len(nodes) == 1 {
		i.NUMANode = &nodes[0]
	}
	return i
}

// State reads what changes. It takes some tens of microseconds to a few
// milliseconds and must stay outside of what is timed.
func (d *Device) State() State {
	s := State{
		SMClockHz:      scale(d.number1(nvmlDeviceGetClockInfo, clockSM), 1e6),
		MemoryClockHz:  scale(d.number1(nvmlDeviceGetClockInfo, clockMemory), 1e6),
		TemperatureC:   d.number1(nvmlDeviceGetTemperature, temperatureGPU),
		PowerMilliW:    d.number(nvmlDeviceGetPowerUsage),
		PCIeGeneration: d.number(nvmlDeviceGetCurrPcieLinkGeneration),
		PCIeWidth:      d.number(nvmlDeviceGetCurrPcieLinkWidth),
		PIDs:           d.processes(),
	}
	var reasons uint64
	if d.call(nvmlDeviceGetCurrentClocksEventReasons, uintptr(unsafe.Pointer(&reasons))) == success {
		s.Reasons = ptr(ClocksEventReasons(reasons))
	}
	if m := d.memory(nvmlDeviceGetMemoryInfo); m != nil {
		s.MemoryUsedBytes, s.MemoryFreeBytes = ptr(int64(m.used)), ptr(int64(m.free))
	}
	if m := d.memory(nvmlDeviceGetBAR1MemoryInfo); m != nil {
		s.BAR1UsedBytes = ptr(int64(m.used))
	}
	return s
}

// call calls a function whose first argument is the device.
//
//go:uintptrescapes
func (d *Device) call(f fn, args ...uintptr) Return {
	if d == nil {
		return ErrorUninitialized
	}
	return d.lib.call(f, append([]uintptr{d.handle}, args...)...)
}

// number calls f(device, unsigned *).
func (d *Device) number(f fn) *int64 {
	var v uint32
	if d.call(f, uintptr(unsafe.Pointer(&v))) != success {
		return nil
	}
	return ptr(int64(v))
}

// number1 calls f(device, which, unsigned *).
func (d *Device) number1(f fn, which uintptr) *int64 {
	var v uint32
	if d.call(f, which, uintptr(unsafe.Pointer(&v))) != success {
		return nil
	}
	return ptr(int64(v))
}

// mode calls f(device, current *, pending *) and returns the current state.
func (d *Device) mode(f fn) *bool {
	var current, pending uint32
	if d.call(f, uintptr(unsafe.Pointer(&current)), uintptr(unsafe.Pointer(&pending))) != success {
		return nil
	}
	return ptr(current != 0)
}

// text calls f(device, char *, length).
func (d *Device) text(f fn) string {
	var text [96]byte
	if d.call(f, uintptr(unsafe.Pointer(&text)), uintptr(len(text))) != success {
		return ""
	}
	return cString(text[:])
}

// memoryInfo is nvmlMemory_t and nvmlBAR1Memory_t: bytes.
type memoryInfo struct {
	_                 structs.HostLayout
	total, free, used uint64
}

func (d *Device) memory(f fn) *memoryInfo {
	m := new(memoryInfo)
	if d.call(f, uintptr(unsafe.Pointer(m))) != success {
		return nil
	}
	return m
}

// processInfo is nvmlProcessInfo_t, versions 2 and 3.
type processInfo struct {
	_                 structs.HostLayout
	pid               uint32
	usedGPUMemory     uint64
	gpuInstanceID     uint32
	computeInstanceID uint32
}

func (d *Device) processes() []int {
	// Processes may start between two calls: leave room, and try again a few times.
	for size := 32; size <= 32<<10; size *= 4 {
		infos := make([]processInfo, size)
		n := uint32(size)
		switch d.call(nvmlDeviceGetComputeRunningProcesses, uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(unsafe.SliceData(infos)))) {
		case success:
			pids := make([]int, 0, n)
			for _, info := range infos[:min(int(n), size)] {
				pids = append(pids, int(info.pid))
			}
			return pids
		case ErrorInsufficientSize:
			continue
		default:
			return nil
		}
	}
	return nil
}

// bitWords is the size of the sets that NVML fills: 4096 processors or nodes.
const bitWords = 64

func (d *Device) cpus() []int {
	var set [bitWords]uint64
	if d.call(nvmlDeviceGetCpuAffinity, bitWords, uintptr(unsafe.Pointer(&set))) != success {
		return nil
	}
	return bits(set)
}

func (d *Device) nodes() []int {
	const scopeNode = 0 // NVML_AFFINITY_SCOPE_NODE
	var set [bitWords]uint64
	if d.call(nvmlDeviceGetMemoryAffinity, bitWords, uintptr(unsafe.Pointer(&set)), scopeNode) != success {
		return nil
	}
	return bits(set)
}

// bits returns the numbers of the bits that are set.
func bits(set [bitWords]uint64) []int {
	var numbers []int
	for i := range bitWords * 64 {
		if set[i/64]>>(i%64)&1 != 0 {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func computeMode(m int64) string {
	switch m {
	case 0:
		return "Default"
	case 2:
		return "Prohibited"
	case 3:
		return "Exclusive_Process"
	}
	return fmt.Sprintf("compute mode %d", m)
}

func ptr[T any](v T) *T { return &v }

func scale(v *int64, by int64) *int64 {
	if v == nil {
		return nil
	}
	return ptr(*v * by)
}

func boolean(v *int64) *bool {
	if v == nil {
		return nil
	}
	return ptr(*v != 0)
}
