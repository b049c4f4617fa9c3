package report

import "testing"

func TestKindOf(t *testing.T) {
	same := [][2]string{
		{"cuImportExternalMemory(DMABUF_FD, fd 50, 2 MiB): CUDA_ERROR_NOT_SUPPORTED (801)", "cuImportExternalMemory(DMABUF_FD, fd 7, 1.5 GiB): CUDA_ERROR_NOT_SUPPORTED (801)"},
		{"cuMemGetHandleForAddressRange(address 0x7fa4, 2 MiB, dma-buf)", "cuMemGetHandleForAddressRange(address 0x48ea00, 16 MiB, dma-buf)"},
		{"mmap of a memfd of 2 MiB: cannot allocate memory; 0 huge pages of 2 MiB free, 1 needed", "mmap of a memfd of 64 MiB: cannot allocate memory; 0 huge pages of 2 MiB free, 32 needed"},
	}
	for _, s := range same {
		if kindOf(s[0]) != kindOf(s[1]) {
			t.Errorf("told apart:\n%s\n%s", s[0], s[1])
		}
	}
	if a, b := kindOf("x: CUDA_ERROR_NOT_SUPPORTED (801)"), kindOf("x: CUDA_ERROR_INVALID_VALUE (1)"); a == b {
		t.Errorf("two answers are one kind: %s", a)
	}
}
