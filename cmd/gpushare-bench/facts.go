package main

import (
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// rows collects lines of a name and a value.
type rows [][2]string

func (r *rows) add(name, format string, args ...any) {
	*r = append(*r, [2]string{name, fmt.Sprintf(format, args...)})
}

// facts are the lines that describe the machine.
func (m *machineInfo) facts() rows {
	var r rows
	r.add("gpushare-bench", "%s, backend %s (%s)", m.Version, m.Backend, m.Why)
	if m.Emulated != "" {
		r.add("EMULATED", "machine %s; nothing here is a measurement of hardware", m.Emulated)
	}
	r.system(m.Environment)
	r.memory(m.Environment)
	r.permissions(m.Environment)
	for _, d := range m.Devices {
		r.add("device "+m.name(d.ID), "%s, %s", d.Name, deviceFacts(d))
	}
	m.links(&r)
	for _, k := range sortedKeys(m.Details) {
		if v := m.Details[k]; v != "" {
			r.add(strings.ReplaceAll(k, "_", " "), "%s", v)
		}
	}
	r.add("timed call", "an empty one reads %d ns (median)", m.OverheadNs)
	return r
}

// links are the lines of how GPUs reach each other, those alike in one.
func (m *machineInfo) links(r *rows) {
	var all []pair
	kinds := map[string][]pair{}
	var order []string
	for _, l := range m.Links {
		if l.Producer == l.Consumer {
			continue
		}
		kind := fmt.Sprintf("%s, peer access %s", orUnknown(l.Class), yesNo(l.Peer))
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		p := pair{l.Producer, l.Consumer}
		all, kinds[kind] = append(all, p), append(kinds[kind], p)
	}
	for _, kind := range order {
		r.add("link", "%s %s", m.pairsText(kinds[kind], all), kind)
	}
}

// system is kernel, machine and processors.
func (r *rows) system(e sysinfo.Environment) {
	if k := e.Kernel; k != nil {
		r.add("kernel", "%s", strings.Join(append([]string{k.Release}, k.Parameters...), " "))
	}
	if m := e.Machine; m != nil {
		r.add("machine", "%s", strings.Join(given("", m.Vendor, " ", m.Product, " on ", m.Virtualization), ""))
	}
	c := e.CPU
	if c == nil {
		return
	}
	r.add("cpu", "%s, %d logical, allowed %s", orUnknown(deref(c.Model)), c.Logical, c.Allowed)
	if l := c.LastLevelCache; l != nil {
		r.add("last-level cache", "%s (level %d, %d of %s)", share.FormatSize(int64(l.Total())), l.Level, l.Instances, share.FormatSize(int64(l.Size)))
	}
	if f := c.Frequency; f != nil {
		r.add("frequency", "governor %s, scaling %s, boost %s", orUnknown(strings.Join(f.Governors, " ")), yesNo(f.Scaling), yesNo(f.Boost))
	}
	for _, n := range e.NUMA {
		r.add(fmt.Sprintf("numa node %d", n.ID), "cpus %s, %s", n.CPUs, sizeOf(n.Total))
	}
}

// memory is what can be shared at most.
func (r *rows) memory(e sysinfo.Environment) {
	if m := e.Memory; m != nil {
		r.add("memory", "%s, %s available", sizeOf(m.Total), sizeOf(m.Available))
		for _, p := range m.HugePages {
			r.add("huge pages", "%s", hugePool(p))
		}
		r.add("transparent huge pages", "%s, for shared memory %s", orUnknown(deref(m.TransparentHugePages)), orUnknown(deref(m.ShmemEnabled)))
	}
	r.add("usable memory", "%s (available, and within the cgroup's limit)", sizeOf(e.UsableMemory))
	r.add("page size", "%s", share.FormatSize(int64(e.PageSize)))
}

// permissions is what this process may do.
func (r *rows) permissions(e sysinfo.Environment) {
	if l := e.Limits; l != nil {
		limit := func(l *sysinfo.Limit, size bool) string {
			switch {
			case l == nil:
				return "not known"
			case size && l.Soft != sysinfo.Unlimited:
				return share.FormatSize(int64(l.Soft))
			}
			return l.Soft.String()
		}
		r.add("limits", "locked memory %s, open files %s, address space %s", limit(l.LockedMemory, true), limit(l.OpenFiles, false), limit(l.AddressSpace, true))
	}
	if p := e.Process; p != nil {
		scope := "none (no Yama)"
		if p.PtraceScope != nil {
			scope = fmt.Sprint(*p.PtraceScope)
		}
		seccomp := "not known"
		if p.Seccomp != nil {
			seccomp = p.Seccomp.String()
		}
		r.add("process", "ptrace scope %s, seccomp %s", scope, seccomp)
	}
	container := "none found"
	if c := e.Container; c != nil {
		container = fmt.Sprintf("%s (%s)", c.Kind, c.Evidence)
	}
	r.add("container", "%s", container)
	if s := namespaces(e.Namespaces); s != "" {
		r.add("namespaces", "%s", s)
	}
	if u := e.IOMMU; u != nil {
		r.add("iommu", "%d groups, units %s", u.Groups, orUnknown(strings.Join(u.Units, " ")))
	}
	present := map[string]bool{}
	for _, d := range e.Devices {
		present[d.Path] = true
		r.add("device node", "%s mode %s group %s", d.Path, d.Mode, orUnknown(deref(d.Group)))
	}
	for _, path := range []string{"/dev/udmabuf", "/dev/dma_heap/system", "/dev/dri/card0", "/dev/nvidiactl"} {
		if !present[path] {
			r.add("device node", "%s is missing", path)
		}
	}
}

// namespaces says which are not the host's, and of which that is not known; "" if all are.
func namespaces(all []sysinfo.Namespace) string {
	var own, unknown, parts []string
	for _, n := range all {
		switch {
		case n.Initial == nil:
			unknown = append(unknown, n.Kind)
		case !*n.Initial:
			own = append(own, n.Kind)
		}
	}
	if len(own) > 0 {
		parts = append(parts, "not the host's: "+strings.Join(own, ", "))
	}
	if len(unknown) > 0 {
		parts = append(parts, strings.Join(unknown, ", ")+": not known whether the host's")
	}
	return strings.Join(parts, "; ")
}

// deviceFacts are the readings of a device, in one line.
func deviceFacts(d share.DeviceInfo) string {
	parts := []string{d.ID}
	if d.PCI != "" {
		parts = append(parts, "PCI "+d.PCI)
	}
	parts = append(parts, share.FormatSize(d.MemoryBytes))
	if d.PeakBytes > 0 {
		parts = append(parts, fmt.Sprintf("memory peak %.0f GB/s", d.PeakBytes/1e9))
	}
	if d.CacheBytes > 0 {
		parts = append(parts, "last-level cache "+share.FormatSize(d.CacheBytes))
	}
	for _, k := range sortedKeys(d.Details) {
		parts = append(parts, k+" "+d.Details[k])
	}
	return strings.Join(parts, ", ")
}

// hugePool tells of one size of huge pages.
func hugePool(p sysinfo.HugePool) string {
	count := func(n *uint64) string {
		if n == nil {
			return "not known"
		}
		return fmt.Sprint(*n)
	}
	return fmt.Sprintf("of %s: %s in the pool, %s free", share.FormatSize(int64(p.Size)), count(p.Pages), count(p.Free))
}

// given joins texts that may be absent, each after its separator.
func given(pairs ...any) []string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if s, ok := pairs[i+1].(*string); ok && s != nil && *s != "" {
			out = append(out, pairs[i].(string)+*s)
		}
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sizeOf(n *uint64) string {
	if n == nil {
		return "not known"
	}
	return share.FormatSize(int64(*n))
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return "not known"
	case *b:
		return "yes"
	}
	return "no"
}
