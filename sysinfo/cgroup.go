package sysinfo

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Cgroup is what the control groups of this process allow it
// (Documentation/admin-guide/cgroup-v2 and cgroup-v1/memory).
type Cgroup struct {
	// Memory has the groups that account for the memory of this process, its
	// own first and then each parent up to the topmost one visible here.
	// Empty where no memory controller is visible.
	Memory []MemoryGroup `json:"memory,omitempty"`
	// CPUQuota is the processor time that the group or any parent allows, in
	// CPUs (1.5 is one and a half), from cpu.max or cpu.cfs_quota_us and
	// cpu.cfs_period_us; the lowest along the path, nil if there is no quota.
	CPUQuota *float64 `json:"cpu_quota_cpus,omitempty"`
}

// MemoryGroup is one control group's memory limit and use, in bytes.
type MemoryGroup struct {
	// Path of its directory, relative to the root.
	Path string `json:"path"`
	// Version of the hierarchy, 1 or 2.
	Version int `json:"version"`
	// Limit is the lower of memory.max and memory.high (above which the kernel
	// throttles the process), or memory.limit_in_bytes; nil if unlimited.
	Limit *uint64 `json:"limit_bytes,omitempty"`
	// Usage is memory.current or memory.usage_in_bytes, page cache included.
	Usage *uint64 `json:"usage_bytes,omitempty"`
	// InactiveFile is the part of Usage that the kernel gives back first: page
	// cache not used lately, inactive_file or total_inactive_file of memory.stat.
	InactiveFile *uint64 `json:"inactive_file_bytes,omitempty"`
}

// Free returns what the group still allows: limit minus usage, where page
// cache that the kernel can drop at once does not count as used. It is nil if
// the group has no limit or does not show its usage.
func (g MemoryGroup) Free() *uint64 {
	if g.Limit == nil || g.Usage == nil {
		return nil
	}
	used := *g.Usage
	if g.InactiveFile != nil {
		used -= min(used, *g.InactiveFile)
	}
	return new(*g.Limit - min(*g.Limit, used))
}

// MemoryLimit returns the lowest memory limit along the path in bytes, nil if
// there is none.
func (c Cgroup) MemoryLimit() *uint64 {
	var lowest *uint64
	for _, g := range c.Memory {
		lowest = least(lowest, g.Limit)
	}
	return lowest
}

// MemoryFree returns the least that any group along the path still allows, in
// bytes, nil if none has a limit.
func (c Cgroup) MemoryFree() *uint64 {
	var lowest *uint64
	for _, g := range c.Memory {
		lowest = least(lowest, g.Free())
	}
	return lowest
}

// least returns the smaller of two values, where nil stands for no bound.
func least(a, b *uint64) *uint64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// UsableMemory returns how many bytes this process can still take: MemAvailable
// of proc/meminfo (MemFree on kernels before 3.14), or what its control groups
// still allow if that is less.
func UsableMemory(fsys fs.FS) (uint64, error) {
	m, err := ReadMemory(fsys)
	if err != nil {
		return 0, fmt.Errorf("usable memory: %w", err)
	}
	// Without control groups there is nothing to subtract.
	c, err := ReadCgroup(fsys)
	if err != nil {
		c = Cgroup{}
	}
	usable := usableMemory(m, c)
	if usable == nil {
		return 0, fmt.Errorf("usable memory: proc/meminfo has neither MemAvailable nor MemFree")
	}
	return *usable, nil
}

func usableMemory(m Memory, c Cgroup) *uint64 {
	available := m.Available
	if available == nil {
		available = m.Free
	}
	if available == nil {
		return nil
	}
	return least(available, c.MemoryFree())
}

