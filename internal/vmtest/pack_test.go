package vmtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArchive(t *testing.T) {
	var b bytes.Buffer
	a := newArchive(&b)
	a.file("/a/b/f", []byte("hello"))
	a.file("/a/g", nil)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	const zeros = "00000000"
	entry := func(inode, mode, size, nameSize, name string) string {
		return "070701" + inode + mode + zeros + zeros + "00000001" + zeros + size +
			zeros + zeros + zeros + zeros + nameSize + zeros + name + "\x00"
	}
	want := entry("00000001", "000041ed", zeros, "00000002", "a") +
		entry("00000002", "000041ed", zeros, "00000004", "a/b") + "\x00\x00" +
		entry("00000003", "000081ed", "00000005", "00000006", "a/b/f") + "hello\x00\x00\x00" +
		entry("00000004", "000081ed", zeros, "00000004", "a/g") + "\x00\x00" +
		entry("00000005", zeros, zeros, "0000000b", "TRAILER!!!") + "\x00\x00\x00"
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestLibraries(t *testing.T) {
	needVM(t)
	got, err := libraries("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"} {
		if _, err := os.Stat(got[want]); err != nil {
			t.Errorf("%s: %v; found %v", want, err, got)
		}
	}
}

func TestModuleName(t *testing.T) {
	for file, want := range map[string]string{
		"kernel/drivers/gpu/drm/vgem/vgem.ko": "vgem",
		"/x/drm-shmem-helper.ko.xz":           "drm_shmem_helper",
		"i2c-algo-bit.ko.zst":                 "i2c_algo_bit",
	} {
		if got := moduleName(file); got != want {
			t.Errorf("moduleName(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestModulesComeAfterWhatTheyNeed(t *testing.T) {
	needVM(t)
	k, err := openKernel(DefaultKernelDir())
	if err != nil {
		t.Fatal(err)
	}
	modules, err := k.load([]string{"vgem", "drm"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range modules {
		names = append(names, m.name)
	}
	drm, vgem := slices.Index(names, "drm"), slices.Index(names, "vgem")
	if drm < 0 || vgem < drm {
		t.Errorf("order is %v", names)
	}
	if _, err := k.load([]string{"no-such"}); err == nil || !strings.Contains(err.Error(), "no module no_such") {
		t.Errorf("an unknown module gives %v", err)
	}
}

func TestOpenKernelSaysWhatToDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vm")
	if _, err := openKernel(dir); err == nil || !strings.Contains(err.Error(), "scripts/vm-kernel.sh "+dir) {
		t.Errorf("got %v", err)
	}
}
