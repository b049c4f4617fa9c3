package sysinfo

import (
	"io/fs"
	"strings"
)

// Machine is the computer, as its firmware names it. Serial numbers are not
// read.
type Machine struct {
	// Vendor and Product are sys/class/dmi/id/sys_vendor and product_name; on a
	// device-tree machine Product is sys/firmware/devicetree/base/model.
	Vendor  *string `json:"vendor,omitempty"`
	Product *string `json:"product,omitempty"`
	// Board is sys/class/dmi/id/board_name.
	Board *string `json:"board,omitempty"`
	// BIOS is sys/class/dmi/id/bios_version.
	BIOS *string `json:"bios,omitempty"`
	// Virtualization names the hypervisor where something gives it away: kvm,
	// xen, vmware, hyper-v, virtualbox, qemu, firecracker, wsl, gvisor, amazon,
	// google; nil if nothing does. The flag in CPU.Hypervisor says whether
	// there is one.
	Virtualization *string `json:"virtualization,omitempty"`
}

// hypervisors are words in firmware names and what they stand for.
var hypervisors = []struct{ word, name string }{
	{"firecracker", "firecracker"},
	{"vmware", "vmware"},
	{"virtualbox", "virtualbox"},
	{"innotek", "virtualbox"},
	{"amazon ec2", "amazon"},
	{"google compute engine", "google"},
	{"microsoft corporation virtual machine", "hyper-v"},
	{"xen", "xen"},
	{"kvm", "kvm"},
	{"qemu", "qemu"},
	{"linux,dummy-virt", "qemu"},
}

// ReadMachine reads sys/class/dmi/id, sys/firmware/devicetree/base,
// sys/hypervisor/type and proc/version; nil if they say nothing.
func ReadMachine(fsys fs.FS) *Machine {
	const dmi, tree = "sys/class/dmi/id/", "sys/firmware/devicetree/base/"
	m := Machine{
		Vendor:  text(fsys, dmi+"sys_vendor"),
		Product: text(fsys, dmi+"product_name"),
		Board:   text(fsys, dmi+"board_name"),
		BIOS:    text(fsys, dmi+"bios_version"),
	}
	if m.Product == nil {
		m.Product = text(fsys, tree+"model")
	}
	m.Virtualization = hypervisor(
		text(fsys, "proc/version"),
		text(fsys, "sys/hypervisor/type"),
		text(fsys, tree+"hypervisor/compatible"),
		m.Vendor, m.Product)
	if m == (Machine{}) {
		return nil
	}
	return &m
}

// hypervisor looks for a known name: in the kernel's version for those that
// bring their own kernel, then in what the hypervisor or the firmware say. An
// EC2 instance can be bare metal, whose product name says so.
func hypervisor(version, kind, compatible, vendor, product *string) *string {
	if version != nil {
		switch v := strings.ToLower(*version); {
		case strings.Contains(v, "gvisor"):
			return new("gvisor")
		case strings.Contains(v, "microsoft") && strings.Contains(v, "wsl"):
			return new("wsl")
		}
	}
	var firmware []string
	for _, s := range []*string{kind, compatible, vendor, product} {
		if s != nil {
			firmware = append(firmware, strings.ToLower(*s))
		}
	}
	words := strings.Join(firmware, " ")
	if strings.Contains(words, ".metal") {
		return nil
	}
	for _, h := range hypervisors {
		if strings.Contains(words, h.word) {
			return new(h.name)
		}
	}
	return nil
}
