package sysinfo

import (
	"fmt"
	"io/fs"
)

// IOMMU is whether devices' memory accesses are translated by this kernel. In
// a virtual machine the host may translate them without showing it.
type IOMMU struct {
	// Units are the names in sys/class/iommu, such as dmar0, ivhd0 or
	// smmu3.0x0000000011000000; none if there is no IOMMU or it is off.
	Units []string `json:"units,omitempty"`
	// Groups is how many groups sys/kernel/iommu_groups has.
	Groups int `json:"groups"`
	// Types are how many groups have which type of
	// sys/kernel/iommu_groups/<n>/type: identity (not translated), DMA, DMA-FQ
	// (translated, lazily flushed), blocked, auto.
	Types map[string]int `json:"types,omitempty"`
}

// Translates returns whether any group's accesses are translated; nil if the
// groups do not tell.
func (i IOMMU) Translates() *bool {
	if i.Groups == 0 && len(i.Units) == 0 {
		return new(false)
	}
	if len(i.Types) == 0 {
		return nil
	}
	return new(i.Types["DMA"]+i.Types["DMA-FQ"] > 0)
}

// ReadIOMMU reads sys/class/iommu and sys/kernel/iommu_groups; nil where the
// kernel shows neither.
func ReadIOMMU(fsys fs.FS) *IOMMU {
	const groups = "sys/kernel/iommu_groups"
	if !exists(fsys, "sys/class/iommu") && !exists(fsys, groups) {
		return nil
	}
	i := IOMMU{Units: entries(fsys, "sys/class/iommu")}
	for _, n := range numbered(fsys, groups, "") {
		i.Groups++
		if kind := text(fsys, fmt.Sprintf("%s/%d/type", groups, n)); kind != nil {
			if i.Types == nil {
				i.Types = make(map[string]int)
			}
			i.Types[*kind]++
		}
	}
	return &i
}
