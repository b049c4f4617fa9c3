package main

import (
	"testing"
	"testing/fstest"

	"gpushare-bench/share"
)

func TestSuspects(t *testing.T) {
	yes := true
	gpu := func(id, pci string) share.DeviceInfo { return share.DeviceInfo{ID: id, PCI: pci} }
	a, b := gpu("GPU-a", "0000:17:00.0"), gpu("GPU-b", "0000:65:00.0")
	links := []share.Link{{Producer: "GPU-a", Consumer: "GPU-b", Class: "PHB", Peer: &yes}}
	iommu := fstest.MapFS{
		"sys/kernel/iommu_groups/0/type": {Data: []byte("DMA\n")},
		"sys/kernel/iommu_groups/1/type": {Data: []byte("DMA\n")},
		"sys/class/iommu/dmar0":          {Mode: 0o777},
	}
	for _, c := range []struct {
		name  string
		fsys  fstest.MapFS
		p, c  share.DeviceInfo
		links []share.Link
		want  string
	}{
		{"nothing known", fstest.MapFS{}, a, a, nil, ""},
		{"peer access", fstest.MapFS{}, a, b, links, "look at: the driver says peer access: yes, link PHB"},
		{"iommu", iommu, a, a, links, "look at: an IOMMU is on (2 groups, it translates): see whether iommu=pt helps"},
	} {
		if got := suspects(c.fsys, c.p, c.c, c.links); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
