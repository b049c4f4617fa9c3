package plots

import "testing"

// oneThread leaves a test out under the race detector: what it runs has no goroutines, and drawing under the detector takes
// minutes. The same test runs without it.
func oneThread(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("draws on one thread, where there is nothing to race: it runs without the detector")
	}
}
