package gpu

import (
	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// fabric shares a VMM allocation through a 64-byte handle that other nodes of the NVLink fabric can open
// (CU_MEM_HANDLE_TYPE_FABRIC). It needs an IMEX channel.
var fabric = path{
	Path:       share.Path{Name: "fabric", Carrier: share.Key, Summary: "VMM allocation as a 64-byte handle, valid across nodes of an NVLink fabric (needs an IMEX channel)"},
	allocators: vmmAllocators,
	handles:    cuda.HandleFabric,
	needs:      []string{"cuMemExportToShareableHandle", "cuMemImportFromShareableHandle"},
	refusals:   []cuda.Result{cuda.ErrorNotPermitted, cuda.ErrorInvalidValue},
	export: func(t *share.Tape, b *buffer) (share.Handle, error) {
		h := share.NoHandle()
		key, err := b.d.th.MemExportFabric(b.handle)
		if err != nil {
			return h, err
		}
		h.SetKey(key[:])
		h.Offset = b.offset
		b.wholeAllocation()
		return h, nil
	},
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		key, err := key64(h)
		if err != nil {
			return nil, err
		}
		mem, err := d.th.MemImportFabric(key)
		if err != nil {
			return nil, err
		}
		return d.mapImported(t, mem, h)
	},
}
