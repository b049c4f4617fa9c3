package sysinfo

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestParsePCIAddress(t *testing.T) {
	for in, want := range map[string]string{
		"0000:17:00.0":     "0000:17:00.0",
		"00000000:17:00.0": "0000:17:00.0", // NVML
		"0001:AF:1F.7":     "0001:af:1f.7",
		"17:00.0":          "0000:17:00.0",
		"10000:e1:00.0":    "10000:e1:00.0", // Intel VMD
	} {
		a, err := ParsePCIAddress(in)
		if err != nil || a.String() != want {
			t.Errorf("ParsePCIAddress(%q) = %v, %v, want %s", in, a, err, want)
		}
	}
	for _, in := range []string{"", "0000:17:00", "0000:17:20.0", "0000:17:00.8", "0000:100:00.0", "x:17:00.0", "1:2:3:4.0", "100000000:17:00.0"} {
		if a, err := ParsePCIAddress(in); err == nil {
			t.Errorf("ParsePCIAddress(%q) = %v, want an error", in, a)
		}
	}
}

// capability is one extended capability of a configuration space.
type capability struct {
	offset int
	id     uint16
	next   int
	data   []byte
}

func configSpace(size int, capabilities ...capability) []byte {
	config := make([]byte, size)
	for _, c := range capabilities {
		binary.LittleEndian.PutUint32(config[c.offset:], uint32(c.id)|1<<16|uint32(c.next)<<20)
		copy(config[c.offset+4:], c.data)
	}
	return config
}

// redirecting is an ACS capability as Linux sets it on a bridge above devices
// that it isolates: source validation, both redirects, upstream forwarding.
var redirecting = []byte{0x5f, 0x00, 0x1d, 0x00}

func TestParseACS(t *testing.T) {
	for _, test := range []struct {
		name     string
		config   []byte
		want     *ACS
		readable bool
	}{
		{"behind error reporting", configSpace(4096, capability{0x100, 0x0001, 0x148, nil}, capability{0x148, 0x000d, 0x160, redirecting}), &ACS{0x5f, 0x1d}, true},
		{"at the start", configSpace(4096, capability{0x100, 0x000d, 0, []byte{0x5f, 0, 0, 0}}), &ACS{0x5f, 0}, true},
		{"none", configSpace(4096, capability{0x100, 0x0001, 0, nil}), nil, true},
		{"no capabilities", make([]byte, 4096), nil, true},
		{"a list that turns back", configSpace(4096, capability{0x100, 0x0001, 0x148, nil}, capability{0x148, 0x0002, 0x100, nil}), nil, true},
		{"a list that leaves", configSpace(0x110, capability{0x100, 0x0001, 0xff0, nil}), nil, true},
		{"cut off inside", configSpace(0x106, capability{0x100, 0x000d, 0, nil})[:0x106], nil, true},
		{"without privilege", make([]byte, 64), nil, false},
		{"conventional PCI", make([]byte, 256), nil, false},
		{"empty", nil, nil, false},
	} {
		got, readable := parseACS(test.config)
		if readable != test.readable {
			t.Errorf("%s: readable = %v, want %v", test.name, readable, test.readable)
		}
		check(t, test.name, got, test.want)
	}
	check(t, "redirects on", ACS{0x5f, 0x1d}.RedirectsPeers(), true)
	check(t, "capable only", ACS{0x5f, 0}.RedirectsPeers(), false)
}

// gpuTree is two GPUs below one switch and a third below another root port.
func gpuTree() fstest.MapFS {
	fsys := files(map[string]string{"proc/self/status": "Cpus_allowed_list:\t0-3,40\n"})
	device := func(address, parent string, contents map[string]string) {
		dir := parent + "/" + address
		fsys["sys/bus/pci/devices/"+address] = &fstest.MapFile{Data: []byte("../../../" + dir), Mode: fs.ModeSymlink | 0o777}
		for name, s := range contents {
			fsys["sys/"+dir+"/"+name] = &fstest.MapFile{Data: []byte(s)}
		}
	}
	acs := string(configSpace(4096, capability{0x100, 0x000d, 0, redirecting}))
	const root, port = "devices/pci0000:00", "devices/pci0000:00/0000:00:01.0"
	device("0000:00:01.0", root, map[string]string{"config": acs})
	device("0000:02:00.0", port, map[string]string{"config": acs})
	device("0000:02:01.0", port, map[string]string{"config": acs[:64]})
	device("0000:00:03.0", root, map[string]string{"config": string(make([]byte, 4096))})
	gpu := map[string]string{"vendor": "0x10de\n", "device": "0x2335\n", "class": "0x030200\n", "numa_node": "0\n", "local_cpulist": "2-5\n"}
	device("0000:17:00.0", port+"/0000:02:00.0", gpu)
	device("0000:18:00.0", port+"/0000:02:01.0", gpu)
	device("0000:65:00.0", root+"/0000:00:03.0", map[string]string{"numa_node": "-1\n", "local_cpulist": "60-63\n"})
	fsys["sys/"+port+"/0000:02:00.0/0000:17:00.0/iommu_group"] = &fstest.MapFile{Data: []byte("../../../../../../kernel/iommu_groups/42"), Mode: fs.ModeSymlink | 0o777}
	return fsys
}

