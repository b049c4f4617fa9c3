package gpu

import (
	"context"
	"fmt"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// Backend is the family of CUDA devices. Its name is "cuda".
type Backend struct{}

// LibraryVariable is the environment variable that names another driver library than libcuda.so.1.
const LibraryVariable = "GPUSHARE_LIBCUDA"

// path is one way to share, both halves of it.
type path struct {
	share.Path
	allocators []string        // names that could possibly work
	handles    cuda.HandleType // must be requested when allocating
	needs      []string        // driver functions, by their names in the manual; without them the driver is too old
	refusals   []cuda.Result   // answers that mean "not here", beyond NOT_SUPPORTED
	export     func(*share.Tape, *buffer) (share.Handle, error)
	imp        func(*share.Tape, *device, share.Handle) (*mapping, error)
}

// paths are all ways to share, in the order in which they are listed.
var paths = []*path{&dmaBuf, &dmaBufPCIe, &cuMemMap, &opaqueFD, &cudaIPC, &memPool, &fabric, &staged}

// allocator is one kind of memory.
type allocator struct {
	name, summary string
	needs         []string
	alloc         func(*share.Tape, *device, share.Request) (*buffer, error)
}

// allocators are all kinds of memory, in the order in which they are listed.
var allocators = []*allocator{&allocDevice, &allocPinned, &allocAsync, &allocManaged, &allocVMM, &allocVMMUnmapped, &allocVMMRDMA, &allocVMMHost, &allocPool}

// Names of allocators that paths refer to.
var (
	vmmAllocators = []string{"vmm", "vmm-unmapped", "vmm-rdma", "vmm-host"}
	anyAllocators = []string{"device", "pinned", "async", "managed", "vmm", "vmm-rdma", "vmm-host", "pool"} // with an address
)

// Name returns "cuda".
func (Backend) Name() string { return "cuda" }

// Allocators lists the kinds of memory.
func (Backend) Allocators() []share.Allocator {
	var rows []share.Allocator
	for _, a := range allocators {
		rows = append(rows, share.AllocatorOf(a.name, a.summary, func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
			if err := d.lib.Require(a.needs...); err != nil {
				return nil, tooOld(a.name, err)
			}
			d.record(t)
			b, err := a.alloc(t, d, r)
			if err != nil {
				return nil, d.refusedAllocation(a, r, err)
			}
			b.allocator = a.name
			return b, nil
		}))
	}
	return rows
}

// Exporters lists the producer's halves.
func (Backend) Exporters() []share.Exporter {
	var rows []share.Exporter
	for _, p := range paths {
		rows = append(rows, share.ExporterOf(p.Path, p.allocators, uint32(p.handles), func(t *share.Tape, b *buffer) (share.Handle, error) {
			if err := b.d.lib.Require(p.needs...); err != nil {
				return share.NoHandle(), tooOld(p.Name, err)
			}
			b.d.record(t)
			h, err := p.export(t, b)
			if err != nil {
				return share.NoHandle(), b.d.refusedExport(p, b, err)
			}
			h.Bytes, h.Allocated = b.bytes, b.allocated
			return h, nil
		}))
	}
	return rows
}

// Importers lists the consumer's halves.
func (Backend) Importers() []share.Importer {
	var rows []share.Importer
	for _, p := range paths {
		rows = append(rows, share.ImporterOf(p.Path, func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
			if err := d.lib.Require(p.needs...); err != nil {
				closeFD(h.FD)
				return nil, tooOld(p.Name, err)
			}
			d.record(t)
			m, err := p.imp(t, d, h)
			if err != nil {
				return nil, d.refusedImport(p, err)
			}
			return m, nil
		}))
	}
	return rows
}

// key64 is the 64 bytes of a handle that carries so many.
func key64(h share.Handle) ([64]byte, error) {
	if h.KeyLen != 64 {
		return [64]byte{}, fmt.Errorf("a handle of %d bytes where 64 are needed", h.KeyLen)
	}
	return [64]byte(h.Key[:64]), nil
}

// Open opens the GPU with the given UUID on the calling thread, which must be locked.
func (Backend) Open(_ context.Context, id string, o share.Options) (share.Device, error) {
	told := opening{o.Tape}
	told.Starting("cuInit")
	lib, err := openLibrary()
	if err != nil {
		return nil, err
	}
	told.Starting("cuDeviceGetUuid")
	ordinal, err := ordinalOf(lib, id)
	if err != nil {
		return nil, err
	}
	d, err := newDevice(lib, ordinal, id, o)
	if err != nil {
		return nil, fmt.Errorf("GPU %s: %w", id, err)
	}
	return d, nil
}
