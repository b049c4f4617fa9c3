package gpu_test

import (
	"fmt"
	"os/exec"
	"testing"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/gpu"
	"gpushare-bench/share/sharetest"
)

// few sizes are enough where another machine is tested with all.
var few = []int64{5003}

// once are the paths that import a buffer once a process: a second import of a pool's pointer gives the same address, and
// only the first can be freed (H200, CUDA 13.0).
var once = []string{"mempool"}

// TestContract holds every path with every allocator to the contract on every machine.
func TestContract(t *testing.T) {
	for _, c := range []struct {
		machine            string
		producer, consumer int // positions in the profile, and on the real machine
		sizes              []int64
	}{
		{"h200-580", 0, 0, nil},
		{"thor", 0, 0, few},
		{"new-driver", 0, 1, nil},
		{"old-driver", 0, 0, few},
		{"mig", 0, 0, few},
		{"mixed", 1, 0, few},
		{"eight-h200", 0, 0, few},
		{"eight-h200", 0, 1, few},
		{"eight-h200", 1, 0, few},
		{"eight-h200", 6, 1, few},
		{"eight-nopeer", 0, 4, few},
		{"eight-nopeer", 1, 0, few},
	} {
		t.Run(fmt.Sprintf("%s/%d:%d", c.machine, c.producer, c.consumer), func(t *testing.T) {
			if onReal() && c.machine != realMachine() {
				t.Skip("another machine")
			}
			m := on(t, c.machine)
			p := m.profile
			k := &sharetest.Contract{Backend: gpu.Backend{}, Producer: p.Devices[c.producer].UUID, Consumer: p.Devices[c.consumer].UUID,
				Command: func() *exec.Cmd { return exec.Command("/proc/self/exe", "rows") },
				Sizes:   c.sizes,
				Once:    once,
				Expect:  expectation(p, c.producer, c.consumer)}
			if onReal() {
				here := realDevices(t)
				if n := max(c.producer, c.consumer); n >= len(here) {
					t.Skipf("this machine has no GPU %d", n)
				}
				k.Producer, k.Consumer = here[c.producer], here[c.consumer]
			}
			k.Run(t)
			m.check(t, cudatest.Exception{Class: cudatest.Refused})
		})
	}
}
