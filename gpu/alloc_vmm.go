package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// vmmCalls are the functions that virtual memory management needs.
var vmmCalls = []string{"cuMemCreate", "cuMemRelease", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemGetAllocationGranularity"}

// allocVMM is physical memory with a handle of its own, mapped by the producer before it is exported.
var allocVMM = allocator{
	name: "vmm", summary: "virtual memory management, mapped before export (cuMemCreate, cuMemMap)", needs: vmmCalls,
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		return d.createVMM(t, r, cuda.AllocationProp{Location: cuda.AtDevice(d.dev)}, true)
	},
}

// allocVMMUnmapped is the same without an address at the producer when it is exported: with --no-verify the producer never
// maps it at all. It tells what mapping before the export is worth.
var allocVMMUnmapped = allocator{
	name: "vmm-unmapped", summary: "the same, exported while the producer has no mapping of it", needs: vmmCalls,
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		return d.createVMM(t, r, cuda.AllocationProp{Location: cuda.AtDevice(d.dev)}, false)
	},
}

// allocVMMRDMA is allocVMM with memory that third-party devices may access.
var allocVMMRDMA = allocator{
	name: "vmm-rdma", summary: "vmm with gpuDirectRDMACapable", needs: vmmCalls,
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		return d.createVMM(t, r, cuda.AllocationProp{Location: cuda.AtDevice(d.dev), GPUDirectRDMA: true}, true)
	},
}

// allocVMMHost is allocVMM with host memory of the GPU's NUMA node. CU_MEM_LOCATION_TYPE_HOST and HOST_NUMA_CURRENT can't
// be exported.
var allocVMMHost = allocator{
	name: "vmm-host", summary: "vmm on the GPU's host NUMA node (cuMemCreate, HOST_NUMA)", needs: vmmCalls,
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		node, err := d.lib.DeviceAttribute(cuda.AttributeHostNUMAID, d.dev)
		if err != nil || node < 0 {
			node = 0
		}
		return d.createVMM(t, r, cuda.AllocationProp{Location: cuda.AtHostNUMA(node)}, true)
	},
}

// createVMM creates an allocation that can be shared as the request says, and maps it.
func (d *device) createVMM(t *share.Tape, r share.Request, prop cuda.AllocationProp, mapped bool) (*buffer, error) {
	prop.Handles = cuda.HandleType(r.Handles)
	granularity, _, err := d.quiet.MemGranularity(prop)
	if err != nil {
		return nil, err
	}
	size := roundUp(r.Offset+r.Bytes, granularity)
	h, err := d.th.MemCreate(size, prop)
	if err != nil {
		return nil, err
	}
	b := &buffer{d: d, bytes: r.Bytes, offset: r.Offset, allocated: size, unit: granularity, handle: h, unmapped: !mapped}
	if mapped {
		if b.ptr, err = d.mapVMM(h, size); err != nil {
			return nil, errors.Join(err, d.quiet.MemRelease(h))
		}
	}
	b.free = func(*share.Tape) error {
		var err error
		if mapped {
			err = d.unmapVMM(b.ptr, size)
		}
		return errors.Join(err, d.th.MemRelease(h))
	}
	return b, nil
}
