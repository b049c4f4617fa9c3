package cudatest

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed driver/*.c driver/*.h nvml/*.c
var sources embed.FS

// CFlags are how the emulated driver is compiled.
var CFlags = []string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-pthread"}

// Build returns the path of the emulated driver with all symbols, compiled if
// need be. It fails the test when there is no C compiler.
func Build(t testing.TB) (libPath string) {
	t.Helper()
	path, err := build("driver", nil)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var building sync.Mutex

// build compiles one of the two libraries, "driver" or "nvml", without some
// symbols into the user's cache, under a name made of all that it depends on.
func build(library string, missing []string) (string, error) {
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
	fmt.Fprintln(h, library, compiler, CFlags, missing)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n%s", f.name, len(f.text), f.text)
	}
	root, err := os.UserCacheDir()
	if err != nil {
		root = filepath.Join(os.TempDir(), fmt.Sprintf("cache-%d", os.Getuid()))
	}
	dir := filepath.Join(root, "gpushare-bench", "cudatest")
	target := filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:12])+".so")
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("a place for the emulated CUDA driver: %w", err)
	}
	return target, compile(compiler, library, files, missing, dir, target)
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
	var files []sourceFile
	err := fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := sources.ReadFile(name)
		files = append(files, sourceFile{name, text})
		return err
	})
	return files, err
}

// of reports whether a source belongs to a library. Both read the machine's
// description.
func (f sourceFile) of(library string) bool {
	shared := f.name == "driver/config.c" || f.name == "driver/error.c"
	return path.Ext(f.name) == ".c" && (path.Dir(f.name) == library || library == "nvml" && shared)
}

func compile(compiler, library string, files []sourceFile, missing []string, dir, target string) error {
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return fmt.Errorf("build the emulated CUDA driver: %w", err)
	}
	defer os.RemoveAll(work)
	for _, sub := range []string{"driver", "nvml"} {
		if err := os.Mkdir(filepath.Join(work, sub), 0o755); err != nil {
			return fmt.Errorf("build the emulated CUDA driver: %w", err)
		}
	}
	built := filepath.Join(work, library+".so")
	args := append(slices.Clone(CFlags), "-shared", "-o", built)
	for _, f := range files {
		name := filepath.Join(work, f.name)
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			return fmt.Errorf("build the emulated CUDA driver: %w", err)
		}
		if f.of(library) {
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
	if err := os.Rename(built, target); err != nil {
		return fmt.Errorf("build the emulated CUDA driver: %w", err)
	}
	return nil
}
