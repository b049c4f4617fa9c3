package host

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// deviceID is the ID of the one device.
const deviceID = "cpu"

// Backend offers host memory and the CPU as the device "cpu". The zero value is the machine that the process runs on.
type Backend struct {
	root string // directory that stands for /; "" is the machine itself
}

// Name is "host".
func (Backend) Name() string { return "host" }

// Allocators lists the kinds of host memory.
func (Backend) Allocators() []share.Allocator {
	return []share.Allocator{
		share.AllocatorOf("memfd", "anonymous file in memory (memfd_create), base pages", allocMemfd),
		share.AllocatorOf("memfd-huge", "anonymous file of huge pages (MFD_HUGETLB), taken from the machine's pool", allocMemfdHuge),
		share.AllocatorOf("udmabuf", "memfd turned into a dma-buf by /dev/udmabuf", allocUdmabuf),
		share.AllocatorOf("dma-heap", "dma-buf of the system heap (/dev/dma_heap/system)", allocDMAHeap),
		share.AllocatorOf("drm-dumb", "dumb buffer of a display device (/dev/dri/card*), exported by PRIME", allocDumb),
	}
}

// Exporters lists the producer's halves.
func (Backend) Exporters() []share.Exporter { return []share.Exporter{memfdExporter, dmabufExporter} }

// Importers lists the consumer's halves.
func (Backend) Importers() []share.Importer { return []share.Importer{memfdImporter, dmabufImporter} }

// Describe finds the CPU and what it can share with.
func (b Backend) Describe(context.Context) (share.Inventory, error) {
	fsys := hostFS(b.root)
	cpu, err := sysinfo.ReadCPU(fsys)
	if err != nil {
		return share.Inventory{}, fmt.Errorf("describe the CPU: %w", err)
	}
	memory, err := sysinfo.ReadMemory(fsys)
	if err != nil {
		return share.Inventory{}, fmt.Errorf("describe the memory: %w", err)
	}
	info := share.DeviceInfo{ID: deviceID, Backend: "host", Name: "CPU", Details: map[string]string{}}
	if cpu.Model != nil {
		info.Name = *cpu.Model
	}
	if memory.Total != nil {
		info.MemoryBytes = int64(*memory.Total)
	}
	if usable, err := sysinfo.UsableMemory(fsys); err == nil {
		info.FreeBytes = int64(usable)
	}
	if cpu.LastLevelCache != nil {
		info.CacheBytes = int64(cpu.LastLevelCache.Total())
	}
	local, rest, node := localCPUs(fsys)
	info.NUMANode = node
	info.CPUs = append(slices.Clone(local), rest...)
	info.Details["threads"] = strconv.Itoa(defaultThreads(fsys, local))
	info.Details["local_cpus"] = sysinfo.List(local).String()
	info.Details["page_bytes"] = strconv.Itoa(os.Getpagesize())
	if memory.DefaultHugePage != nil {
		info.Details["huge_page_bytes"] = strconv.FormatUint(*memory.DefaultHugePage, 10)
	}
	info.Details["vector"] = vectorName()
	inv := share.Inventory{
		Devices: []share.DeviceInfo{info},
		Links:   []share.Link{{Producer: deviceID, Consumer: deviceID, Class: "cpu", Peer: new(true)}},
		Details: map[string]string{},
	}
	for _, n := range sysinfo.SharingDevices(fsys) {
		inv.Details[n.Path] = n.Mode.String()
	}
	return inv, nil
}

// Open opens the device "cpu" and starts its threads.
func (b Backend) Open(_ context.Context, id string, o share.Options) (share.Device, error) {
	if id != deviceID {
		return nil, fmt.Errorf("backend host has no device %q, only %q", id, deviceID)
	}
	return openDevice(b.root, o)
}

// hostFS is the file system below root.
func hostFS(root string) fs.FS {
	if root == "" {
		return sysinfo.Host()
	}
	return os.DirFS(root)
}

// localCPUs lists the cores that this process may use: those of the NUMA node of the calling thread, the others, and the
// node (nil where the kernel shows none).
func localCPUs(fsys fs.FS) (local, rest []int, node *int) {
	allowed := allowedCPUs()
	nodes, err := sysinfo.ReadNUMA(fsys)
	var here uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); err != nil || errno != 0 {
		return allowed, nil, nil
	}
	id, ok := sysinfo.NodeOf(nodes, int(here))
	if !ok {
		return allowed, nil, nil
	}
	for _, cpu := range allowed {
		if n, ok := sysinfo.NodeOf(nodes, cpu); ok && n == id {
			local = append(local, cpu)
		} else {
			rest = append(rest, cpu)
		}
	}
	return local, rest, &id
}
