//go:build ignore

// Generate builds ptx/kernels.ptx from the .cu files with clang++ and records
// what it was built from. It needs clang++ 14 or later with the NVPTX target
// (any distribution's), and no CUDA. CLANGXX names another clang++.
package main

import (
	"fmt"
	"os"

	"gpushare-bench/kernels/internal/ptxbuild"
)

func main() {
	clang := os.Getenv("CLANGXX")
	if clang == "" {
		clang = "clang++"
	}
	ptx, err := ptxbuild.Build(".", clang)
	if err == nil {
		err = os.WriteFile("ptx/kernels.ptx", ptx, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
