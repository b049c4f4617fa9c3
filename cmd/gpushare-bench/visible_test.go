package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// TestVisibleDevices sweeps between processes that see different GPUs of one machine. Devices are found by UUID, whatever
// their ordinals are in either process; what one end can't see is said by UUID before anything is measured.
func TestVisibleDevices(t *testing.T) {
	machine := cudatest.Machine(t, "eight-h200")
	uuid := func(i int) string { return machine.Profile.Devices[i].UUID }
	for _, c := range []struct {
		name, pair, producer, consumer string // values of CUDA_VISIBLE_DEVICES
		from, to                       int    // positions of the GPUs in the machine
		status                         share.Status
		said                           []string // on standard error, before the line of the first case
		reason                         []string
	}{
		{"other ordinals", "2:3", "2,3", "3,2", 2, 3, share.StatusOK, nil, nil},
		{"ordinals that mean the other GPU", "3:2", "2,3", "3,2", 3, 2, share.StatusOK, nil, nil},
		{"by UUID", uuid(3) + ":" + uuid(3), uuid(2) + "," + uuid(3), uuid(3), 3, 3, share.StatusOK, nil, nil},
		{"an end without its own GPU", "2:2", "2,3", "3", 2, 2, share.StatusUnsupported, nil,
			[]string{"consumer: open device " + uuid(2), "this process sees 1 GPU(s) [" + uuid(3) + "]", `CUDA_VISIBLE_DEVICES is "3"`}},
		{"both ends without theirs", "0:1", "2,3", "3", 0, 1, share.StatusUnsupported, nil,
			[]string{"producer: open device " + uuid(0), "consumer: open device " + uuid(1)}},
		{"the producer's GPU hidden from the consumer", "2:3", "2,3", "3", 2, 3, share.StatusPartial,
			[]string{uuid(2) + "→" + uuid(3) + ": the consumer does not see the producer's device: find GPU " + uuid(2) + "; this process sees 1 GPU(s) [" + uuid(3) + "]"},
			[]string{"CUDA_ERROR_INVALID_DEVICE (101)", "the consumer does not see the producer's device: find GPU " + uuid(2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(exe, "sweep", "--backend", "cuda", "--path", "cumemmap", "--allocator", "vmm", "--size", "2MiB", "--kernel", "none",
				"--max-time", "50ms", "--pair", c.pair, "--producer-env", "CUDA_VISIBLE_DEVICES="+c.producer,
				"--consumer-env", "CUDA_VISIBLE_DEVICES="+c.consumer, "--out", out)
			cmd.Env = append(append(os.Environ(), programVariable+"=1"), machine.Entries()...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err = cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if want := map[share.Status]int{share.StatusUnsupported: exitNothing}[c.status]; cmd.ProcessState.ExitCode() != want {
				t.Errorf("exit status %d, want %d\n%s", cmd.ProcessState.ExitCode(), want, &stderr)
			}
			before, _, _ := strings.Cut(stderr.String(), "\n[")
			for _, s := range c.said {
				if !strings.Contains(before, s) {
					t.Errorf("before anything was measured standard error does not say %q:\n%s", s, before)
				}
			}
			if len(c.said) == 0 && strings.Contains(before, "does not see") {
				t.Errorf("standard error says without need:\n%s", before)
			}
			run, err := results.Load(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range run.Cases {
				if x.Case.Producer != uuid(c.from) || x.Case.Consumer != uuid(c.to) || x.Status != c.status {
					t.Errorf("%s → %s is %s: %s", x.Case.Producer, x.Case.Consumer, x.Status, x.Reason)
				}
				for _, r := range c.reason {
					if !strings.Contains(x.Reason, r) {
						t.Errorf("reason %q does not contain %q", x.Reason, r)
					}
				}
				if strings.Contains(x.Reason, "\n") {
					t.Errorf("reason of several lines: %q", x.Reason)
				}
			}
		})
	}
}
