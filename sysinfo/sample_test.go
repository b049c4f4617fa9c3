package sysinfo

import (
	"bytes"
	"io/fs"
	"reflect"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// sample returns the file system in testdata/<name>.txtar. A file that starts
// with "-> " is a symbolic link.
func sample(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	fsys := make(fstest.MapFS)
	for _, f := range archive.Files {
		file := &fstest.MapFile{Data: f.Data, Mode: 0o444}
		if target, ok := bytes.CutPrefix(f.Data, []byte("-> ")); ok {
			file = &fstest.MapFile{Data: bytes.TrimSpace(target), Mode: fs.ModeSymlink | 0o777}
		}
		fsys[f.Name] = file
	}
	return fsys
}

// files returns a file system with these contents.
func files(contents map[string]string) fstest.MapFS {
	fsys := make(fstest.MapFS)
	for name, s := range contents {
		fsys[name] = &fstest.MapFile{Data: []byte(s), Mode: 0o444}
	}
	return fsys
}

// check reports where got differs from want; pointers are followed.
func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %v, want %v", what, deref(got), deref(want))
	}
}

func deref(v any) any {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer && !r.IsNil() {
		return r.Elem().Interface()
	}
	return v
}
