// Package host shares host memory: descriptors of memfd and real dma-buf objects, and the CPU that works on them. Start
// with [Backend]; its rows are in backend.go.
//
// # Paths and allocators
//
// A path is one file, path_memfd.go or path_dmabuf.go; an allocator is one file, alloc_*.go. The phases have these calls:
//
//	path     allocator   allocate                              export                release
//	memfd    memfd       memfd_create, ftruncate, seal, mmap   fcntl(F_DUPFD…)       munmap, close
//	memfd    memfd-huge  the same with MFD_HUGETLB             fcntl(F_DUPFD…)       munmap, close
//	dma-buf  udmabuf     memfd_create, ftruncate, seal, mmap   ioctl(UDMABUF_CREATE) munmap, close
//	dma-buf  dma-heap    ioctl(DMA_HEAP_IOCTL_ALLOC), mmap     fcntl(F_DUPFD…)       munmap, close
//	dma-buf  drm-dumb    create and map a dumb buffer, mmap    ioctl(PRIME_…_TO_FD)  munmap, destroy
//
// A memfd and a dma-heap's buffer are descriptors from the start. What travels is a duplicate all the same, so that each
// descriptor has one owner: the worker closes the exported one, the buffer its own. The duplicate is the whole of export
// there, and costs about what any descriptor costs.
//
// The consumer's half is the same for both paths: lseek(SEEK_END), which proves that the object is as large as promised
// before anything is mapped, under import; mmap under map; munmap and close under unmap. CPU accesses to a dma-buf's
// mapping are bracketed with DMA_BUF_IOCTL_SYNC. The producer of a udmabuf or of a dumb buffer fills it through the
// memfd or through the DRM device, which need no bracket.
//
// Device nodes are opened once for each worker and stay open, as a program that shares many buffers would do; opening
// them is in no phase.
//
// # Safety
//
// A memfd that shrinks below a mapping kills who touches it with SIGBUS. Memfds are therefore sealed against shrinking
// when they are allocated, and an importer checks the size first. Should memory vanish all the same (a control group's
// limit on huge pages, say), Fill, Verify, Touch and the kernels return an error that matches [ErrFault] instead of
// ending the process.
//
// # Kernels
//
// Fill, Verify and the kernels read, write and copy run on one thread for each core of the local NUMA node, pinned,
// started once. Each thread works on its own contiguous part of the buffer, a whole number of 4 KiB blocks, so that a
// buffer of one block is the work of one thread. A sample's time runs from the release of a barrier that all threads
// have reached to the last thread's end. memcpy is one thread in the C library's memcpy: what a program without threads
// gets.
//
// Warm samples repeat the work until [minSampleBytes] have moved. Cold samples evict the buffer's lines from all caches
// with clflushopt (clflush on old processors, dc civac on arm64) before every pass and time the passes only. That is
// exact where writing a scratch buffer larger than the last-level cache is a heuristic that depends on the replacement
// policy, and it costs as much as the buffer is large, not as the cache is. Address translations are not evicted: a small
// buffer's stay in the TLB, as they would for a program that comes back to it.
//
// chase follows pointers through lines of the buffer, one line in each of up to [maxChaseLines] equal parts of it, in
// random order. Regions below [minChaseBytes] are too small for it and yield no sample.
package host
