package cudatest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
)

func TestFaults(t *testing.T) {
	share := []string{"share", "vmm", "0", "0", "2097152"}
	for _, test := range []struct {
		rule string
		want string // in the output
		err  string // of the process
		args []string
	}{
		{"cuMemMap=CUDA_ERROR_OUT_OF_MEMORY", "cuMemMap: CUDA_ERROR_OUT_OF_MEMORY", "exit status 1", share},
		{"cuMemMap@2=CUDA_ERROR_OUT_OF_MEMORY", "", "", share},
		{"consumer:cuMemMap=CUDA_ERROR_MAP_FAILED", "cuMemMap: CUDA_ERROR_MAP_FAILED", "exit status 2", share},
		{"producer:cuMemImportFromShareableHandle=CUDA_ERROR_UNKNOWN", "", "", share},
		{"consumer:cuMemImportFromShareableHandle=kill", "the other process is gone", "exit status 2", share},
		{"producer:cuMemCreate=kill", "the other process is gone", "signal: killed", share},
		{"producer:cuMemCreate=crash", "the other process is gone", "signal: segmentation fault", share},
		{"cuMemExportToShareableHandle=hang", "", "deadline exceeded", share},
		{"cuMemExportToShareableHandle=exit", "the other process is gone", "", share},
		{"cuMemExportToShareableHandle=slow:5ms", "", "", share},
		{"cuMemExportToShareableHandle=corrupt", "corrupt: 1 words, first 131072, last 131072", "", share},
		{"consumer:cuMemImportFromShareableHandle=corrupt:zeros", "corrupt: 262144 words, first 0, last 262143", "", share},
		{"consumer:kernel:fill=corrupt", "corrupt: 1 words", "exit status 4", share},
		{"consumer:kernel:fill=skip", "corrupt: 262144 words", "exit status 4", share},
		{"kernel:fill=trap", "kernel fill: CUDA_ERROR_LAUNCH_FAILED", "exit status 1", share},
		{"kernel:fill=sticky:700", "kernel fill: CUDA_ERROR_ILLEGAL_ADDRESS", "exit status 1", share},
		{"kernel:fill=hang", "", "deadline exceeded", share},
		{"cuMemCreate=sticky:719", "cuMemCreate: CUDA_ERROR_LAUNCH_FAILED", "exit status 1", share},
		{"cuInit=CUDA_ERROR_SYSTEM_NOT_READY", "cuInit: CUDA_ERROR_SYSTEM_NOT_READY", "exit status 1", share},
		{"consumer:cuDevicePrimaryCtxRetain=CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "cuDevicePrimaryCtxRetain: CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "exit status 2", share},
		{"cuMemCreate=CUDA_ERROR_NO_SUCH_THING", "unknown action CUDA_ERROR_NO_SUCH_THING in fault rule for cuMemCreate", "exit status 97", share},
		{"cuMemCreate=slow:5", "unknown action slow:5", "exit status 97", share},
		{"cuMemCreate=corrupt:somehow", "unknown action corrupt:somehow", "exit status 97", share},
		{"cuMemAlloc@%2=CUDA_ERROR_OUT_OF_MEMORY", "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY", "exit status 1", []string{"rule", "limit"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			env := cudatest.Machine(t, "h200-580", cudatest.Faults(test.rule))
			limit := patience
			if strings.Contains(test.err, "deadline") {
				limit = 500 * time.Millisecond
			}
			out, err := selftest(t, env, limit, test.args...)
			if !strings.Contains(out, test.want) {
				t.Errorf("printed %q, want %q", out, test.want)
			}
			if test.want == "" && out != "" {
				t.Errorf("printed %q, want nothing", out)
			}
			if test.err == "" && err != nil && !strings.HasPrefix(test.want, "corrupt") && !strings.HasPrefix(test.want, "the other") {
				t.Errorf("ended with %v", err)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("ended with %v, want %s", err, test.err)
			}
		})
	}
}

// A distorted buffer looks as its name says to the one who verifies it.
func TestCorruptions(t *testing.T) {
	const seed = 42 // of testdata/selftest.c, which fills with ^seed before
	for _, test := range []struct{ how, want string }{
		{"corrupt", fmt.Sprintf("1 words, first 131072, last 131072: %#x", share.Word(seed, 131072)^0x10)},
		{"corrupt:zeros", "262144 words, first 0, last 262143: 0"},
		{"corrupt:constant", "262144 words, first 0, last 262143: 0xffffffffffffffff"},
		{"corrupt:shifted", fmt.Sprintf("262136 words, first 0, last 262135: %#x", share.Word(seed, 8))},
		{"corrupt:stale", fmt.Sprintf("262144 words, first 0, last 262143: %#x", share.Word(^uint64(seed), 0))},
		{"corrupt:random", "262144 words, first 0, last 262143: 0x"},
	} {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			env := cudatest.Machine(t, "thor", cudatest.Faults("producer:cuMemGetHandleForAddressRange="+test.how))
			out, err := selftest(t, env, patience, "share", "dmabuf", "0", "0", "2097152")
			if err == nil || !strings.Contains(out, "corrupt: "+test.want) {
				t.Errorf("%v: %q, want %q", err, out, test.want)
			}
		})
	}
}
