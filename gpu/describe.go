package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"gpushare-bench/cuda"
	"gpushare-bench/nvml"
	"gpushare-bench/share"
)

// openLibrary loads the driver. What stands in the way of using CUDA at all is a share.Unsupported.
func openLibrary() (*cuda.Lib, error) {
	lib, err := cuda.Open(os.Getenv(LibraryVariable))
	if err == nil {
		return lib, nil
	}
	var init *cuda.InitError
	if errors.Is(err, cuda.ErrNoDriver) || errors.As(err, &init) {
		return nil, &share.Unsupported{Op: "use CUDA", Answer: err}
	}
	return nil, err
}

// NVMLVariable is the environment variable that names another library than libnvidia-ml.so.1.
const NVMLVariable = "GPUSHARE_LIBNVML"

// openNVML loads NVML. It is nil where there is none, and beside an emulated driver that has no NVML of its own.
func openNVML(lib *cuda.Lib) *nvml.Lib {
	path := os.Getenv(NVMLVariable)
	if emulated, _ := lib.Emulated(); emulated && path == "" {
		return nil
	}
	m, err := nvml.Open(path)
	if err != nil {
		return nil
	}
	return m
}

// ordinalOf finds the GPU with a UUID among those that this process can see.
func ordinalOf(lib *cuda.Lib, id string) (cuda.Device, error) {
	n, err := lib.DeviceCount()
	if err != nil {
		return 0, err
	}
	var seen []string
	for i := range n {
		dev, err := lib.DeviceGet(i)
		if err != nil {
			return 0, err
		}
		have, err := lib.DeviceID(dev)
		if err != nil {
			return 0, err
		}
		if have == id {
			return dev, nil
		}
		seen = append(seen, have)
	}
	return 0, &share.Unsupported{Op: "find GPU " + id,
		Hint: fmt.Sprintf("this process sees %d GPU(s) %v; CUDA_VISIBLE_DEVICES is %q: give both processes the GPUs of both ends", n, seen, os.Getenv("CUDA_VISIBLE_DEVICES"))}
}

// Describe finds the GPUs and how they are linked. Readings that NVML lacks are absent.
func (Backend) Describe(context.Context) (share.Inventory, error) {
	var inv share.Inventory
	lib, err := openLibrary()
	if err != nil {
		return inv, err
	}
	n, err := lib.DeviceCount()
	if err != nil {
		return inv, err
	}
	if n == 0 {
		return inv, &share.Unsupported{Op: "find GPUs", Answer: cuda.ErrorNoDevice, Hint: fmt.Sprintf("CUDA_VISIBLE_DEVICES is %q", os.Getenv("CUDA_VISIBLE_DEVICES"))}
	}
	inv.Details = map[string]string{"cuda_driver_version": lib.DriverVersion().String(), "cuda_library": lib.Path(),
		"cuda_visible_devices": os.Getenv("CUDA_VISIBLE_DEVICES"), "cuda_device_order": os.Getenv("CUDA_DEVICE_ORDER")}
	if _, machine := lib.Emulated(); machine != "" {
		inv.Emulated = machine
	}
	describeModule(inv.Details)
	manager := openNVML(lib)
	if manager != nil {
		inv.Details["driver_version"] = manager.DriverVersion()
	}
	devs := make([]cuda.Device, n)
	managed := make([]*nvml.Device, n)
	for i := range n {
		if devs[i], err = lib.DeviceGet(i); err != nil {
			return inv, err
		}
		info, err := describeDevice(lib, devs[i], i)
		if err != nil {
			return inv, err
		}
		if manager != nil {
			managed[i], _ = manager.DeviceByUUID(info.ID) // without it NVML's readings are absent
		}
		describeManaged(managed[i], &info)
		inv.Devices = append(inv.Devices, info)
	}
	for i := range n {
		for j := range n {
			inv.Links = append(inv.Links, describeLink(lib, devs, managed, inv.Devices, i, j))
		}
	}
	return inv, nil
}

// describeModule records the version and kind (open, proprietary) of the driver's kernel module.
func describeModule(details map[string]string) {
	f, err := os.Open("/proc/driver/nvidia/version")
	if err != nil {
		return
	}
	defer f.Close()
	if m, err := nvml.ParseKernelModule(f); err == nil {
		details["kernel_module"] = m.Kind()
		details["kernel_module_version"] = m.Version
	}
}

