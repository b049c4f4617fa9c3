package vmtest

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A kernel is a kernel image and its modules as scripts/vm-kernel.sh unpacks them.
type kernel struct {
	release string
	image   string            // path of the bzImage
	modules map[string]string // name, with _ for -, to path
	builtin map[string]bool   // names of what is linked into the image
}

// openKernel looks at dir/boot/vmlinuz-RELEASE and dir/lib/modules/RELEASE.
func openKernel(dir string) (*kernel, error) {
	images, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil {
		return nil, fmt.Errorf("look for a kernel in %s: %w", dir, err)
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("%s/boot has %d kernel images, not one: run scripts/vm-kernel.sh %s", dir, len(images), dir)
	}
	k := &kernel{
		image:   images[0],
		release: strings.TrimPrefix(filepath.Base(images[0]), "vmlinuz-"),
		modules: make(map[string]string),
		builtin: make(map[string]bool),
	}
	root := filepath.Join(dir, "lib", "modules", k.release)
	list, err := os.ReadFile(filepath.Join(root, "modules.builtin"))
	if err != nil {
		return nil, fmt.Errorf("read modules of kernel %s: %w", k.release, err)
	}
	for _, file := range strings.Fields(string(list)) {
		k.builtin[moduleName(file)] = true
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && strings.Contains(entry.Name(), ".ko") {
			k.modules[moduleName(file)] = file
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for modules of kernel %s: %w", k.release, err)
	}
	return k, nil
}

// moduleName turns a file name into the name the kernel uses: drm_shmem_helper
// for drm-shmem-helper.ko.xz.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// A module is one module's content, uncompressed.
type module struct {
	name    string
	content []byte
}

// load returns the modules named and all that they depend on, dependencies
// first. What is linked into the kernel is left out.
func (k *kernel) load(names []string) ([]module, error) {
	var loaded []module
	seen := make(map[string]bool)
	var add func(name, wantedBy string) error
	add = func(name, wantedBy string) error {
		name = strings.ReplaceAll(name, "-", "_")
		if seen[name] || k.builtin[name] {
			return nil
		}
		seen[name] = true
		file, ok := k.modules[name]
		if !ok {
			return fmt.Errorf("kernel %s has no module %s (wanted by %s)", k.release, name, wantedBy)
		}
		content, err := readModule(file)
		if err != nil {
			return err
		}
		needs, err := dependencies(content)
		if err != nil {
			return fmt.Errorf("read dependencies of module %s: %w", file, err)
		}
		for _, needed := range needs {
			if err := add(needed, name); err != nil {
				return err
			}
		}
		loaded = append(loaded, module{name, content})
		return nil
	}
	for _, name := range names {
		if err := add(name, "the test"); err != nil {
			return nil, err
		}
	}
	return loaded, nil
}

// readModule returns a module's content, which distributions compress in three ways.
func readModule(file string) ([]byte, error) {
	decompressors := map[string]string{".xz": "xz", ".zst": "zstd", ".gz": "gzip"}
	program, ok := decompressors[filepath.Ext(file)]
	if !ok {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read module: %w", err)
		}
		return content, nil
	}
	content, err := exec.Command(program, "-dc", file).Output()
	if err != nil {
		return nil, fmt.Errorf("decompress module %s with %s: %w", file, program, err)
	}
	return content, nil
}

// dependencies returns the names in a module's depends= field. depmod's
// modules.dep says the same, but is written only where a kernel is installed.
func dependencies(content []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("it has no section .modinfo")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for field := range strings.SplitSeq(string(info), "\x00") {
		if names, ok := strings.CutPrefix(field, "depends="); ok && names != "" {
			return strings.Split(names, ","), nil
		}
	}
	return nil, nil
}