// ReadCgroup finds the process in proc/self/cgroup, the hierarchies in
// proc/self/mountinfo, and reads memory and CPU limits up to the mount point.
// It fails if either file does.
func ReadCgroup(fsys fs.FS) (Cgroup, error) {
	s, err := readText(fsys, "proc/self/cgroup")
	if err != nil {
		return Cgroup{}, err
	}
	own := parseCgroup(s)
	s, err = readText(fsys, "proc/self/mountinfo")
	if err != nil {
		return Cgroup{}, err
	}
	mounts := parseMountinfo(s)

	var c Cgroup
	version, dirs := hierarchy(own, mounts, "memory")
	for _, dir := range dirs {
		g := MemoryGroup{Path: dir, Version: version}
		if version == 1 {
			g.Limit = v1Limit(number(fsys, dir+"/memory.limit_in_bytes"))
			g.Usage = number(fsys, dir+"/memory.usage_in_bytes")
			g.InactiveFile = statValue(text(fsys, dir+"/memory.stat"), "total_inactive_file")
		} else {
			g.Limit = least(number(fsys, dir+"/memory.max"), number(fsys, dir+"/memory.high"))
			g.Usage = number(fsys, dir+"/memory.current")
			g.InactiveFile = statValue(text(fsys, dir+"/memory.stat"), "inactive_file")
		}
		// A root group of version 2 and a path outside the mount have no files.
		if g.Limit != nil || g.Usage != nil {
			c.Memory = append(c.Memory, g)
		}
	}
	version, dirs = hierarchy(own, mounts, "cpu")
	for _, dir := range dirs {
		var q *float64
		if version == 1 {
			q = quota(text(fsys, dir+"/cpu.cfs_quota_us"), text(fsys, dir+"/cpu.cfs_period_us"))
		} else if s := text(fsys, dir+"/cpu.max"); s != nil {
			max, period, _ := strings.Cut(*s, " ")
			q = quota(&max, &period)
		}
		if q != nil && (c.CPUQuota == nil || *q < *c.CPUQuota) {
			c.CPUQuota = q
		}
	}
	return c, nil
}

// v1Limit drops the value that cgroup v1 shows for no limit: the largest
// multiple of the page size in a signed 64-bit number.
func v1Limit(n *uint64) *uint64 {
	if n == nil || *n >= 1<<62 {
		return nil
	}
	return n
}

// quota returns microseconds of quota per microseconds of period in CPUs, nil
// for "max", "-1" and anything else that is no quota.
func quota(max, period *string) *float64 {
	if max == nil || period == nil {
		return nil
	}
	m, err := strconv.ParseUint(*max, 10, 63)
	if err != nil {
		return nil
	}
	p, err := strconv.ParseUint(*period, 10, 63)
	if err != nil || p == 0 {
		return nil
	}
	return new(float64(m) / float64(p))
}

// statValue returns one value of a memory.stat file.
func statValue(s *string, key string) *uint64 {
	if s == nil {
		return nil
	}
	for line := range strings.Lines(*s) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != key {
			continue
		}
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			return &n
		}
	}
	return nil
}

// parseCgroup parses proc/self/cgroup, lines of "id:controllers:path", into
// the path for each controller; the unified hierarchy's controller is "".
func parseCgroup(s string) map[string]string {
	own := make(map[string]string)
	for line := range strings.Lines(s) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			own[controller] = fields[2]
		}
	}
	return own
}

// hierarchy returns the version that a controller lives in and the directories
// from the process's group up to the hierarchy's mount point, relative to the
// root; none if the controller is not mounted.
func hierarchy(own map[string]string, mounts []mount, controller string) (version int, dirs []string) {
	group, v1 := own[controller]
	version = 1
	if !v1 {
		if group, v1 = own[""]; !v1 {
			return 0, nil
		}
		version = 2
	}
	for _, m := range mounts {
		if version == 1 && (m.fstype != "cgroup" || !m.hasOption(controller)) || version == 2 && m.fstype != "cgroup2" {
			continue
		}
		// A container sees its own group mounted as the top: root is then the
		// group's path, or the group lies outside of what is mounted ("/..").
		below, inside := strings.CutPrefix(path.Clean("/"+group), strings.TrimSuffix(m.root, "/"))
		if !inside || strings.Contains(group, "/..") || below != "" && below[0] != '/' {
			below = ""
		}
		top := path.Clean(strings.TrimPrefix(path.Clean(m.point), "/")) // "." for the root
		dir := path.Join(top, below)
		for ; dir != top; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
		return version, append(dirs, top)
	}
	return 0, nil
}
