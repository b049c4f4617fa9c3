package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Host returns the file system of the machine the process runs on.
func Host() fs.FS { return os.DirFS("/") }

// readText returns a file's content without surrounding white space and the
// NUL bytes that end device-tree strings.
func readText(fsys fs.FS, name string) (string, error) {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, cause(err))
	}
	return strings.Trim(string(b), " \t\r\n\x00"), nil
}

// cause drops the path that a *fs.PathError repeats.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// text returns a file's content, nil if it is absent, unreadable or empty.
func text(fsys fs.FS, name string) *string {
	s, err := readText(fsys, name)
	if err != nil || s == "" {
		return nil
	}
	return &s
}

// number returns a file's decimal content, nil if it is absent, unreadable or
// not a non-negative number.
func number(fsys fs.FS, name string) *uint64 {
	s, err := readText(fsys, name)
	if err != nil {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// scaled returns number times unit, nil also where the product overflows.
func scaled(fsys fs.FS, name string, unit uint64) *uint64 {
	return multiply(number(fsys, name), unit)
}

func multiply(n *uint64, unit uint64) *uint64 {
	if n == nil || *n > ^uint64(0)/unit {
		return nil
	}
	return new(*n * unit)
}

// boolean returns whether a file holds 1 (true) or 0 (false), else nil.
func boolean(fsys fs.FS, name string) *bool {
	n := number(fsys, name)
	if n == nil || *n > 1 {
		return nil
	}
	return new(*n == 1)
}

// exists reports whether name is there, whatever it is.
func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// entries returns the names in a directory, sorted; none if it is absent.
func entries(fsys fs.FS, dir string) []string {
	list, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

// numbered returns the n of the directory's entries called prefix followed by
// a number, ascending.
func numbered(fsys fs.FS, dir, prefix string) List {
	var found List
	for _, name := range entries(fsys, dir) {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.ParseUint(rest, 10, 31); err == nil {
				found = append(found, int(n))
			}
		}
	}
	return found.sorted()
}
