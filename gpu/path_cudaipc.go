package gpu

import (
	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// cudaIPC is the legacy way: cuIpcGetMemHandle, 64 bytes, cuIpcOpenMemHandle. A handle always opens at the base of the
// allocation, so the offset travels beside it.
var cudaIPC = path{
	Path:       share.Path{Name: "cuda-ipc", Carrier: share.Key, Summary: "legacy IPC handle of 64 bytes (cuIpcGetMemHandle, cuIpcOpenMemHandle)"},
	allocators: anyAllocators,
	needs:      []string{"cuIpcGetMemHandle", "cuIpcOpenMemHandle", "cuIpcCloseMemHandle"},
	refusals:   []cuda.Result{cuda.ErrorInvalidValue, cuda.ErrorInvalidContext, cuda.ErrorInvalidHandle, cuda.ErrorMapFailed},
	export: func(t *share.Tape, b *buffer) (share.Handle, error) {
		h := share.NoHandle()
		key, err := b.d.th.IPCGetMemHandle(b.ptr)
		if err != nil {
			return h, err
		}
		h.SetKey(key[:])
		h.Offset = b.offset
		return h, nil
	},
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		key, err := key64(h)
		if err != nil {
			return nil, err
		}
		t.Enter(share.Map) // opening a handle gives an address at once
		p, err := d.th.IPCOpenMemHandle(key)
		if err != nil {
			return nil, err
		}
		return &mapping{d: d, ptr: p + cuda.DevicePtr(h.Offset), bytes: h.Bytes, first: h.First(), unmap: func(*share.Tape) error {
			return d.th.IPCCloseMemHandle(p)
		}}, nil
	},
}
