// Package kernels holds the GPU's side of the work: the CUDA C++ source of the
// kernels, the PTX built from it, and the shape in which each is launched. It
// makes no driver call.
//
// # The kernels
//
// Parameters are listed at the constants that name the kernels. A buffer of n
// bytes has n/8 words and n/16 vectors; buffers are multiples of 16 bytes (in
// practice of a page), and a rest of fewer bytes than an item is not touched.
//
//   - Fill writes the pattern of a seed, 8 bytes a word. Word i is the finaliser
//     of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
//     Generators, OOPSLA 2014) at seed + i * 0x9E3779B97F4A7C15.
//   - Verify reads every word once, past L1, and compares it with the pattern. Of
//     three 8-byte words that the host sets to 0, 2^64-1 and 0 before, it makes the
//     number of words that differ and the lowest and highest index of one.
//   - Read loads every byte once, 16 at a time.
//   - Write stores one 32-bit value all over, 16 bytes at a time.
//   - Copy does both, from one buffer to another that does not overlap: n bytes of
//     payload are 2n bytes of memory traffic.
//   - Evict reads a scratch buffer so that the last-level cache holds nothing else.
//   - ChaseInit lays one random-looking cycle through a buffer and Chase follows it
//     in one thread, each load needing the one before: time / steps is the latency
//     of a load. ChaseInit overwrites the first word of every slot, so a buffer that
//     is to be verified is filled again after it.
//   - Gate holds a stream until the host opens it, so that what was queued behind
//     it runs without the cost of being launched.
//
// Read and Evict store to their sink only if a thread's vectors fold (by
// exclusive or) to one certain value of 2^32; it keeps the compiler from leaving
// the loads out and says nothing.
//
// # Caches
//
// Read and Copy use streaming (evict-first) loads and stores: each line is used
// once. They still hit lines that are in the L2 already, so a buffer that fits
// there is measured warm unless something takes its place before every sample.
// That is Evict on EvictBytes of scratch. It reads rather than writes: a cache
// full of modified lines would have to be written to memory while the next kernel
// is timed, and be charged to it. Chase goes past L1, which holds no other
// process's or GPU's memory that could be measured.
//
// # Launching
//
// Shape gives the grid: it covers the buffer once, which on an H200 was 4 to 8 %
// faster in Copy and Write than a grid of as many blocks as fit the GPU. The
// kernels loop, so any grid gives right results.
//
// A driver may load a kernel only when it is first launched, and may wait for
// the device to do so: launch every kernel once before the first one behind a
// gate, or the gate will expire (CUDA_MODULE_LOADING, CUDA C++ Programming Guide,
// Lazy Loading).
//
// # Building
//
// The PTX is committed, so that neither the CUDA toolkit nor clang is needed to
// build the tool. After a change of a .cu file or device.h,
//
//	go generate ./kernels
//
// builds it again with clang++, which needs no CUDA toolkit for that; tests fail
// until it has been. bench/bench.cu checks and measures both that PTX and nvcc's
// build of the same source on a real GPU.
package kernels

//go:generate go run generate.go