// describeDevice asks the driver about a GPU.
func describeDevice(lib *cuda.Lib, dev cuda.Device, index int) (share.DeviceInfo, error) {
	info := share.DeviceInfo{Backend: "cuda", Index: index, Details: map[string]string{}}
	var err error
	if info.ID, err = lib.DeviceID(dev); err != nil {
		return info, err
	}
	if info.Name, err = lib.DeviceName(dev); err != nil {
		return info, err
	}
	if info.MemoryBytes, err = lib.DeviceTotalMem(dev); err != nil {
		return info, err
	}
	info.FreeBytes = info.MemoryBytes
	info.PCI, _ = lib.DevicePCI(dev) // a GPU without an address has none to show
	attr := func(a cuda.DeviceAttribute) int {
		v, err := lib.DeviceAttribute(a, dev)
		if err != nil {
			return 0
		}
		return v
	}
	info.CacheBytes = int64(attr(cuda.AttributeL2CacheSize))
	// Double data rate: two transfers a clock. Memory clock in kHz, bus width in bits.
	info.PeakBytes = 2 * 1000 * float64(attr(cuda.AttributeMemoryClockRate)) * float64(attr(cuda.AttributeGlobalMemoryBusWidth)) / 8
	info.Details["compute_capability"] = fmt.Sprintf("%d.%d", attr(cuda.AttributeComputeCapabilityMajor), attr(cuda.AttributeComputeCapabilityMinor))
	info.Details["multiprocessors"] = strconv.Itoa(attr(cuda.AttributeMultiprocessorCount))
	info.Details["compute_mode"] = cuda.ComputeMode(attr(cuda.AttributeComputeMode)).String()
	for name, a := range advertised {
		if v, err := lib.DeviceAttribute(a, dev); err == nil {
			info.Details["attribute_"+name] = strconv.Itoa(v)
		}
	}
	return info, nil
}

// advertised are the attributes that claim to say what can be shared. They are recorded beside what the trials found.
var advertised = map[string]cuda.DeviceAttribute{
	"dma_buf": cuda.AttributeDMABuf, "host_alloc_dma_buf": cuda.AttributeHostAllocDMABuf,
	"virtual_memory_management": cuda.AttributeVirtualMemoryManagement, "posix_fd": cuda.AttributeHandleTypePosixFD,
	"fabric": cuda.AttributeHandleTypeFabric, "mempool_handle_types": cuda.AttributeMempoolHandleTypes,
	"gpu_direct_rdma": cuda.AttributeGPUDirectRDMA, "gpu_direct_rdma_vmm": cuda.AttributeGPUDirectRDMAWithVMM,
	"host_numa_vmm": cuda.AttributeHostNUMAVirtualMemoryManagement, "ipc_event": cuda.AttributeIPCEvent,
}

// describeManaged adds what NVML knows. m may be nil.
func describeManaged(m *nvml.Device, info *share.DeviceInfo) {
	if m == nil {
		return
	}
	i := m.Info()
	info.NUMANode, info.CPUs = i.NUMANode, i.CPUs
	put := func(name string, v *int64) {
		if v != nil {
			info.Details[name] = strconv.FormatInt(*v, 10)
		}
	}
	flag := func(name string, v *bool) {
		if v != nil {
			info.Details[name] = strconv.FormatBool(*v)
		}
	}
	put("sm_clock_max_hz", i.SMClockMaxHz)
	put("memory_clock_max_hz", i.MemoryClockMaxHz)
	put("power_limit_mw", i.PowerLimitMilliW)
	put("bar1_bytes", i.BAR1TotalBytes)
	put("pcie_generation_max", i.PCIeGenerationMax)
	put("pcie_width_max", i.PCIeWidthMax)
	flag("ecc", i.ECC)
	flag("mig", i.MIG)
	flag("persistence", i.Persistence)
	s := m.State()
	put("pcie_generation", s.PCIeGeneration)
	put("pcie_width", s.PCIeWidth)
	if s.MemoryFreeBytes != nil {
		info.FreeBytes = min(info.FreeBytes, *s.MemoryFreeBytes)
	}
	if s.MemoryUsedBytes != nil {
		put("memory_used_bytes", s.MemoryUsedBytes)
	}
}

// describeLink says how the consumer j reaches the memory of the producer i.
func describeLink(lib *cuda.Lib, devs []cuda.Device, managed []*nvml.Device, infos []share.DeviceInfo, i, j int) share.Link {
	l := share.Link{Producer: infos[i].ID, Consumer: infos[j].ID, Class: "same"}
	if i == j {
		return l
	}
	l.Class = nvml.LinkClass(managed[i], managed[j])
	if peer, err := lib.DeviceCanAccessPeer(devs[j], devs[i]); err == nil {
		l.Peer = &peer
	}
	return l
}

// readNVML copies NVML's readings of a device. OtherPIDs are all processes on it, this one too.
func readNVML(m *nvml.Device, s *share.DeviceState) {
	st := m.State()
	s.SMClockHz, s.MemoryClockHz, s.TemperatureC, s.PowerMilliW = st.SMClockHz, st.MemoryClockHz, st.TemperatureC, st.PowerMilliW
	if st.Reasons != nil {
		s.Throttle = (*st.Reasons &^ nvml.ReasonGPUIdle).Names()
	}
	if st.PIDs != nil {
		// This process among them: only the runner, which knows all of its workers, can tell which are others.
		s.OtherPIDs = slices.Clone(st.PIDs)
	}
}
