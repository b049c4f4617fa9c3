package dl

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// fixtureDir is a directory that outlives single tests; TestMain removes it.
var fixtureDir string

func TestMain(m *testing.M) {
	var err error
	if fixtureDir, err = os.MkdirTemp("", "dl-fixture-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(fixtureDir)
	os.Exit(code)
}

var buildFixture = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("GPUSHARE_DL_FIXTURE"); path != "" {
		return path, nil
	}
	path := filepath.Join(fixtureDir, "fixture.so")
	cmd := exec.Command("gcc", "-O1", "-shared", "-fPIC", "-o", path, "testdata/fixture.c")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// fixture returns the library of testdata/fixture.c: what GPUSHARE_DL_FIXTURE
// names (a test under emulation cannot compile), or else built with gcc.
func fixture(t testing.TB) *Library {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil && os.Getenv("GPUSHARE_DL_FIXTURE") == "" {
		t.Skip("needs gcc, or GPUSHARE_DL_FIXTURE set to a built testdata/fixture.c")
	}
	path, err := buildFixture()
	if err != nil {
		t.Fatalf("build testdata/fixture.c: %v", err)
	}
	lib, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}
