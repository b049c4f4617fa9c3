package bench

import (
	"testing"
	"time"
)

// SetOpenLeast sets the least time that opening a device gets, for one test.
func SetOpenLeast(t *testing.T, d time.Duration) {
	before := openLeast
	openLeast = d
	t.Cleanup(func() { openLeast = before })
}
