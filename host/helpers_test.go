package host

import (
	"os"
	"testing"
)

// openFDs counts the open descriptors of the process.
func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}
