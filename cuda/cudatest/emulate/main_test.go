package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	status, err := run("thor", "cuMemMap=hang", []string{"sh", "-c", `echo "$GPUSHARE_LIBCUDA $GPUSHARE_EMULATED_FAULTS" > "$0"; exit 3`, seen})
	if err != nil || status != 3 {
		t.Fatalf("run: %d, %v, want 3", status, err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "libcuda-thor.so cuMemMap=hang") {
		t.Errorf("the program saw %q", text)
	}
	if _, err := run("thor", "", []string{"/no/such/program"}); err == nil {
		t.Error("a program that is not there ran")
	}
}
