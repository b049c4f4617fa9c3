package sharetest_test

import (
	"os"
	"os/exec"
	"testing"

	"gpushare-bench/share/sharetest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rows" {
		sharetest.ServeMain(sharetest.Backend{})
	}
	os.Exit(m.Run())
}

// The scripted backend obeys the contract, but for its allocator that is refused.
func TestContract(t *testing.T) {
	sharetest.BalanceFDs(t)
	t.Setenv("TMPDIR", t.TempDir())
	c := &sharetest.Contract{Backend: sharetest.Backend{}, Producer: "cpu", Consumer: "cpu",
		Command: func() *exec.Cmd { return exec.Command("/proc/self/exe", "rows") }}
	c.Run(t)
}
