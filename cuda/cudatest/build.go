package cudatest

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed driver/*.c driver/*.h
var sources embed.FS

// CFlags are how the emulated driver is compiled.
var CFlags = []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-pthread"}

// Build returns the path of the emulated driver with all symbols, compiled if
// need be. It fails the test when there is no C compiler.
func Build(t testing.TB) (libPath string) {
	t.Helper()
	path, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var building sync.Mutex

// build compiles the library without some symbols into the user's cache, under
// a name made of all that it depends on.
func build(missing []string) (string, error) {
	building.Lock()
	defer building.Unlock()
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	files, err := sourceFiles()
	if err != nil {
		return "", err
	}
	missing = slices.Sorted(slices.Values(missing))
	h := sha256.New()
	fmt.Fprintln(h, compiler, CFlags, missing)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n%s", f.name, len(f.text), f.text)
	}
	root, err := os.UserCacheDir()
	if err != nil {
		root = filepath.Join(os.TempDir(), fmt.Sprintf("cache-%d", os.Getuid()))
	}
	dir := filepath.Join(root, "gpushare-bench", "cudatest")
	path := filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:12])+".so")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("a place for the emulated CUDA driver: %w", err)
	}
	return path, compile(compiler, files, missing, dir, path)
}

func findCompiler() (string, error) {
	for _, name := range []string{os.Getenv("CC"), "gcc", "cc", "clang"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the emulated CUDA driver needs a C compiler: none of $CC, gcc, cc and clang is in PATH; " +
		"install one (Debian: apt install gcc libc6-dev)")
}

type sourceFile struct {
	name string
	text []byte
}

func sourceFiles() ([]sourceFile, error) {
	entries, err := sources.ReadDir("driver")
	if err != nil {
		return nil, err
	}
	var files []sourceFile
	for _, e := range entries {
		text, err := sources.ReadFile("driver/" + e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, sourceFile{e.Name(), text})
	}
	return files, nil
}

func compile(compiler string, files []sourceFile, missing []string, dir, path string) error {
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return fmt.Errorf("build the emulated CUDA driver: %w", err)
	}
	defer os.RemoveAll(work)
	built := filepath.Join(work, "libcuda.so")
	args := append(slices.Clone(CFlags), "-shared", "-o", built)
	for _, f := range files {
		name := filepath.Join(work, f.name)
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			return fmt.Errorf("build the emulated CUDA driver: %w", err)
		}
		if filepath.Ext(name) == ".c" {
			args = append(args, name)
		}
	}
	if len(missing) > 0 {
		// A version script makes the listed symbols local, which is what a
		// driver that is too old for them looks like.
		script := filepath.Join(work, "missing.map")
		text := "{ local: " + strings.Join(missing, "; ") + "; };\n"
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			return fmt.Errorf("build the emulated CUDA driver: %w", err)
		}
		args = append(args, "-Wl,--version-script,"+script)
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the emulated CUDA driver: %s: %w\n%s", compiler, err, out)
	}
	// Renamed into place: another test process may be building the same.
	if err := os.Rename(built, path); err != nil {
		return fmt.Errorf("build the emulated CUDA driver: %w", err)
	}
	return nil
}
