package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// opaqueFD shares a VMM allocation's POSIX descriptor and imports it as external memory, as graphics interop does:
// cuImportExternalMemory(OPAQUE_FD), cuExternalMemoryGetMappedBuffer.
var opaqueFD = path{
	Path:       share.Path{Name: "opaque-fd", Carrier: share.FD, Summary: "VMM allocation as a POSIX fd, imported as external memory (cuImportExternalMemory OPAQUE_FD)"},
	allocators: vmmAllocators,
	handles:    cuda.HandlePosixFD,
	needs:      []string{"cuMemExportToShareableHandle", "cuImportExternalMemory", "cuExternalMemoryGetMappedBuffer", "cuDestroyExternalMemory"},
	refusals:   []cuda.Result{cuda.ErrorInvalidValue, cuda.ErrorInvalidHandle, cuda.ErrorUnknown},
	export:     exportVMMFD,
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		return d.importExternal(t, cuda.ExternalOpaqueFD, h, h.Allocated)
	},
}

// importExternal imports a descriptor of size bytes as external memory and maps it from its start to the end of the shared
// range: where a mapping may start inside is not documented. The driver owns an opaque descriptor after success; a
// dma-buf's stays ours.
func (d *device) importExternal(t *share.Tape, kind cuda.ExternalType, h share.Handle, size int64) (*mapping, error) {
	mem, err := d.th.ImportExternalMemory(kind, h.FD, size)
	if err != nil || kind != cuda.ExternalOpaqueFD {
		closeFD(h.FD)
	}
	if err != nil {
		return nil, err
	}
	t.Enter(share.Map)
	p, err := d.th.ExternalMemoryGetMappedBuffer(mem, 0, h.Offset+h.Bytes)
	if err != nil {
		return nil, errors.Join(err, d.quiet.DestroyExternalMemory(mem))
	}
	return &mapping{d: d, ptr: p + cuda.DevicePtr(h.Offset), bytes: h.Bytes, first: h.First(), unmap: func(*share.Tape) error {
		// In this order: the object must not go while a buffer of it is mapped.
		if err := d.th.MemFree(p); err != nil {
			return err
		}
		return d.th.DestroyExternalMemory(mem)
	}}, nil
}
