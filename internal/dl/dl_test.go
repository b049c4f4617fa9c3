package dl

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenNamesEveryAnswer(t *testing.T) {
	_, err := Open("libgpushare-absent.so.1", "/nowhere/libother.so", "")
	if !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound in the chain", err)
	}
	for _, want := range []string{
		"libgpushare-absent.so.1: cannot open shared object file",
		"/nowhere/libother.so: cannot open shared object file",
		"empty library name",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if _, err := Open(); !errors.Is(err, ErrNotFound) {
		t.Errorf("Open without names: got %v, want ErrNotFound", err)
	}
}

func TestOpenTakesTheFirstThatLoads(t *testing.T) {
	lib, err := Open("libgpushare-absent.so.1", "libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(lib.Path()) || filepath.Base(lib.Path()) != "libc.so.6" {
		t.Errorf("Path() = %q, want the absolute path of libc.so.6", lib.Path())
	}
	if err := lib.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lib.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := lib.Symbol("getpid"); err == nil {
		t.Error("Symbol after Close succeeded")
	}
}

func TestSymbolAbsent(t *testing.T) {
	lib := libc(t)
	_, err := lib.Symbol("cuNoSuchCall")
	if !errors.Is(err, ErrNoSymbol) {
		t.Fatalf("got %v, want ErrNoSymbol in the chain", err)
	}
	for _, want := range []string{"cuNoSuchCall", lib.Path()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
}

func libc(t testing.TB) *Library {
	t.Helper()
	lib, err := Libc()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func symbol(t testing.TB, lib *Library, name string) uintptr {
	t.Helper()
	addr, err := lib.Symbol(name)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
