package results

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/share"
)

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), JournalName)
	j, err := Create(path, exampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range exampleCases() {
		if err := j.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	end := End{Outcome: "complete", ExitStatus: 4, Finished: exampleStart, Measured: 6}
	if err := errors.Join(j.Finish(end), j.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		run, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := (&Run{Header: exampleHeader(), Cases: exampleCases(), End: &end}); !reflect.DeepEqual(run, want) {
			t.Errorf("Load(%s)\ngot  %+v\nwant %+v", name, run, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v; want 0644", info.Mode(), err)
	}
}

func TestJournalText(t *testing.T) {
	golden(t, "v1/example.jsonl", exampleJournal(t))
}

// A journal's name is made durable like its header: without it a crash of the machine takes the file away.
func TestCreateSyncsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	fsync = func(f *os.File) error {
		if text, err := os.ReadFile(filepath.Join(f.Name(), JournalName)); err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			t.Errorf("%s is synced before the header is written: %q, %v", f.Name(), text, err)
		}
		synced = append(synced, f.Name())
		return f.Sync()
	}
	defer func() { fsync = (*os.File).Sync }()
	j, err := Create(filepath.Join(dir, JournalName), exampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if !reflect.DeepEqual(synced, []string{dir}) {
		t.Errorf("synced %q, want %s", synced, dir)
	}
	fsync = func(*os.File) error { return syscall.EIO }
	if _, err := Create(filepath.Join(t.TempDir(), JournalName), exampleHeader()); !errors.Is(err, syscall.EIO) {
		t.Errorf("the directory could not be synced: %v", err)
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "precious")
	link := filepath.Join(dir, JournalName)
	if err := errors.Join(os.WriteFile(target, []byte("mine"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{target, link} {
		if _, err := Create(path, exampleHeader()); !errors.Is(err, os.ErrExist) {
			t.Errorf("Create(%s) = %v, want os.ErrExist", path, err)
		}
	}
	if _, _, err := Open(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Open of a link = %v, want ELOOP", err)
	}
	if b, _ := os.ReadFile(target); string(b) != "mine" {
		t.Errorf("the file now holds %q", b)
	}
}

func TestAppendRefusesWhatCannotBeRead(t *testing.T) {
	nan := func(v float64) []Metric { return []Metric{{Name: "map", Unit: Nanoseconds, Samples: []float64{1, v}}} }
	for name, c := range map[string]struct {
		change func(*CaseResult)
		want   string
	}{
		"NaN":      {func(c *CaseResult) { c.Metrics = nan(math.NaN()) }, `metric "map": sample 1`},
		"Inf":      {func(c *CaseResult) { c.Metrics = nan(math.Inf(1)) }, `metric "map": sample 1`},
		"negative": {func(c *CaseResult) { c.Metrics = nan(-1) }, `metric "map": sample 1`},
		"first":    {func(c *CaseResult) { c.Metrics[0].First = ptr(math.Inf(-1)) }, `metric "export": first`},
		"idle":     {func(c *CaseResult) { c.IdleNs = []float64{math.NaN()} }, "idle_ns[0]"},
		"size":     {func(c *CaseResult) { c.Case.Size = 0 }, "size_bytes is 0"},
		"status":   {func(c *CaseResult) { c.Status = "fine" }, `unknown status "fine"`},
		"unit":     {func(c *CaseResult) { c.Metrics[0].Unit = "s" }, `unknown unit "s"`},
		"twice":    {func(c *CaseResult) { c.Metrics[1].Name = "export" }, `metric "export" occurs twice`},
		"no name":  {func(c *CaseResult) { c.Metrics[1].Name = "" }, "no name"},
		"repeat":   {func(c *CaseResult) { c.Repeat = -1 }, "repeat is -1"},
		"duration": {func(c *CaseResult) { c.DurationNs = -1 }, "duration_ns"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), JournalName)
			j, err := Create(path, exampleHeader())
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			before, _ := os.ReadFile(path)
			r := exampleCases()[0]
			c.change(&r)
			if err := j.Append(r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Append = %v, want an error with %q", err, c.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("something was written")
			}
		})
	}
}

func TestResume(t *testing.T) {
	whole := exampleJournal(t)
	cases := exampleCases()
	header := bytes.IndexByte(whole, '\n') + 1
	for _, cut := range []int{header, header + 1, header + 100, bytes.IndexByte(whole[header:], '\n') + header, len(whole) - 1, len(whole)} {
		path := filepath.Join(t.TempDir(), JournalName)
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, run, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(path); !errors.Is(err, ErrBusy) {
			t.Errorf("second Open = %v, want ErrBusy", err)
		}
		for _, c := range cases[len(run.Cases):] {
			if err := j.Append(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(j.Finish(End{Outcome: "complete", Measured: len(cases)}), j.Close()); err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(path)
		if !bytes.HasPrefix(after, whole[:cut]) {
			t.Errorf("cut at %d: the journal's beginning changed", cut)
		}
		run, err = Load(path)
		if err != nil || !reflect.DeepEqual(run.Cases, cases) || run.End == nil {
			t.Errorf("cut at %d: %v, %d cases, end %v", cut, err, len(run.Cases), run.End)
		}
	}
}

// fullDisk takes room more bytes, then answers ENOSPC.
type fullDisk struct {
	bytes.Buffer
	room       int
	noTruncate bool
	syncErr    error
}

func (f *fullDisk) Write(b []byte) (int, error) {
	if len(b) <= f.room {
		f.room -= len(b)
		return f.Buffer.Write(b)
	}
	n, _ := f.Buffer.Write(b[:f.room])
	f.room = 0
	return n, syscall.ENOSPC
}

func (f *fullDisk) Truncate(size int64) error {
	if f.noTruncate {
		return syscall.EIO
	}
	f.Buffer.Truncate(int(size))
	return nil
}

func (f *fullDisk) Sync() error  { return f.syncErr }
func (f *fullDisk) Close() error { return nil }

func TestFullDisk(t *testing.T) {
	for _, noTruncate := range []bool{false, true} {
		for _, extra := range []int{0, 1, 50, 300} {
			head, err := appendLine(nil, lineHeader, exampleHeader())
			if err != nil {
				t.Fatal(err)
			}
			cases := exampleCases()
			first, err := appendLine(nil, lineCase, cases[0])
			if err != nil {
				t.Fatal(err)
			}
			disk := &fullDisk{room: len(head) + len(first) + extra, noTruncate: noTruncate}
			j := &Journal{path: "dir/run.jsonl", f: disk}
			if err := errors.Join(j.write(lineHeader, "the header", exampleHeader()), j.Append(cases[0])); err != nil {
				t.Fatal(err)
			}
			err = j.Append(cases[1])
			var failed *WriteError
			if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("Append on a full disk = %v", err)
			}
			const want = "journal dir/run.jsonl: case memfd/memfd cpu→cpu scm-rights polling cold 1 MiB was not saved: no space left on device; " +
				"the 1 cases before it are safe in the file: free some space, then continue with sweep --resume dir"
			if err.Error() != want {
				t.Errorf("message\n%s\nwant\n%s", err, want)
			}
			if run := readBytes(t, disk.Bytes()); !reflect.DeepEqual(run.Cases, cases[:1]) {
				t.Errorf("extra %d: the file is not sound up to the previous line", extra)
			}
			disk.room = 1 << 20
			if err := j.Append(cases[2]); err != nil {
				t.Fatal(err)
			}
			salvaged := append(bytes.Clone(disk.Bytes()), failed.Line...)
			run := readBytes(t, salvaged)
			if !reflect.DeepEqual(run.Cases, []CaseResult{cases[0], cases[2], cases[1]}) {
				t.Errorf("extra %d: what was salvaged does not count; dropped %q", extra, run.Dropped)
			}
		}
	}
}

func TestSyncErrorIsReported(t *testing.T) {
	disk := &fullDisk{room: 1 << 20, syncErr: syscall.EIO}
	j := &Journal{path: "run.jsonl", f: disk}
	var failed *WriteError
	if err := j.Append(exampleCases()[0]); !errors.As(err, &failed) || !errors.Is(err, syscall.EIO) {
		t.Errorf("Append = %v, want EIO", err)
	}
}

func TestInterruptedCaseIsMeasuredAgain(t *testing.T) {
	cut := exampleCases()[0]
	cut.Status, cut.Metrics = share.StatusInterrupted, nil
	again := exampleCases()[0]
	run := readBytes(t, journalBytes(t, exampleHeader(), []CaseResult{cut, again, again}, nil))
	if len(run.Cases) != 1 || !reflect.DeepEqual(run.Cases[0], again) || len(run.Dropped) != 1 {
		t.Errorf("got %d cases, dropped %q", len(run.Cases), run.Dropped)
	}
}
