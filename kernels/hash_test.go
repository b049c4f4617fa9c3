package kernels

import (
	"os/exec"
	"strings"
	"testing"

	"gpushare-bench/kernels/internal/ptxbuild"
)

func TestPTXIsTheSources(t *testing.T) {
	source, err := ptxbuild.SourceHash(".")
	if err != nil {
		t.Fatal(err)
	}
	got := ptxbuild.ParseHeader(PTX)
	if got.Source != source {
		t.Errorf("ptx/kernels.ptx was built from source %s, the source here is %s: run go generate ./kernels", got.Source, source)
	}
	if want := strings.Join(ptxbuild.Flags, " "); got.Flags != want {
		t.Errorf("ptx/kernels.ptx was built with\n%s\nthe flags here are\n%s\nrun go generate ./kernels", got.Flags, want)
	}
	if body := ptxbuild.BodyHash(PTX); got.Body != body {
		t.Errorf("ptx/kernels.ptx was changed after it was built: its text has hash %s, recorded is %s", body, got.Body)
	}
	if got.Compiler == "" {
		t.Error("ptx/kernels.ptx does not say which compiler built it")
	}
}

// A hash in a comment proves little by itself: where the compiler that built
// the PTX is at hand, it has to give the same bytes again.
func TestPTXRebuilds(t *testing.T) {
	clang, err := exec.LookPath("clang++")
	if err != nil {
		t.Skipf("rebuilding the PTX needs clang++: %v", err)
	}
	version, err := ptxbuild.Version(clang)
	if err != nil {
		t.Fatal(err)
	}
	if recorded := ptxbuild.ParseHeader(PTX).Compiler; version != recorded {
		t.Skipf("the PTX was built by %q, clang++ here is %q: other versions give other text", recorded, version)
	}
	built, err := ptxbuild.Build(".", clang)
	if err != nil {
		t.Fatal(err)
	}
	if string(built) != PTX {
		t.Errorf("ptx/kernels.ptx is not what %s builds from the source here: run go generate ./kernels", version)
	}
}
