package plots

import "testing"

func TestReasonKind(t *testing.T) {
	same := [][2]string{
		{"cuImportExternalMemory(DMABUF_FD, fd 50, 2 MiB): CUDA_ERROR_NOT_SUPPORTED (801)", "cuImportExternalMemory(DMABUF_FD, fd 7, 1.5 GiB): CUDA_ERROR_NOT_SUPPORTED (801)"},
		{"cuMemGetHandleForAddressRange(address 0x7fa4, 2 MiB, dma-buf)", "cuMemGetHandleForAddressRange(address 0x48ea00, 16 MiB, dma-buf)"},
		{"mmap of a memfd of 2 MiB: cannot allocate memory; 0 huge pages of 2 MiB free, 1 needed", "mmap of a memfd of 64 MiB: cannot allocate memory; 0 huge pages of 2 MiB free, 32 needed"},
		{"cuMemSetAccess(address 0x7fb5, by device 1): CUDA_ERROR_INVALID_DEVICE (101)", "cuMemSetAccess(address 0x7ff7, by device 14): CUDA_ERROR_INVALID_DEVICE (101)"},
		{"GPU-00000000-0000-0000-0000-000000000000 is not visible", "GPU-1a2b3c4d-0000-0000-0000-000000000001 is not visible"},
		{"cuMemCreate(2 MiB, host NUMA node 0, fabric)", "cuMemCreate(2 MiB, host NUMA node 1, fabric)"},
		{"0 of 1 live mappings reached: no", "0 of 1024 live mappings reached: no"},
	}
	for _, s := range same {
		if ReasonKind(s[0]) != ReasonKind(s[1]) {
			t.Errorf("told apart:\n%s\n%s", s[0], s[1])
		}
	}
	if a, b := "32745 of 65536 live mappings reached", "16 of 128 live mappings reached"; ReasonKind(a) == ReasonKind(b) {
		t.Errorf("two limits are one kind: %s", a)
	}
	if a, b := ReasonKind("x: CUDA_ERROR_NOT_SUPPORTED (801)"), ReasonKind("x: CUDA_ERROR_INVALID_VALUE (1)"); a == b {
		t.Errorf("two answers are one kind: %s", a)
	}
}
