package host

// readers lists the reading loops that this processor can run.
func readers() []func(uintptr, int64) uint64 { return []func(uintptr, int64) uint64{readNEON} }
