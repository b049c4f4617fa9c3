package vmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHost runs the tests of package host where every kernel object that it
// shares exists, so that none of its allocators may be refused. The tests of its
// CPU kernels need no such machine and take minutes on an emulated processor; nor
// does the count of their allocations, to which Go's scheduler adds when a
// processor is that slow.
func TestHost(t *testing.T) {
	needVM(t)
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "host.test")
	cmd := exec.Command("go", "test", "-c", "-o", binary, "gpushare-bench/host")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	result, err := Run(t.Context(), Config{
		Binary:  binary,
		Args:    []string{"-test.v", "-test.short", "-test.skip", "Kernels|TestNoAllocations"},
		Env:     []string{"GPUSHARE_NO_SKIP=1"},
		Modules: []string{"vgem"},
		Kernel:  []string{"hugepages=32"},
		Timeout: 5 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitStatus != 0 {
		t.Fatalf("exit status %d\n%s%s", result.ExitStatus, result.Stdout, result.Stderr)
	}
	for line := range strings.Lines(result.Stdout) {
		if strings.Contains(line, "refused: ") || strings.Contains(line, "--- SKIP") {
			t.Errorf("in the virtual machine: %s", strings.TrimSpace(line))
		}
	}
	if !strings.Contains(result.Stdout, "--- PASS: TestCycle") {
		t.Errorf("TestCycle did not run:\n%s", result.Stdout)
	}
}
