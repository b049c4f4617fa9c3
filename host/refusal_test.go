package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// machine makes a directory that stands for the root of another machine.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

// alloc asks an allocator of a machine for bytes and wants an error.
func alloc(t *testing.T, root, name string, bytes int64) error {
	t.Helper()
	dev, err := Backend{root: root}.Open(t.Context(), "cpu", share.Options{Threads: 1})
	must(t, err)
	defer func() { must(t, dev.Close()) }()
	for _, a := range (Backend{}).Allocators() {
		if a.Name != name {
			continue
		}
		before := openFDs(t)
		buf, err := a.Alloc(share.NewTape(nil), dev, share.Request{Bytes: bytes})
		if err == nil {
			t.Fatalf("%s gave a buffer: %+v", name, buf)
		}
		if after := openFDs(t); after > before+1 { // the device's own node may stay open
			t.Errorf("%s left descriptors: %d, then %d", name, before, after)
		}
		return err
	}
	t.Fatalf("no allocator %q", name)
	return nil
}

// TestMemoryHint tells a lack of memory from limits on addresses, which answer the same.
func TestMemoryHint(t *testing.T) {
	const head = "Limit                     Soft Limit           Hard Limit           Units     \n"
	limited := func(space string) string {
		return fmt.Sprintf("%sMax address space         %-20s unlimited            bytes     \n", head, space)
	}
	for _, c := range []struct {
		name, space, pages string
		mappings           int
		bytes              int64
		err                error
		want               string
	}{
		{"memory", "unlimited", "1000", 100, 1 << 20, unix.ENOMEM, "1 GiB of memory are usable here"},
		{"no room", "unlimited", "1000", 100, 1 << 20, unix.ENOSPC, "1 GiB of memory are usable here"},
		{"address space", "4096000000", "990000", 100, 64 << 20, unix.ENOMEM,
			"the limit on the address space is used up, not the memory: 3.78 GiB of 3.81 GiB (ulimit -v)"},
		{"enough of it", "4096000000", "900000", 100, 64 << 20, unix.ENOMEM, "1 GiB of memory are usable here"},
		{"mappings", "unlimited", "1000", 190, 4096, unix.ENOMEM, "the limit on mappings of a process is used up, not the memory: 190 of 200 (sysctl vm.max_map_count)"},
		{"another answer", "4096000000", "990000", 190, 64 << 20, unix.EINVAL, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"proc/meminfo":              {Data: []byte("MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\n")},
				"proc/self/limits":          {Data: []byte(limited(c.space))},
				"proc/self/statm":           {Data: []byte(c.pages + " 20 10 5 0 30 0\n")},
				"proc/self/maps":            {Data: []byte(strings.Repeat("1000-2000 r--p 00000000 00:00 0\n", c.mappings))},
				"proc/sys/vm/max_map_count": {Data: []byte("200\n")},
			}
			if got := memoryHint(fsys, c.err, c.bytes); got != c.want {
				t.Errorf("said %q\nwant %q", got, c.want)
			}
			want := c.want
			if strings.HasSuffix(want, "usable here") {
				want = ""
			}
			if got := addressHint(fsys, c.err, c.bytes); got != want {
				t.Errorf("of addresses: said %q, want %q", got, want)
			}
		})
	}
}

