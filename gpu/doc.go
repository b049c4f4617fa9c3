// Package gpu is the backend for NVIDIA GPUs: the CUDA driver's ways to share memory between processes.
//
// One file is one path: path_cumemmap.go and its neighbours each hold a row (what it carries, which allocators could
// work, which functions and answers matter) and two straight functions whose calls are the driver manual's sequence, the
// exporter's and the importer's. A new path is a new file and one word in the list in backend.go.
//
// Every call that belongs to a phase is made on the device's recording thread, between two readings of the clock taken
// inside the foreign call; everything else (filling, verifying, scratch memory) is made on its quiet one. An answer that
// means "not here" becomes a [share.Unsupported]; see explain.go.
package gpu
