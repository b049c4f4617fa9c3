package sysinfo

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

func TestSpreadCPUs(t *testing.T) {
	siblings := func(lists ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for cpu, l := range lists {
			m[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = &fstest.MapFile{Data: []byte(l + "\n")}
		}
		return m
	}
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		cpus []int
		want []int
	}{
		{"neighbours share a core", siblings("0-1", "0-1", "2-3", "2-3", "4-5", "4-5"), []int{0, 1, 2, 3, 4, 5}, []int{2, 4, 0, 1, 3, 5}},
		{"the second half is the other threads", siblings("0,3", "1,4", "2,5", "0,3", "1,4", "2,5"), []int{0, 1, 2, 3, 4, 5}, []int{1, 2, 0, 3, 4, 5}},
		{"one thread a core", siblings("0", "1", "2", "3"), []int{0, 1, 2, 3}, []int{1, 2, 3, 0}},
		{"not told", fstest.MapFS{}, []int{0, 1, 2, 3, 4, 5}, []int{2, 4, 0, 1, 3, 5}},
		{"not told, two", fstest.MapFS{}, []int{0, 1}, []int{1, 0}},
		{"not told, from an odd one", fstest.MapFS{}, []int{3, 4, 5, 6}, []int{3, 4, 6, 5}},
		{"none", fstest.MapFS{}, nil, nil},
	} {
		if got := SpreadCPUs(c.fsys, c.cpus); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
