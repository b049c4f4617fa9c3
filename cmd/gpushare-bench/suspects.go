package main

import (
	"fmt"
	"io/fs"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// suspects says, from what can be read on this machine, what may have made data arrive wrong between two devices: the
// IOMMU, access control of the PCI bridges between them, and whether the driver vouches for access between them at all.
// It is "" where nothing is known.
func suspects(fsys fs.FS, producer, consumer share.DeviceInfo, links []share.Link) string {
	var facts []string
	for _, l := range links {
		if l.Producer == producer.ID && l.Consumer == consumer.ID && l.Peer != nil && producer.ID != consumer.ID {
			facts = append(facts, fmt.Sprintf("the driver says peer access: %s, link %s", yesNo(l.Peer), orUnknown(l.Class)))
		}
	}
	if u := sysinfo.ReadIOMMU(fsys); u != nil && u.Groups > 0 {
		translates := "it is not known whether it translates"
		if t := u.Translates(); t != nil {
			translates = map[bool]string{true: "it translates", false: "it passes addresses through"}[*t]
		}
		facts = append(facts, fmt.Sprintf("an IOMMU is on (%d groups, %s): see whether iommu=pt helps", u.Groups, translates))
	}
	if b := redirecting(fsys, producer.PCI, consumer.PCI); b != "" {
		facts = append(facts, b)
	}
	if len(facts) == 0 {
		return ""
	}
	return "look at: " + strings.Join(facts, "; ")
}

// redirecting names the bridges between two PCI devices that send their traffic through the root complex.
func redirecting(fsys fs.FS, a, b string) string {
	if a == "" || b == "" || a == b {
		return ""
	}
	pa, errA := sysinfo.ParsePCIAddress(a)
	pb, errB := sysinfo.ParsePCIAddress(b)
	if errA != nil || errB != nil {
		return ""
	}
	da, errA := sysinfo.ReadPCIDevice(fsys, pa)
	db, errB := sysinfo.ReadPCIDevice(fsys, pb)
	if errA != nil || errB != nil {
		return ""
	}
	bridges, root := sysinfo.BridgesBetween(da, db)
	var on, hidden []string
	for _, br := range bridges {
		switch {
		case br.ACS != nil && br.ACS.RedirectsPeers():
			on = append(on, br.Address.String())
		case !br.Readable:
			hidden = append(hidden, br.Address.String())
		}
	}
	switch {
	case len(on) > 0:
		return "access control (ACS) of the bridges " + strings.Join(on, " ") + " redirects traffic between the two devices: turn it off there, or in the firmware"
	case len(hidden) > 0:
		return "access control (ACS) of the bridges " + strings.Join(hidden, " ") + " can only be read by root"
	case root:
		return "the two devices meet in the root complex only"
	}
	return ""
}
