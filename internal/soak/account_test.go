package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"gpushare-bench/share/sharetest"
)

// account is what this process, which runs the plans, holds at one moment.
type account struct {
	fds        []string
	goroutines int
	threads    int
	mappings   int   // lines of /proc/self/maps
	heap       int64 // bytes of live Go objects
	rss        int64 // bytes
	children   []string
	files      []string // in TMPDIR, and of ours in /dev/shm
	free       []int64  // memory of each emulated device, bytes
}

func (a account) String() string {
	return fmt.Sprintf("%d descriptors, %d goroutines, %d threads, %d mappings, %d KiB heap, %d KiB resident, %d processes, %d files, free device memory %d",
		len(a.fds), a.goroutines, a.threads, a.mappings, a.heap>>10, a.rss>>10, len(a.children), len(a.files), a.free)
}

// take takes the account once what is ending has ended.
func take(t *testing.T, free []int64) account {
	t.Helper()
	var a account
	var err error
	// The goroutine of a launcher ends its thread a moment after Close.
	for range 50 {
		runtime.GC()
		a.goroutines, a.children = runtime.NumGoroutine(), children(t)
		if len(a.children) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	debug.FreeOSMemory()
	if a.fds, err = sharetest.OpenFDs(); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.heap = int64(m.HeapAlloc)
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	a.mappings = strings.Count(string(maps), "\n")
	a.threads, a.rss = int(status(t, "Threads:")), status(t, "VmRSS:")<<10
	for _, pattern := range []string{filepath.Join(os.TempDir(), "*"), "/dev/shm/*gpushare*", "/dev/shm/*cuda*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		a.files = append(a.files, found...)
	}
	a.free = free
	return a
}

// status reads a number of /proc/self/status.
func status(t *testing.T, key string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("/proc/self/status has no %s", key)
	return 0
}

// children lists the processes whose parent is this one, zombies included.
func children(t *testing.T) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		// pid (comm) state ppid; comm may contain anything.
		i := strings.LastIndexByte(string(text), ')')
		if f := strings.Fields(string(text)[i+1:]); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, string(text)[:i+1]+" "+f[0])
		}
	}
	return list
}

// Allowances. Go keeps threads for later, the kernel merges and splits mappings of the Go heap, and the heap's spans are
// not returned at once: these may differ by as much, whatever the number of cycles. All else must be equal.
const (
	threadsMore  = 8
	mappingsMore = 30
	heapMore     = 2 << 20
	rssMore      = 16 << 20
)

// compare fails the test for what is more than it was.
func compare(t *testing.T, before, after account) {
	t.Helper()
	if d := sharetest.FDDifference(before.fds, after.fds); d != "" {
		t.Errorf("descriptors at the end against the beginning:\n%s", d)
	}
	if after.goroutines > before.goroutines {
		t.Errorf("%d goroutines, %d at the beginning", after.goroutines, before.goroutines)
	}
	if len(after.children) > 0 {
		t.Errorf("processes left: %q", after.children)
	}
	if len(after.files) != len(before.files) {
		t.Errorf("files left: %q, at the beginning %q", after.files, before.files)
	}
	for i := range before.free {
		if after.free[i] != before.free[i] {
			t.Errorf("device %d has %d bytes free, %d at the beginning", i, after.free[i], before.free[i])
		}
	}
	for _, x := range []struct {
		what               string
		before, after, may int64
	}{
		{"threads", int64(before.threads), int64(after.threads), threadsMore},
		{"mappings", int64(before.mappings), int64(after.mappings), mappingsMore},
		{"bytes of heap", before.heap, after.heap, heapMore},
		{"bytes resident", before.rss, after.rss, rssMore},
	} {
		if x.after > x.before+x.may {
			t.Errorf("%d %s, %d at the beginning: more than the %d that may be", x.after, x.what, x.before, x.may)
		}
	}
}
