package vmtest

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// libraryDirs are searched for shared libraries, in order: where Debian and its
// relatives, and most others, keep those of x86-64.
var libraryDirs = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
}

// libraries returns what a dynamically linked program needs beside it: its
// interpreter and, recursively, the libraries it names. Keys are the paths in the
// virtual machine, values those on this machine. A static program needs none.
func libraries(program string) (map[string]string, error) {
	found := make(map[string]string)
	interpreter, names, err := dynamic(program)
	if err != nil {
		return nil, err
	}
	if interpreter != "" {
		found[interpreter] = interpreter
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		guestPath := "/lib/x86_64-linux-gnu/" + name
		if found[guestPath] != "" || filepath.Base(interpreter) == name {
			continue
		}
		file, err := findLibrary(name)
		if err != nil {
			return nil, fmt.Errorf("%s needs %w", program, err)
		}
		_, more, err := dynamic(file)
		if err != nil {
			return nil, err
		}
		found[guestPath] = file
		names = append(names, more...)
	}
	return found, nil
}

func findLibrary(name string) (string, error) {
	for _, dir := range libraryDirs {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s, which is in none of %s", name, strings.Join(libraryDirs, ", "))
}

// dynamic returns an ELF file's interpreter (PT_INTERP) and the libraries it
// names (DT_NEEDED); both are empty for a static program.
func dynamic(file string) (interpreter string, names []string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", nil, fmt.Errorf("read libraries of %s: %w", file, err)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return "", nil, fmt.Errorf("%s is for %v and the virtual machine is x86-64", file, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b, err := io.ReadAll(p.Open())
		if err != nil {
			return "", nil, fmt.Errorf("read interpreter of %s: %w", file, err)
		}
		interpreter = strings.TrimRight(string(b), "\x00")
	}
	names, err = f.ImportedLibraries()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return "", nil, fmt.Errorf("read libraries of %s: %w", file, err)
	}
	return interpreter, names, nil
}
