package vmtest

import (
	"os"
	"strings"
	"testing"
	"time"
)

// needVM skips where no virtual machine can be started, with the reason and what
// would help. Where skips are forbidden (GPUSHARE_NO_SKIP=1, as in make vm) it fails.
func needVM(t *testing.T) {
	t.Helper()
	switch err := Check(); {
	case err == nil:
	case os.Getenv("GPUSHARE_NO_SKIP") == "1":
		t.Fatal("skips are forbidden, and: ", err)
	default:
		t.Skip(err)
	}
}

// TestDMABuf proves the harness and that the kernel in it has real dma-bufs.
func TestDMABuf(t *testing.T) {
	needVM(t)
	t.Parallel()
	binary, err := Build(t.Context(), t.TempDir(), "./testdata/dmabufprobe")
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), Config{Binary: binary, Modules: []string{"vgem"}, Collect: "/tmp/out"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("kernel %s\n%s%s", result.Kernel, result.Stdout, result.Stderr)
	if result.ExitStatus != 0 {
		t.Fatalf("exit status %d\n%s", result.ExitStatus, result.Console)
	}
	for _, want := range []string{
		"libc: getpid agrees: true",
		"drm: driver vgem",
		"drm: lseek 1048576 link /dmabuf:",
		"drm: fdinfo exp_name=drm",
		"drm: both views agree: true",
		"udmabuf: fdinfo exp_name=ud",
		"udmabuf: both views agree: true",
		"udmabuf: mmap at 4096 shows the page there: true",
		"heap: fdinfo exp_name=system",
		"heap: mmap at 4096 shows the page there: true",
	} {
		if !strings.Contains(result.Stdout, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if got := string(result.Files["/tmp/out/facts"]); got != result.Stdout {
		t.Errorf("/tmp/out/facts came back as %q, printed was %q", got, result.Stdout)
	}
}

// TestFailuresAreReported runs a program that fails, one that takes the kernel
// with it, and one that takes too long.
func TestFailuresAreReported(t *testing.T) {
	needVM(t)
	shell := func(script string) Config {
		return Config{Binary: "/bin/sh", Args: []string{"-c", script}, Collect: "/tmp/out"}
	}
	t.Run("exit status", func(t *testing.T) {
		t.Parallel()
		c := shell("read x </etc/given; echo $x $GIVEN; echo err >&2; echo kept >/tmp/out; exit 7")
		c.Env = []string{"GIVEN=too"}
		c.Files = map[string][]byte{"/etc/given": []byte("given\n")}
		result, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if result.ExitStatus != 7 || result.Stdout != "given too\n" || result.Stderr != "err\n" {
			t.Errorf("got %d, %q, %q", result.ExitStatus, result.Stdout, result.Stderr)
		}
		if got := string(result.Files["/tmp/out"]); got != "kept\n" {
			t.Errorf("/tmp/out came back as %q", got)
		}
	})
	t.Run("kernel crash", func(t *testing.T) {
		t.Parallel()
		_, err := Run(t.Context(), shell("echo c >/proc/sysrq-trigger"))
		if err == nil || !strings.Contains(err.Error(), "sysrq triggered crash") {
			t.Errorf("got %v, want an error that quotes the kernel", err)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		c := shell("echo never reached")
		c.Timeout = 2 * time.Second
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "longer than 2s") {
			t.Errorf("got %v, want an error that names the limit", err)
		}
	})
}
