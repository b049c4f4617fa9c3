package vmtest

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"
)

// stream is an answer as process 1 writes it.
func stream(t *testing.T, status string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, entry := range []struct{ name, content string }{
		{StdoutEntry, "out"}, {StderrEntry, "err"}, {"tmp/out/file", "kept"}, {StatusEntry, status},
	} {
		if err := w.WriteHeader(&tar.Header{Name: entry.name, Size: int64(len(entry.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(entry.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadAnswer(t *testing.T) {
	got, err := readAnswer(bytes.NewReader(stream(t, `{"ExitStatus":3,"Kernel":"6.1"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got.ExitStatus != 3 || got.Kernel != "6.1" || got.Stdout != "out" || got.Stderr != "err" ||
		string(got.Files["/tmp/out/file"]) != "kept" {
		t.Errorf("got %+v", got)
	}
}

// A virtual machine that dies leaves a prefix of the answer: no prefix that lacks
// the status may pass for a result.
func TestReadAnswerCutShort(t *testing.T) {
	whole := stream(t, `{"ExitStatus":0}`)
	const statusAt = 6 * 512 // after three entries of a header and a block each
	for n := 0; n <= statusAt+512; n += 256 {
		if got, err := readAnswer(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("the first %d bytes were read as %+v", n, got)
		}
	}
}

func TestReadAnswerFault(t *testing.T) {
	_, err := readAnswer(bytes.NewReader(stream(t, `{"Fault":"run /bin/x: no such file"}`)))
	if err == nil || !strings.Contains(err.Error(), "run /bin/x: no such file") {
		t.Errorf("got %v", err)
	}
}
