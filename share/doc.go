// Package share holds the vocabulary of memory sharing that every other package speaks: start here.
//
// A [Path] is a way for two processes to share a buffer: a name and a [Carrier]. A backend (GPUs, host memory)
// contributes halves of paths: an [Exporter] row says how the producer turns a [Buffer] into a [Handle], an
// [Importer] row says how the consumer turns that handle into a [Mapping]. A [Case] joins an allocator, an exporter
// and an importer that name the same path, for one pair of devices and one size. Nothing else ties the two ends
// together, so a pair whose ends belong to different backends needs no code of its own.
//
// One cycle of a case is:
//
//	producer: allocate, fill, export, send ─────▶ consumer: receive, import, map, touch, verify,
//	producer: verify, release  ◀── done ───────── run kernels, write back, unmap
//
// Every timed call lands as a [Span] on a preallocated [Tape]. Code of a path only says which [Phase] the next calls
// belong to. A call that was refused is recorded with OK false and never enters a phase's samples; a phase that a path
// does not have has no samples, never zero.
//
// What the system declines is an [Unsupported] error: the call, the system's own answer and a hint. It matches
// [ErrUnsupported]. Any other error is a failure.
package share
