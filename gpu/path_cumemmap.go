package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// cuMemMap shares a VMM allocation as a POSIX descriptor: cuMemExportToShareableHandle, cuMemImportFromShareableHandle,
// then reserve, map and set access in the consumer. The descriptor names the whole allocation; an offset travels beside it.
var cuMemMap = path{
	Path:       share.Path{Name: "cumemmap", Carrier: share.FD, Summary: "VMM allocation as a POSIX fd, imported and mapped (cuMemImportFromShareableHandle, cuMemMap)"},
	allocators: vmmAllocators,
	handles:    cuda.HandlePosixFD,
	needs:      []string{"cuMemExportToShareableHandle", "cuMemImportFromShareableHandle"},
	export:     exportVMMFD,
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		mem, err := d.th.MemImportFD(h.FD)
		closeFD(h.FD) // the driver has its own reference, or none
		if err != nil {
			return nil, err
		}
		return d.mapImported(t, mem, h)
	},
}

// exportVMMFD makes a descriptor of a VMM allocation.
func exportVMMFD(t *share.Tape, b *buffer) (share.Handle, error) {
	h := share.NoHandle()
	fd, err := b.d.th.MemExportFD(b.handle)
	if err != nil {
		return h, err
	}
	h.FD, h.Offset = fd, b.offset
	b.wholeAllocation()
	return h, nil
}

// mapImported maps an imported allocation, all of it, and points at the shared range.
func (d *device) mapImported(t *share.Tape, mem cuda.MemHandle, h share.Handle) (*mapping, error) {
	t.Enter(share.Map)
	p, err := d.mapVMM(mem, h.Allocated)
	if err != nil {
		return nil, errors.Join(err, d.quiet.MemRelease(mem))
	}
	return &mapping{d: d, ptr: p + cuda.DevicePtr(h.Offset), bytes: h.Bytes, first: h.First(), unmap: func(*share.Tape) error {
		return errors.Join(d.unmapVMM(p, h.Allocated), d.th.MemRelease(mem))
	}}, nil
}
