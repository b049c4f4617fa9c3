package host

// readers lists the reading loops that this processor can run.
func readers() []func(uintptr, int64) uint64 {
	all := []func(uintptr, int64) uint64{readSSE}
	if hasAVX2 {
		all = append(all, readAVX)
	}
	return all
}
