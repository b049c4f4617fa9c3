package sysinfo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const pciDir = "sys/bus/pci/devices"

// PCIAddress is a PCI function's place. As text it is the kernel's form,
// 0000:17:00.0.
type PCIAddress struct {
	Domain   uint32
	Bus      uint8
	Device   uint8 // 0 to 31
	Function uint8 // 0 to 7
}

// ParsePCIAddress parses domain:bus:device.function in hexadecimal of either
// case: the kernel's 0000:17:00.0, NVML's 00000000:17:00.0, and without the
// domain, 17:00.0.
func ParsePCIAddress(s string) (PCIAddress, error) {
	fail := func() (PCIAddress, error) {
		return PCIAddress{}, fmt.Errorf("PCI address %q: not domain:bus:device.function, such as 0000:17:00.0", s)
	}
	place, function, ok := strings.Cut(s, ".")
	fields := strings.Split(place, ":")
	if len(fields) == 2 {
		fields = append([]string{"0"}, fields...)
	}
	if !ok || len(fields) != 3 {
		return fail()
	}
	var n [4]uint64
	for i, field := range []struct {
		s    string
		bits int
	}{{fields[0], 32}, {fields[1], 8}, {fields[2], 5}, {function, 3}} {
		v, err := strconv.ParseUint(field.s, 16, field.bits)
		if err != nil {
			return fail()
		}
		n[i] = v
	}
	return PCIAddress{uint32(n[0]), uint8(n[1]), uint8(n[2]), uint8(n[3])}, nil
}

// String returns the form that sysfs uses, 0000:17:00.0.
func (a PCIAddress) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", a.Domain, a.Bus, a.Device, a.Function)
}

// MarshalText implements encoding.TextMarshaler.
func (a PCIAddress) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *PCIAddress) UnmarshalText(b []byte) error {
	parsed, err := ParsePCIAddress(string(b))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// PCIDevice is one PCI function, from sys/bus/pci/devices/<address>.
type PCIDevice struct {
	Address PCIAddress `json:"address"`
	// Vendor, Device and Class are the numbers in the files of these names.
	Vendor *uint64 `json:"vendor,omitempty"`
	Device *uint64 `json:"device,omitempty"`
	Class  *uint64 `json:"class,omitempty"`
	// NUMANode is the nearest node, from numa_node; nil if the firmware names none.
	NUMANode *int `json:"numa_node,omitempty"`
	// CPUs are the nearest, from local_cpulist.
	CPUs List `json:"cpus,omitempty"`
	// IOMMUGroup is the number that the link iommu_group ends in; nil without IOMMU.
	IOMMUGroup *int `json:"iommu_group,omitempty"`
	// Bridges are those between the device and its root complex, the topmost
	// first, with their access control.
	Bridges []Bridge `json:"bridges,omitempty"`
}

// Bridge is a PCI bridge or switch port above a device.
type Bridge struct {
	Address PCIAddress `json:"address"`
	// ACS is the bridge's access control; nil if it has none or its extended
	// configuration space may not be read, which takes CAP_SYS_ADMIN.
	ACS *ACS `json:"acs,omitempty"`
	// Readable is whether the extended configuration space could be read, so
	// that a nil ACS means that the bridge has none.
	Readable bool `json:"readable"`
}

// ReadPCIDevice reads sys/bus/pci/devices/<address>. It fails if there is no
// such device.
func ReadPCIDevice(fsys fs.FS, a PCIAddress) (PCIDevice, error) {
	dir := pciDir + "/" + a.String()
	if _, err := fs.Stat(fsys, dir); err != nil {
		return PCIDevice{}, fmt.Errorf("read %s: %w", dir, cause(err))
	}
	d := PCIDevice{
		Address: a,
		Vendor:  hexadecimal(fsys, dir+"/vendor"),
		Device:  hexadecimal(fsys, dir+"/device"),
		Class:   hexadecimal(fsys, dir+"/class"),
		CPUs:    list(fsys, dir+"/local_cpulist"),
	}
	// A node of -1 means that the firmware does not say.
	if n := number(fsys, dir+"/numa_node"); n != nil && *n < 1<<31 {
		d.NUMANode = new(int(*n))
	}
	if link, err := fs.ReadLink(fsys, dir+"/iommu_group"); err == nil {
		if n, err := strconv.ParseUint(path.Base(link), 10, 31); err == nil {
			d.IOMMUGroup = new(int(n))
		}
	}
	if link, err := fs.ReadLink(fsys, dir); err == nil {
		for _, b := range bridges(link, a) {
			config, err := fs.ReadFile(fsys, pciDir+"/"+b.String()+"/config")
			acs, readable := (*ACS)(nil), false
			if err == nil {
				acs, readable = parseACS(config)
			}
			d.Bridges = append(d.Bridges, Bridge{Address: b, ACS: acs, Readable: readable})
		}
	}
	return d, nil
}

// bridges returns the addresses in the path that a device's link points to,
// ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0, without the device's own.
func bridges(link string, device PCIAddress) []PCIAddress {
	var above []PCIAddress
	for part := range strings.SplitSeq(link, "/") {
		if strings.Count(part, ":") != 2 {
			continue
		}
		if a, err := ParsePCIAddress(part); err == nil && a != device {
			above = append(above, a)
		}
	}
	return above
}

// BridgesBetween returns the bridges that traffic between two devices passes,
// from a up and down to b, without those above both. If the devices share no
// bridge they meet in the root complex, and meetInRoot is true.
func BridgesBetween(a, b PCIDevice) (between []Bridge, meetInRoot bool) {
	shared := 0
	for shared < min(len(a.Bridges), len(b.Bridges)) && a.Bridges[shared].Address == b.Bridges[shared].Address {
		shared++
	}
	for _, bridge := range slices.Backward(a.Bridges[shared:]) {
		between = append(between, bridge)
	}
	return append(between, b.Bridges[shared:]...), shared == 0
}

// CPUsNear returns the CPUs that this process may use and that are nearest to
// a PCI device; all that it may use if the device is unknown, its place is
// unknown or none of its CPUs is allowed. It is empty if proc/self/status does
// not have Cpus_allowed_list.
func CPUsNear(fsys fs.FS, a PCIAddress) (List, error) {
	status, err := readStatus(fsys)
	if err != nil {
		return nil, err
	}
	allowed, err := ParseList(status["Cpus_allowed_list"])
	if err != nil {
		return nil, fmt.Errorf("parse proc/self/status: Cpus_allowed_list: %w", err)
	}
	if near := list(fsys, pciDir+"/"+a.String()+"/local_cpulist").Intersect(allowed); len(near) > 0 {
		return near, nil
	}
	return allowed, nil
}

// hexadecimal returns a file's content of the form 0x10de, else nil.
func hexadecimal(fsys fs.FS, name string) *uint64 {
	s, err := readText(fsys, name)
	if err != nil {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return nil
	}
	return &n
}
