package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// memPool shares a pool as a POSIX descriptor and a pointer into it as 64 bytes: cuMemPoolExportToShareableHandle,
// cuMemPoolExportPointer, cuMemPoolImportFromShareableHandle, cuMemPoolSetAccess, cuMemPoolImportPointer.
var memPool = path{
	Path:       share.Path{Name: "mempool", Carrier: share.FDAndKey, Summary: "memory pool as a POSIX fd and a pointer in it as 64 bytes (cuMemPoolImportPointer)"},
	allocators: []string{"pool"},
	handles:    cuda.HandlePosixFD,
	needs:      []string{"cuMemPoolExportToShareableHandle", "cuMemPoolImportFromShareableHandle", "cuMemPoolExportPointer", "cuMemPoolImportPointer"},
	export: func(t *share.Tape, b *buffer) (share.Handle, error) {
		h := share.NoHandle()
		fd, err := b.d.th.MemPoolExportFD(b.pool)
		if err != nil {
			return h, err
		}
		key, err := b.d.th.MemPoolExportPointer(b.ptr)
		if err != nil {
			closeFD(fd)
			return h, err
		}
		h.FD, h.Offset = fd, b.offset
		h.SetKey(key[:])
		return h, nil
	},
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		key, err := key64(h)
		if err != nil {
			closeFD(h.FD)
			return nil, err
		}
		pool, err := d.th.MemPoolImportFD(h.FD)
		closeFD(h.FD)
		if err != nil {
			return nil, err
		}
		t.Enter(share.Map)
		// A pool of another GPU needs leave to be accessed from this one; on its own GPU the call changes nothing.
		if err := d.th.MemPoolSetAccess(pool, cuda.AccessReadWrite, cuda.AtDevice(d.dev)); err != nil {
			return nil, errors.Join(err, d.quiet.MemPoolDestroy(pool))
		}
		p, err := d.th.MemPoolImportPointer(pool, key)
		if err != nil {
			return nil, errors.Join(err, d.quiet.MemPoolDestroy(pool))
		}
		return &mapping{d: d, ptr: p + cuda.DevicePtr(h.Offset), bytes: h.Bytes, first: h.First(), unmap: func(*share.Tape) error {
			return errors.Join(d.th.MemFreeAsync(p, d.stream), d.th.StreamSynchronize(d.stream), d.th.MemPoolDestroy(pool))
		}}, nil
	},
}
