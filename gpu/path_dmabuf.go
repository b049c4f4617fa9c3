package gpu

import (
	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// dmaBuf shares a range of device memory as a dma-buf: cuMemGetHandleForAddressRange, then cuImportExternalMemory
// (DMABUF_FD) and cuExternalMemoryGetMappedBuffer. The descriptor covers just the shared range, widened to whole host pages.
var dmaBuf = path{
	Path:       share.Path{Name: "dma-buf", Carrier: share.FD, Summary: "address range as a dma-buf, imported as external memory (cuMemGetHandleForAddressRange, cuImportExternalMemory DMABUF_FD)"},
	allocators: anyAllocators,
	handles:    cuda.HandlePosixFD,
	needs:      dmaBufCalls,
	refusals:   dmaBufRefusals,
	export:     func(t *share.Tape, b *buffer) (share.Handle, error) { return exportDMABuf(b, 0) },
	imp:        importDMABuf,
}

// dmaBufPCIe is dmaBuf with CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE: the buffer is reached through the PCIe BAR even
// where another link exists.
var dmaBufPCIe = path{
	Path:       share.Path{Name: "dma-buf-pcie", Carrier: share.FD, Summary: "dma-buf with the PCIe mapping flag (CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)"},
	allocators: anyAllocators,
	handles:    cuda.HandlePosixFD,
	needs:      dmaBufCalls,
	refusals:   dmaBufRefusals,
	export:     func(t *share.Tape, b *buffer) (share.Handle, error) { return exportDMABuf(b, cuda.DMABufPCIe) },
	imp:        importDMABuf,
}

var (
	dmaBufCalls    = []string{"cuMemGetHandleForAddressRange"}
	dmaBufRefusals = []cuda.Result{cuda.ErrorInvalidValue}
)

// exportDMABuf exports the shared range with page-aligned address and size, as the driver demands.
func exportDMABuf(b *buffer, flags cuda.DMABufFlags) (share.Handle, error) {
	h := share.NoHandle()
	in := int64(b.start()) % pageSize
	size := roundUp(in+b.bytes, pageSize)
	fd, err := b.d.th.MemGetDMABuf(b.start()-cuda.DevicePtr(in), size, flags)
	if err != nil {
		return h, err
	}
	if size != b.bytes {
		b.shared, b.rule = size, pageRule
	}
	h.FD, h.Offset, h.Start = fd, in, b.offset-in
	return h, nil
}

func importDMABuf(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
	if err := d.lib.Require("cuImportExternalMemory", "cuExternalMemoryGetMappedBuffer", "cuDestroyExternalMemory"); err != nil {
		closeFD(h.FD)
		return nil, tooOld("dma-buf import", err)
	}
	return d.importExternal(t, cuda.ExternalDMABufFD, h, roundUp(h.Offset+h.Bytes, pageSize))
}
