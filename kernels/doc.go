// Package kernels holds the GPU's side of the work: the CUDA C++ source of the
// kernels, the PTX built from it, and how each is launched.
package kernels

//go:generate go run generate.go
