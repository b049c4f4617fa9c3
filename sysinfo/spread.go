package sysinfo

import (
	"fmt"
	"io/fs"
	"slices"
)

// SpreadCPUs orders CPUs so that threads put on the first few disturb each other
// as little as possible: one logical CPU of each core before a second one of any
// core, from sys/devices/system/cpu/cpu<n>/topology/thread_siblings_list, and the
// core of CPU 0, which takes most interrupts, last among them. Where the kernel
// does not tell which CPUs share a core, as in many virtual machines, every
// second one comes first: siblings are most often neighbours there.
func SpreadCPUs(fsys fs.FS, cpus []int) []int {
	var first, second, zeroth []int
	taken := map[int]bool{}
	for i, cpu := range cpus {
		siblings, err := siblingsOf(fsys, cpu)
		if err != nil || len(siblings) == 0 {
			siblings = []int{cpu}
			if err != nil && i+1 < len(cpus) && cpu%2 == 0 && cpus[i+1] == cpu+1 && len(cpus) > 2 {
				siblings = append(siblings, cpu+1)
			}
		}
		switch {
		case taken[cpu]:
			second = append(second, cpu)
		case slices.Contains(siblings, 0):
			zeroth = append(zeroth, cpu)
		default:
			first = append(first, cpu)
		}
		for _, s := range siblings {
			taken[s] = true
		}
	}
	return slices.Concat(first, zeroth, second)
}

// siblingsOf returns the logical CPUs of the core of cpu, itself among them.
func siblingsOf(fsys fs.FS, cpu int) (List, error) {
	s, err := readText(fsys, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	if err != nil {
		return nil, err
	}
	return ParseList(s)
}
