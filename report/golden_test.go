package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares text with a file in testdata. On a difference the text is left beside the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		actual := path + ".actual"
		if err := os.WriteFile(actual, got, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s differs from %s; see with: diff report/%s report/%s", actual, path, path, actual)
	}
}
