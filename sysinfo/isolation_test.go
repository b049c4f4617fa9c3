package sysinfo

import (
	"errors"
	"io/fs"
	"strconv"
	"testing"
	"testing/fstest"
)

// link adds a namespace link.
func link(fsys fstest.MapFS, process, kind string, id uint64) {
	target := kind + ":[" + strconv.FormatUint(id, 10) + "]"
	fsys["proc/"+process+"/ns/"+kind] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

func TestReadNamespaces(t *testing.T) {
	fsys := files(nil)
	link(fsys, "self", "pid", 4026532002)
	link(fsys, "self", "net", 4026532003)
	link(fsys, "self", "mnt", 4026532000)
	link(fsys, "self", "ipc", 4026532001)
	link(fsys, "1", "ipc", 4026532001)
	link(fsys, "1", "mnt", 4026531841)
	got, err := ReadNamespaces(fsys)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "namespaces", len(got), 4)
	check(t, "ipc", got[0], Namespace{"ipc", 4026532001, new(false), new(true)})
	check(t, "mnt: another number can be the host's on an older kernel", got[1], Namespace{"mnt", 4026532000, nil, new(false)})
	check(t, "net", got[2], Namespace{"net", 4026532003, nil, nil})
	check(t, "pid", got[3], Namespace{"pid", 4026532002, new(false), nil})

	if _, err := ReadNamespaces(files(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without links: %v", err)
	}
}

// TestInitialNamespaces: what is known of the network and mount namespaces, by the kernel's age and by what can be seen.
func TestInitialNamespaces(t *testing.T) {
	const mnt, net, pid, other = 0xEFFFFFF8, 0xEFFFFFF9, 0xEFFFFFFC, 4026532000
	for _, c := range []struct {
		name, release string
		self, init    map[string]uint64
		mnt, net      *bool
	}{
		{"isolated before 6.18", "6.12.9", map[string]uint64{"pid": pid, "mnt": other, "net": other}, nil, nil, nil},
		{"isolated since", "6.18.1-arch", map[string]uint64{"pid": pid, "mnt": other, "net": other}, nil, new(false), new(false)},
		{"isolated later", "7.0.0-rc1", map[string]uint64{"pid": pid, "mnt": other, "net": other}, nil, new(false), new(false)},
		{"a number tells of the other", "", map[string]uint64{"mnt": mnt, "net": other}, nil, new(true), new(false)},
		{"the host's", "6.18.44", map[string]uint64{"mnt": mnt, "net": net}, nil, new(true), new(true)},
		{"seen", "6.8.0", map[string]uint64{"pid": pid, "mnt": 100, "net": 101}, map[string]uint64{"mnt": 100, "net": 7}, new(true), new(false)},
		{"seen in a container", "6.8.0", map[string]uint64{"pid": other, "mnt": 100, "net": 101}, map[string]uint64{"mnt": 100, "net": 7}, nil, nil},
		{"an odd release", "next", map[string]uint64{"mnt": other, "net": other}, nil, nil, nil},
	} {
		fsys := files(map[string]string{"proc/sys/kernel/osrelease": c.release})
		for kind, id := range c.self {
			link(fsys, "self", kind, id)
		}
		for kind, id := range c.init {
			link(fsys, "1", kind, id)
		}
		got, err := ReadNamespaces(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range got {
			switch n.Kind {
			case "mnt":
				check(t, c.name+": mnt", n.Initial, c.mnt)
			case "net":
				check(t, c.name+": net", n.Initial, c.net)
			}
		}
	}
}

func TestFindContainer(t *testing.T) {
	onHost := map[string]uint64{"pid": 0xEFFFFFFC, "ipc": 0xEFFFFFFF, "uts": 0xEFFFFFFE}
	newer := map[string]uint64{"pid": 0xEFFFFFFC, "ipc": 0xEFFFFFFF, "uts": 0xEFFFFFFE, "mnt": 0xEFFFFFF8}
	for _, test := range []struct {
		name       string
		files      map[string]string
		namespaces map[string]uint64
		want       string
	}{
		{"nothing", nil, nil, ""},
		{"docker", map[string]string{".dockerenv": ""}, nil, "docker"},
		{"docker with the host's PID namespace", map[string]string{".dockerenv": ""}, map[string]uint64{"pid": 0xEFFFFFFC, "uts": 4026532001}, "docker"},
		{"a machine booted from an image", map[string]string{".dockerenv": ""}, onHost, ""},
		{"the same since Linux 6.18", map[string]string{".dockerenv": "", ".singularity.d/env": "", "proc/1/environ": "container=x"}, newer, ""},
		{"singularity isolates mounts only", map[string]string{".singularity.d/env": ""}, onHost, "singularity"},
		{"podman", map[string]string{"run/.containerenv": "engine=podman"}, nil, "podman"},
		{"kubernetes before its runtime", map[string]string{".dockerenv": "", "proc/self/environ": "A=1\x00KUBERNETES_SERVICE_HOST=10.0.0.1\x00"}, nil, "kubernetes"},
		{"systemd's word", map[string]string{"run/systemd/container": "systemd-nspawn\n"}, nil, "systemd-nspawn"},
		{"process 1's variable", map[string]string{"proc/1/environ": "container=lxc\x00"}, nil, "lxc"},
		{"another variable", map[string]string{"proc/self/environ": "xcontainer=lxc\x00container=\x00"}, nil, ""},
		{"control group", map[string]string{"proc/self/cgroup": "4:memory:/docker/3f2a\n"}, nil, "docker"},
		{"docker's own service", map[string]string{"proc/self/cgroup": "0::/system.slice/docker.service\n"}, nil, ""},
		{"isolation only", nil, map[string]uint64{"pid": 4026532511}, "unknown"},
	} {
		fsys := files(test.files)
		for kind, id := range test.namespaces {
			link(fsys, "self", kind, id)
		}
		got := FindContainer(fsys)
		switch {
		case got == nil && test.want != "":
			t.Errorf("%s: no container, want %s", test.name, test.want)
		case got != nil && got.Kind != test.want:
			t.Errorf("%s: %+v, want %q", test.name, *got, test.want)
		}
	}
}

func TestReadMachine(t *testing.T) {
	const dmi = "sys/class/dmi/id/"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  *string
	}{
		{"kvm", map[string]string{dmi + "sys_vendor": "QEMU", dmi + "product_name": "KVM Virtual Machine"}, new("kvm")},
		{"EC2", map[string]string{dmi + "sys_vendor": "Amazon EC2", dmi + "product_name": "p5.48xlarge"}, new("amazon")},
		{"EC2 without hypervisor", map[string]string{dmi + "sys_vendor": "Amazon EC2", dmi + "product_name": "c7i.metal-24xl"}, nil},
		{"Hyper-V", map[string]string{dmi + "sys_vendor": "Microsoft Corporation", dmi + "product_name": "Virtual Machine"}, new("hyper-v")},
		{"a Surface", map[string]string{dmi + "sys_vendor": "Microsoft Corporation", dmi + "product_name": "Surface Laptop"}, nil},
		{"WSL", map[string]string{"proc/version": "Linux version 5.15.90.1-microsoft-standard-WSL2"}, new("wsl")},
		{"Xen", map[string]string{"sys/hypervisor/type": "xen"}, new("xen")},
		{"Arm guest", map[string]string{"sys/firmware/devicetree/base/model": "linux,dummy-virt\x00"}, new("qemu")},
		{"Jetson", map[string]string{"sys/firmware/devicetree/base/model": "NVIDIA Jetson AGX Orin\x00"}, nil},
	} {
		m := ReadMachine(files(test.files))
		if m == nil {
			m = new(Machine)
		}
		check(t, test.name, m.Virtualization, test.want)
	}
	check(t, "nothing known", ReadMachine(files(nil)), (*Machine)(nil))
}

func TestIOMMU(t *testing.T) {
	for _, test := range []struct {
		name string
		i    IOMMU
		want *bool
	}{
		{"off", IOMMU{}, new(false)},
		{"identity", IOMMU{Groups: 2, Types: map[string]int{"identity": 2}}, new(false)},
		{"some translated", IOMMU{Groups: 2, Types: map[string]int{"identity": 1, "DMA-FQ": 1}}, new(true)},
		{"types not shown", IOMMU{Groups: 2}, nil},
	} {
		check(t, test.name, test.i.Translates(), test.want)
	}
	check(t, "no such directories", ReadIOMMU(files(nil)), (*IOMMU)(nil))
}

func TestParseUptime(t *testing.T) {
	got, err := parseUptime("564.13 1081.21")
	if err != nil || got != 564_130_000_000 {
		t.Errorf("uptime = %d, %v", got, err)
	}
	for _, bad := range []string{"", "x 1", "-1 1", "NaN", "1e300"} {
		if got, err := parseUptime(bad); err == nil {
			t.Errorf("parseUptime(%q) = %d, want an error", bad, got)
		}
	}
}

func FuzzParseNamespace(f *testing.F) {
	f.Add("pid:[4026531836]")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := parseNamespace(s); err != nil && id != 0 {
			t.Error("both a result and an error")
		}
	})
}

func FuzzParseUptime(f *testing.F) {
	f.Add("564.13 1081.21")
	f.Fuzz(func(t *testing.T, s string) {
		if ns, err := parseUptime(s); err == nil && ns < 0 {
			t.Errorf("uptime = %d", ns)
		}
	})
}