func readDevice(t *testing.T, fsys fs.FS, address string) PCIDevice {
	t.Helper()
	a, err := ParsePCIAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadPCIDevice(fsys, a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestReadPCIDevice(t *testing.T) {
	d := readDevice(t, gpuTree(), "0000:17:00.0")
	check(t, "vendor", d.Vendor, new(uint64(0x10de)))
	check(t, "class", d.Class, new(uint64(0x030200)))
	check(t, "node", d.NUMANode, new(0))
	check(t, "group", d.IOMMUGroup, new(42))
	check(t, "bridges", d.Bridges, []Bridge{
		{PCIAddress{Device: 1}, &ACS{0x5f, 0x1d}, true},
		{PCIAddress{Bus: 2}, &ACS{0x5f, 0x1d}, true},
	})
	d = readDevice(t, gpuTree(), "0000:65:00.0")
	check(t, "node of -1", d.NUMANode, (*int)(nil))
	check(t, "group", d.IOMMUGroup, (*int)(nil))
	check(t, "a bridge without ACS", d.Bridges, []Bridge{{PCIAddress{Device: 3}, nil, true}})

	if _, err := ReadPCIDevice(gpuTree(), PCIAddress{Bus: 9}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is not there: %v", err)
	}
}

func TestBridgesBetween(t *testing.T) {
	tree := gpuTree()
	a, b, c := readDevice(t, tree, "17:00.0"), readDevice(t, tree, "18:00.0"), readDevice(t, tree, "65:00.0")
	names := func(bridges []Bridge) (s []string) {
		for _, b := range bridges {
			s = append(s, b.Address.String())
		}
		return s
	}
	between, root := BridgesBetween(a, b)
	check(t, "below one switch", names(between), []string{"0000:02:00.0", "0000:02:01.0"})
	check(t, "meet in the root", root, false)
	check(t, "readable without privilege", between[1].Readable, false)
	between, root = BridgesBetween(a, c)
	check(t, "below different ports", names(between), []string{"0000:02:00.0", "0000:00:01.0", "0000:00:03.0"})
	check(t, "meet in the root", root, true)
}

func TestCPUsNear(t *testing.T) {
	for address, want := range map[string]string{
		"17:00.0": "2-3",    // near and allowed
		"65:00.0": "0-3,40", // near, but none is allowed
		"99:00.0": "0-3,40", // no such device
	} {
		a, err := ParsePCIAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := CPUsNear(gpuTree(), a)
		if err != nil || got.String() != want {
			t.Errorf("CPUsNear(%s) = %v, %v, want %s", address, got, err, want)
		}
	}
}

func TestNodeOf(t *testing.T) {
	nodes, err := ReadNUMA(sample(t, "arm64-64k"))
	if err != nil {
		t.Fatal(err)
	}
	id, ok := NodeOf(nodes, 71)
	check(t, "node of CPU 71", id, 0)
	check(t, "found", ok, true)
	_, ok = NodeOf(nodes, 72)
	check(t, "found CPU 72", ok, false)
}

func FuzzParseACS(f *testing.F) {
	f.Add(configSpace(4096, capability{0x100, 0x0001, 0x148, nil}, capability{0x148, 0x000d, 0x160, redirecting}))
	f.Add(configSpace(0x108, capability{0x100, 0x000d, 0, redirecting}))
	f.Fuzz(func(t *testing.T, config []byte) {
		if acs, readable := parseACS(config); acs != nil && !readable {
			t.Error("ACS found in a space that could not be read")
		}
	})
}

func FuzzParsePCIAddress(f *testing.F) {
	f.Add("00000000:17:00.0")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParsePCIAddress(s)
		if err != nil {
			return
		}
		if back, err := ParsePCIAddress(a.String()); err != nil || back != a {
			t.Errorf("%q became %v became %v, %v", s, a, back, err)
		}
	})
}
