package sharetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// OpenFDs lists this process's descriptors and what they are ("7 /dev/nvidiactl"), without those of Go's own poller and
// the one that reads the list.
func OpenFDs() ([]string, error) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list open descriptors: %w", err)
	}
	var list []string
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil || strings.HasPrefix(target, "anon_inode:[event") || strings.HasSuffix(target, "/fd") {
			continue
		}
		list = append(list, e.Name()+" "+target)
	}
	return list, nil
}

// FDDifference says what two lists of OpenFDs don't have in common, one a line: "opened: 12 /dev/zero". "" is balance.
func FDDifference(before, after []string) string {
	var b strings.Builder
	count := map[string]int{}
	for _, s := range after {
		count[s]++
	}
	for _, s := range before {
		if count[s]--; count[s] < 0 {
			fmt.Fprintln(&b, "closed:", s)
		}
	}
	for _, s := range after {
		if count[s] > 0 {
			count[s]--
			fmt.Fprintln(&b, "opened:", s)
		}
	}
	return b.String()
}

// BalanceFDs fails the test at its end if it left descriptors open that it did not find, or closed some that were not its
// own. Call it first, and not in parallel tests.
func BalanceFDs(t testing.TB) {
	t.Helper()
	before, err := OpenFDs()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		after, err := OpenFDs()
		if err != nil {
			t.Fatal(err)
		}
		if d := FDDifference(before, after); d != "" {
			t.Errorf("descriptors at the end of the test against its beginning:\n%s", d)
		}
	})
}