// TestRefusals compares whole texts: they are what a person has to act on.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, allocator string
		bytes           int64
		files           map[string]string
		want            string
	}{
		{"no udmabuf", "udmabuf", 4096, nil,
			"/dev/udmabuf: no such file or directory; the kernel has CONFIG_UDMABUF off or the module is not loaded (modprobe udmabuf)"},
		{"no heap", "dma-heap", 4096, nil,
			"/dev/dma_heap/system: no such file or directory; the kernel has CONFIG_DMABUF_HEAPS or CONFIG_DMABUF_HEAPS_SYSTEM off"},
		{"no card", "drm-dumb", 4096, map[string]string{"dev/dri/renderD128": ""},
			"/dev/dri/card*: no such file or directory; no display driver is loaded (modprobe vgem makes a virtual device)"},
		{"a card that is none", "drm-dumb", 4096, map[string]string{"dev/dri/card1": ""},
			"/dev/dri/card1: ioctl(DRM_IOCTL_MODE_CREATE_DUMB): inappropriate ioctl for device; this display driver has no dumb buffers"},
		{"a heap that is none", "dma-heap", 8192, map[string]string{"dev/dma_heap/system": ""},
			"ioctl(DMA_HEAP_IOCTL_ALLOC) of 8 KiB: inappropriate ioctl for device"},
		{"no huge pages at all", "memfd-huge", 4096, map[string]string{"proc/meminfo": "MemTotal: 100 kB\n"},
			"memfd_create(MFD_HUGETLB); the kernel has no huge pages (CONFIG_HUGETLBFS)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := alloc(t, machine(t, c.files), c.allocator, c.bytes)
			if err.Error() != c.want || !errors.Is(err, share.ErrUnsupported) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestExportRefused: a udmabuf that allocates and cannot be exported gives everything back.
func TestExportRefused(t *testing.T) {
	dev, err := Backend{root: machine(t, map[string]string{"dev/udmabuf": "", "sys/module/udmabuf/parameters/size_limit_mb": "64"})}.Open(t.Context(), "cpu", share.Options{Threads: 1})
	must(t, err)
	defer func() { must(t, dev.Close()) }()
	d, tape := dev.(*device), share.NewTape(nil)
	before := openFDs(t)
	b, err := allocUdmabuf(tape, d, share.Request{Bytes: 80 << 20})
	must(t, err)
	h, err := dmabufExporter.Export(tape, b)
	want := "ioctl(UDMABUF_CREATE) of 80 MiB: inappropriate ioctl for device; the limit is 64 MiB: echo 80 > /sys/module/udmabuf/parameters/size_limit_mb"
	if err == nil || err.Error() != want || !errors.Is(err, share.ErrUnsupported) || h.FD != -1 {
		t.Errorf("got %v, %+v, want %s", err, h, want)
	}
	if spans := tape.Spans(); spans[len(spans)-1].OK {
		t.Error("a refused call was recorded as one that worked")
	}
	must(t, b.Release(tape))
	if after := openFDs(t); after != before+1 {
		t.Errorf("%d descriptors, %d before and the device node", after, before)
	}
}

func TestHugePageHint(t *testing.T) {
	for _, c := range []struct {
		free, total string
		want        string
	}{
		{"0", "0", "0 huge pages of 2 MiB free, 5 needed: echo 64 > /proc/sys/vm/nr_hugepages"},
		{"3", "200", "3 huge pages of 2 MiB free, 5 needed: echo 210 > /proc/sys/vm/nr_hugepages"},
	} {
		fsys := fstest.MapFS{
			"proc/meminfo": {Data: []byte("MemTotal: 100 kB\nHugepagesize: 2048 kB\n")},
			"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":   {Data: []byte(c.total)},
			"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": {Data: []byte(c.free)},
		}
		if got := hugePageHint(fsys, 9<<20); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestRefusedOrFailed holds the line between what a machine lacks and what went wrong.
func TestRefusedOrFailed(t *testing.T) {
	for err, unsupported := range map[error]bool{unix.EACCES: true, unix.ENOMEM: true, unix.EOPNOTSUPP: true, enotsupp: true,
		unix.EBADF: false, unix.EFAULT: false, unix.EMFILE: false, unix.EIO: false, errors.New("other"): false} {
		got := refused("mmap", err, "a hint")
		if errors.Is(got, share.ErrUnsupported) != unsupported || !errors.Is(got, err) || !strings.HasPrefix(got.Error(), "mmap: ") {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestPermissionDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may open everything: ask for the advice alone.
		root := machine(t, map[string]string{"dev/udmabuf": "", "etc/group": "root:x:0:\nkvm:x:109:\n",
			"proc/self/status": "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000\n"})
		must(t, os.Chmod(root+"/dev/udmabuf", 0o660))
		must(t, os.Chown(root+"/dev/udmabuf", 0, 109))
		want := "add yourself to group kvm (mode 0660): sudo usermod -aG kvm $USER, then log in again"
		if got := permissionHint(hostFS(root), "/dev/udmabuf"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		return
	}
	root := machine(t, map[string]string{"dev/udmabuf": ""})
	must(t, os.Chmod(root+"/dev/udmabuf", 0))
	if err := alloc(t, root, "udmabuf", 4096); !errors.Is(err, unix.EACCES) || !errors.Is(err, share.ErrUnsupported) {
		t.Error(err)
	}
}

// TestShrunkMemfd: an object smaller than its handle promises is an error, not a mapping that kills who touches it.
func TestShrunkMemfd(t *testing.T) {
	d := open(t, share.Options{})
	tape := share.NewTape(nil)
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	must(t, err)
	must(t, unix.Ftruncate(fd, 4096))
	before := openFDs(t)
	m, err := memfdImporter.Import(tape, d, share.Handle{FD: fd, Bytes: 8192, Allocated: 8192})
	if err == nil || errors.Is(err, share.ErrUnsupported) {
		t.Fatalf("%+v, %v", m, err)
	}
	if want := "import memfd: the object has 4096 bytes, too few for the 8192 bytes at offset 0 that the handle promises"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if openFDs(t) != before-1 {
		t.Error("the refused handle's descriptor is still open")
	}
	for _, h := range []share.Handle{{FD: -1, Bytes: 1}, {FD: 0, Bytes: 0}, {FD: 0, Bytes: 1, Offset: 7}, {FD: 0, Bytes: 1, Offset: -8}, {FD: 0, Bytes: 1 << 62}} {
		if h.FD == 0 {
			h.FD, err = unix.Dup(0)
			must(t, err)
		}
		if _, err := memfdImporter.Import(tape, d, h); err == nil {
			t.Errorf("%+v was imported", h)
		}
	}
}

// TestSealed: the producer cannot shrink what it shared.
func TestSealed(t *testing.T) {
	d := open(t, share.Options{})
	tape := share.NewTape(nil)
	b, err := allocMemfd(tape, d, share.Request{Bytes: 8192})
	must(t, err)
	defer func() { must(t, b.Release(tape)) }()
	if err := unix.Ftruncate(b.fd, 4096); !errors.Is(err, unix.EPERM) {
		t.Errorf("ftruncate of a sealed memfd: %v", err)
	}
}

// TestFault: memory that vanishes under a mapping is an error of whoever touches it next.
func TestFault(t *testing.T) {
	d := open(t, share.Options{})
	tape := share.NewTape(nil)
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	must(t, err)
	const size = 1 << 20
	must(t, unix.Ftruncate(fd, size))
	m, err := memfdImporter.Import(tape, d, share.Handle{FD: fd, Bytes: size, Allocated: size})
	must(t, err)
	defer func() { must(t, m.Unmap(tape)) }()
	r := m.Region()
	must(t, d.Fill(r, 1))
	must(t, unix.Ftruncate(fd, size/2))
	checks := map[string]error{"fill": d.Fill(r, 1), "touch": d.Touch(tape, r), "peek": d.Peek(r, size-8, make([]byte, 8))}
	_, checks["verify"] = d.Verify(r, 1)
	for _, k := range []share.Kernel{share.KernelRead, share.KernelWrite, share.KernelCopy, share.KernelChase} {
		_, checks[string(k)] = d.RunKernel(k, r)
	}
	for name, err := range checks {
		if !errors.Is(err, ErrFault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, unix.Ftruncate(fd, size))
	must(t, d.Fill(r, 1)) // the threads are still there
}

// TestExporterIn reads what Linux 6.1 prints about a dma-buf.
func TestExporterIn(t *testing.T) {
	for text, want := range map[string]string{
		"pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t1\nsize:\t1048576\ncount:\t3\nexp_name:\tdrm\n": "drm",
		"exp_name:\tsystem\nname:\texp_name: other\n":                                                  "system",
		"pos:\t0\nflags:\t02\n": "",
		"":                      "",
	} {
		if got := exporterIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if o := (&origin{}); o.ExporterName() != "" {
		t.Error("a buffer that was not exported has an exporter")
	}
}

func FuzzExporterIn(f *testing.F) {
	f.Add("exp_name:\tdrm\n")
	f.Fuzz(func(t *testing.T, text string) {
		if name := exporterIn(text); !strings.Contains(text, name) || strings.ContainsAny(name, "\n") {
			t.Errorf("%q of %q", name, text)
		}
	})
}
