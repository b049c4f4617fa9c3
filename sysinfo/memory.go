package sysinfo

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Memory is the machine's memory. Sizes are bytes.
type Memory struct {
	// Total is MemTotal of proc/meminfo: physical memory that the kernel manages.
	Total *uint64 `json:"total_bytes,omitempty"`
	// Available is MemAvailable of proc/meminfo: the kernel's estimate of what
	// new work can take without swapping.
	Available *uint64 `json:"available_bytes,omitempty"`
	// Free is MemFree of proc/meminfo: pages that nothing uses.
	Free *uint64 `json:"free_bytes,omitempty"`
	// SwapTotal is SwapTotal of proc/meminfo.
	SwapTotal *uint64 `json:"swap_total_bytes,omitempty"`
	// DefaultHugePage is Hugepagesize of proc/meminfo: what MFD_HUGETLB gives
	// when no size is asked for.
	DefaultHugePage *uint64 `json:"default_huge_page_bytes,omitempty"`
	// HugePages has one pool for each size of sys/kernel/mm/hugepages, ascending.
	HugePages []HugePool `json:"huge_pages,omitempty"`
	// TransparentHugePages is the setting in force in
	// sys/kernel/mm/transparent_hugepage/enabled: always, madvise or never.
	TransparentHugePages *string `json:"transparent_huge_pages,omitempty"`
	// ShmemEnabled is the setting in force in
	// sys/kernel/mm/transparent_hugepage/shmem_enabled, which decides whether a
	// memfd may have huge pages: always, within_size, advise, never, deny or force.
	ShmemEnabled *string `json:"shmem_enabled,omitempty"`
	// TransparentSize is the size of a transparent huge page, from
	// sys/kernel/mm/transparent_hugepage/hpage_pmd_size.
	TransparentSize *uint64 `json:"transparent_huge_page_bytes,omitempty"`
}

// HugePool is the pool of one huge page size, from
// sys/kernel/mm/hugepages/hugepages-<size>kB (Documentation/admin-guide/mm/hugetlbpage).
type HugePool struct {
	// Size of one page in bytes.
	Size uint64 `json:"size_bytes"`
	// Pages in the pool, from nr_hugepages.
	Pages *uint64 `json:"pages,omitempty"`
	// Free pages, from free_hugepages; some may be reserved.
	Free *uint64 `json:"free,omitempty"`
	// Reserved pages are promised to mappings that have not touched them yet,
	// from resv_hugepages.
	Reserved *uint64 `json:"reserved,omitempty"`
	// Surplus pages are above Pages, from surplus_hugepages.
	Surplus *uint64 `json:"surplus,omitempty"`
	// Overcommit is how many surplus pages the pool may grow by, from
	// nr_overcommit_hugepages.
	Overcommit *uint64 `json:"overcommit,omitempty"`
}

// Obtainable returns how many pages a new mapping can get without growing the
// pool: free and not reserved. It is nil where the pool does not say.
func (p HugePool) Obtainable() *uint64 {
	if p.Free == nil {
		return nil
	}
	n := *p.Free
	if p.Reserved != nil {
		n -= min(n, *p.Reserved)
	}
	return &n
}

// ReadMemory reads proc/meminfo, sys/kernel/mm/hugepages and
// sys/kernel/mm/transparent_hugepage. It fails if proc/meminfo does.
func ReadMemory(fsys fs.FS) (Memory, error) {
	s, err := readText(fsys, "proc/meminfo")
	if err != nil {
		return Memory{}, err
	}
	info, err := parseMeminfo(s)
	if err != nil {
		return Memory{}, fmt.Errorf("parse proc/meminfo: %w", err)
	}
	const thp = "sys/kernel/mm/transparent_hugepage/"
	return Memory{
		Total:                lookup(info, "MemTotal"),
		Available:            lookup(info, "MemAvailable"),
		Free:                 lookup(info, "MemFree"),
		SwapTotal:            lookup(info, "SwapTotal"),
		DefaultHugePage:      lookup(info, "Hugepagesize"),
		HugePages:            readHugePools(fsys, "sys/kernel/mm/hugepages"),
		TransparentHugePages: selected(text(fsys, thp+"enabled")),
		ShmemEnabled:         selected(text(fsys, thp+"shmem_enabled")),
		TransparentSize:      number(fsys, thp+"hpage_pmd_size"),
	}, nil
}

// readHugePools reads a directory of hugepages-<size>kB entries, ascending by size.
func readHugePools(fsys fs.FS, dir string) []HugePool {
	var sizes []uint64
	for _, name := range entries(fsys, dir) {
		kib, ok := strings.CutPrefix(name, "hugepages-")
		if !ok {
			continue
		}
		if size, err := parseSize(strings.TrimSuffix(kib, "B")); err == nil {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	pools := make([]HugePool, 0, len(sizes))
	for _, size := range sizes {
		pool := path.Join(dir, fmt.Sprintf("hugepages-%dkB", size>>10))
		pools = append(pools, HugePool{
			Size:       size,
			Pages:      number(fsys, pool+"/nr_hugepages"),
			Free:       number(fsys, pool+"/free_hugepages"),
			Reserved:   number(fsys, pool+"/resv_hugepages"),
			Surplus:    number(fsys, pool+"/surplus_hugepages"),
			Overcommit: number(fsys, pool+"/nr_overcommit_hugepages"),
		})
	}
	return pools
}

// parseMeminfo parses lines of "Name: value kB" and "Name: value"; values with
// kB become bytes. Lines of sys/devices/system/node/node<n>/meminfo, which
// start with "Node <n>", are understood too.
func parseMeminfo(s string) (map[string]uint64, error) {
	info := make(map[string]uint64)
	for line := range strings.Lines(s) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if words := strings.Fields(name); len(words) == 3 && words[0] == "Node" {
			name = words[2]
		}
		words := strings.Fields(rest)
		if len(words) == 0 {
			continue
		}
		n, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a number", name, words[0])
		}
		if len(words) > 1 && words[1] == "kB" {
			if n > math.MaxUint64>>10 {
				return nil, fmt.Errorf("%s: %d kB exceed 64 bits", name, n)
			}
			n <<= 10
		}
		info[name] = n
	}
	return info, nil
}

// parseSize parses the sizes of sysfs, where k, K, M and G are powers of 1024:
// "32768K", "2048k", "64".
func parseSize(s string) (uint64, error) {
	digits := strings.TrimRight(s, "kKMG")
	shift, ok := map[string]uint{"": 0, "k": 10, "K": 10, "M": 20, "G": 30}[s[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !ok || n > math.MaxUint64>>shift {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return n << shift, nil
}

// selected returns the bracketed word of "always [madvise] never".
func selected(s *string) *string {
	if s == nil {
		return nil
	}
	for word := range strings.FieldsSeq(*s) {
		if inner, ok := strings.CutPrefix(word, "["); ok {
			if inner, ok = strings.CutSuffix(inner, "]"); ok && inner != "" {
				return &inner
			}
		}
	}
	return nil
}

func lookup(m map[string]uint64, key string) *uint64 {
	if v, ok := m[key]; ok {
		return &v
	}
	return nil
}
