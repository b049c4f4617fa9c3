// Package sysinfo reads what a Linux machine says about itself: processors,
// memory, limits, isolation, PCI topology and device nodes.
//
// Start with [Collect], which gathers everything a run should record in an
// [Environment], and with [UsableMemory], which says how much a run may take.
// The Read functions give one subject each.
//
// # Conventions
//
// Every function takes the root of a file system; use [Host] for the machine
// itself, or an fstest.MapFS in tests. Paths in comments are relative to that
// root: proc/meminfo is /proc/meminfo.
//
// What the machine does not say is nil, never zero: kernels, containers and
// architectures differ in the files they show, and a zero would read as a
// measurement. Sizes are bytes, frequencies hertz, durations nanoseconds,
// whatever unit the kernel's file uses.
//
// A Read function fails only when the file it cannot do without is unreadable
// or malformed; the error names the file and wraps the system's answer, so
// errors.Is(err, fs.ErrNotExist) and fs.ErrPermission work.
//
// Files below proc/self describe the whole process through its first thread: a
// thread that has pinned itself, or has installed its own seccomp filter, is
// not reflected.
package sysinfo
