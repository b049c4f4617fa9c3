package dl

import _ "unsafe" // for go:linkname

//go:noescape
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Monotonic reads CLOCK_MONOTONIC in nanoseconds, the clock of [Timed.Start]
// and [Timed.End], for what may be stamped from Go: idle times and deadlines.
// It costs some tens of nanoseconds and enters neither the kernel nor C.
func Monotonic() int64 { return nanotime() }
