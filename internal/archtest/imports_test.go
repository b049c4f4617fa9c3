package archtest

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "gpushare-bench"

// A source is one Go file that is not a test.
type source struct {
	pkg     string   // path within the module: "cuda", "cmd/gpushare-bench"
	file    string   // path within the module
	imports []string // import paths; those of this module without its name
}

// backends are the packages that only one file may name, so that nothing else
// can come to know a backend.
var (
	backends    = []string{"gpu", "host"}
	backendFile = "cmd/gpushare-bench/backends.go"
)

// TestImports holds what the code imports against ARCHITECTURE.md.
func TestImports(t *testing.T) {
	document := architecture(t)
	imports, err := readTable(document, "imports")
	if err != nil {
		t.Fatal("ARCHITECTURE.md: ", err)
	}
	gates, err := readTable(document, "gates")
	if err != nil {
		t.Fatal("ARCHITECTURE.md: ", err)
	}
	files := sources(t)
	for _, fault := range violations(imports, gates, files) {
		t.Error(fault)
	}
	// The table is the plan while the tree grows.
	for _, name := range absent(imports, files) {
		t.Logf("ARCHITECTURE.md has a row for %s, which is no package yet", name)
	}
}

// absent lists the rows without a package.
func absent(imports table, files []source) []string {
	var names []string
	for name := range imports.allowed {
		if !slices.ContainsFunc(files, func(s source) bool { return s.pkg == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// violations compares code with tables and returns what doesn't fit.
func violations(imports, gates table, files []source) []string {
	var faults []string
	report := func(format string, args ...any) {
		if fault := fmt.Sprintf(format, args...); !slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
	}
	exists := make(map[string]bool)
	for _, s := range files {
		exists[s.pkg] = true
	}
	for _, s := range files {
		allowed, ok := imports.allowed[s.pkg]
		if !ok {
			report("package %s has no row in ARCHITECTURE.md", s.pkg)
		}
		for _, imported := range s.imports {
			ours := exists[imported]
			switch {
			case ours && imports.testsOnly[imported] && !imports.testsOnly[s.pkg]:
				report("%s imports %s, which is for tests only", s.file, imported)
			case ours && slices.Contains(backends, imported) && s.file != backendFile:
				report("%s imports %s, which only %s may", s.file, imported, backendFile)
			case ours && ok && !slices.Contains(allowed, imported):
				report("%s imports %s, which the row of %s does not allow", s.file, imported, s.pkg)
			case !ours && !standard(imported):
				if fault := gated(gates, s.pkg, imported); fault != "" {
					report("%s %s", s.file, fault)
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// gated tells why a package must not import a library, or "".
func gated(gates table, pkg, imported string) string {
	for library, users := range gates.allowed {
		if imported != library && !strings.HasPrefix(imported, library+"/") {
			continue
		}
		if slices.Contains(users, pkg) {
			return ""
		}
		return fmt.Sprintf("imports %s, which only %s may", imported, strings.Join(users, ", "))
	}
	return fmt.Sprintf("imports %s, which has no row among the gates of ARCHITECTURE.md", imported)
}

// standard tells whether an import path is the standard library's: its first
// element has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// sources lists the non-test files that are built for either architecture.
func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var files []source
	seen := make(map[string]bool)
	for _, arch := range []string{"amd64", "arm64"} {
		cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles", "./...")
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p struct {
				ImportPath, Dir string
				GoFiles         []string
			}
			if err := dec.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("read go list: %v", err)
			}
			pkg := strings.TrimPrefix(p.ImportPath, module+"/")
			for _, name := range p.GoFiles {
				file := path.Join(pkg, name)
				if seen[file] {
					continue
				}
				seen[file] = true
				files = append(files, source{pkg, file, importsOf(t, filepath.Join(p.Dir, name))})
			}
		}
	}
	if len(files) == 0 {
		t.Fatal("go list found no files")
	}
	return files
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		paths = append(paths, strings.TrimPrefix(p, module+"/"))
	}
	return paths
}

func TestViolations(t *testing.T) {
	imports := table{
		allowed:   map[string][]string{"share": nil, "gpu": {"share"}, "bench": {"share"}, "fake": {"share"}, "cmd/gpushare-bench": {"gpu", "bench"}},
		testsOnly: map[string]bool{"fake": true},
	}
	gates := table{allowed: map[string][]string{"example.org/lib": {"share"}}}
	sound := []source{
		{"share", "share/a.go", []string{"fmt", "example.org/lib/part"}},
		{"gpu", "gpu/a.go", []string{"share"}},
		{"bench", "bench/a.go", []string{"share", "net/http"}},
		{"fake", "fake/a.go", []string{"share"}},
		{"cmd/gpushare-bench", backendFile, []string{"gpu", "bench"}},
	}
	for _, test := range []struct {
		name  string
		extra source
		want  string
	}{
		{"sound", source{"share", "share/b.go", nil}, ""},
		{"import without allowance", source{"share", "share/b.go", []string{"bench"}}, "share/b.go imports bench, which the row of share does not allow"},
		{"package without row", source{"util", "util/a.go", nil}, "package util has no row in ARCHITECTURE.md"},
		{"test package in shipped code", source{"bench", "bench/b.go", []string{"fake"}}, "bench/b.go imports fake, which is for tests only"},
		{"backend named elsewhere", source{"cmd/gpushare-bench", "cmd/gpushare-bench/info.go", []string{"gpu"}}, "cmd/gpushare-bench/info.go imports gpu, which only " + backendFile + " may"},
		{"library of another package", source{"bench", "bench/b.go", []string{"example.org/lib"}}, "bench/b.go imports example.org/lib, which only share may"},
		{"library without gate", source{"bench", "bench/b.go", []string{"example.org/library"}}, "bench/b.go imports example.org/library, which has no row among the gates of ARCHITECTURE.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(violations(imports, gates, append(slices.Clone(sound), test.extra)), "\n")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := absent(imports, sound[:4]); !slices.Equal(got, []string{"cmd/gpushare-bench"}) {
		t.Errorf("absent packages: %v", got)
	}
}
