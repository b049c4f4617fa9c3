package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// isSubset reports whether every case of got is one of want, unchanged.
func isSubset(got, want []CaseResult) bool {
	byKey := make(map[Key]CaseResult)
	for _, c := range want {
		byKey[c.Key()] = c
	}
	for _, c := range got {
		if w, ok := byKey[c.Key()]; !ok || !reflect.DeepEqual(c, w) {
			return false
		}
	}
	return true
}

// small returns a journal of few bytes for tests that try each of them.
func small(t testing.TB) ([]byte, []CaseResult) {
	cases := exampleCases()[:3]
	for i := range cases {
		cases[i].IdleNs = nil
		for k := range cases[i].Metrics {
			cases[i].Metrics[k].Samples = cases[i].Metrics[k].Samples[:3]
		}
	}
	return journalBytes(t, exampleHeader(), cases, &End{Outcome: "complete", Measured: 3}), cases
}

func TestEveryPrefixIsSound(t *testing.T) {
	whole, cases := small(t)
	header := bytes.IndexByte(whole, '\n')
	for n := range whole {
		run, err := Read(bytes.NewReader(whole[:n]), "run.jsonl")
		if n < header {
			if !errors.Is(err, ErrNoHeader) {
				t.Fatalf("prefix of %d bytes: %v, want ErrNoHeader", n, err)
			}
			continue
		}
		sound := bytes.Count(whole[header+1:max(n+1, header+1)], []byte("\n")) // a line may lack its newline
		if err != nil || len(run.Cases) != min(sound, 3) || !reflect.DeepEqual(run.Cases, append([]CaseResult(nil), cases[:min(sound, 3)]...)) {
			t.Fatalf("prefix of %d bytes: %v, %d cases, want %d", n, err, len(run.Cases), sound)
		}
		if cut := n > 0 && whole[n-1] != '\n' && whole[n] != '\n'; cut != (len(run.Dropped) > 0) {
			t.Fatalf("prefix of %d bytes: dropped %q", n, run.Dropped)
		}
	}
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	whole, cases := small(t)
	masks := []byte{0x01, 0x20, 0x80, 0xff}
	if testing.Short() {
		masks = masks[1:2]
	}
	for _, mask := range masks {
		for i := range whole {
			b := bytes.Clone(whole)
			b[i] ^= mask
			run, err := Read(bytes.NewReader(b), "run.jsonl")
			if err != nil {
				if !errors.Is(err, ErrNoHeader) {
					t.Fatalf("byte %d ^ %#x: %v", i, mask, err)
				}
				continue
			}
			if !reflect.DeepEqual(run.Header, exampleHeader()) || !isSubset(run.Cases, cases) {
				t.Fatalf("byte %d ^ %#x: a wrong value was read", i, mask)
			}
			if len(run.Dropped) == 0 && i != len(b)-1 {
				t.Fatalf("byte %d ^ %#x: nothing was said", i, mask)
			}
		}
	}
}

func TestEveryDuplicatedLineIsNoticed(t *testing.T) {
	whole := exampleJournal(t)
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	for i, line := range lines {
		run := readBytes(t, append(bytes.Clone(whole), line...))
		if !reflect.DeepEqual(run.Cases, exampleCases()) || len(run.Dropped) != 1 || run.End == nil {
			t.Errorf("line %d twice: %d cases, end %v, dropped %q", i+1, len(run.Cases), run.End, run.Dropped)
		}
	}
}

func TestDroppedText(t *testing.T) {
	whole := exampleJournal(t)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	odd := func(kind, body string) []byte {
		return []byte(frameType + kind + frameSum + checksum(kind, []byte(body)) + frameBody + body + frameEnd + "\n")
	}
	caseWith := func(from, to string) []byte {
		line := string(lines[2])
		body := line[strings.Index(line, frameBody)+len(frameBody) : len(line)-2]
		if !strings.Contains(body, from) {
			t.Fatalf("%q is not in the line", from)
		}
		return odd("case", strings.Replace(body, from, to, 1))
	}
	journal := bytes.Join([][]byte{
		lines[0], lines[1], lines[1], lines[0],
		lines[3][:len(lines[3])/2], []byte("\n"), lines[3],
		[]byte("not a line\n"), []byte("\n"),
		odd("sensor", `{"x":1}`),
		caseWith("9300", "-9300"), caseWith("9300", "1e999"), caseWith("9300", "1e19"), caseWith("9300", "null"), caseWith("9300", `"9300"`),
		caseWith(`"ns"`, `"furlongs"`),
		caseWith(`"status":"ok"`, `"status":"splendid"`), caseWith(`"size_bytes":1048576`, `"size_bytes":-1`),
		odd("end", `{"measured":-5}`), odd("end", `{"measured":17}`),
	}, nil)
	run := readBytes(t, journal)
	golden(t, "dropped.txt", []byte(strings.Join(run.Dropped, "\n")+"\n"))
	if len(run.Cases) != 3 {
		t.Errorf("%d cases, want 3", len(run.Cases))
	}
}

func TestUnknownFieldsAndOldVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/v1/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no journals of version 1", err)
	}
	for _, name := range files {
		run, err := Load(name)
		if err != nil || len(run.Cases) == 0 || len(run.Dropped) > 0 {
			t.Errorf("%s: %v, %+v", name, err, run)
		}
	}
	body := `{"schema":1,"tool":"gpushare-bench","run":"x","later":{"a":[1]}}`
	line := frameType + "header" + frameSum + checksum("header", []byte(body)) + frameBody + body + frameEnd
	if run := readBytes(t, []byte(line)); run.Header.Run != "x" || len(run.Dropped) > 0 {
		t.Errorf("unknown field: %+v", run)
	}
}

func TestReadErrors(t *testing.T) {
	h := exampleHeader()
	h.Schema = SchemaVersion + 1
	_, err := Read(bytes.NewReader(journalBytes(t, h, nil, nil)), "new.jsonl")
	if want := "new.jsonl: the journal is of a newer schema: it says 2, this version of gpushare-bench reads up to 1; use the version that wrote it or a newer one"; !errors.Is(err, ErrNewer) || err.Error() != want {
		t.Errorf("newer schema: %v\nwant %s", err, want)
	}
	line, _ := appendLine(nil, lineCase, exampleCases()[0])
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("hello\n"), "case first": line} {
		if run, err := Read(bytes.NewReader(b), name); !errors.Is(err, ErrNoHeader) || run != nil {
			t.Errorf("%s: %v, want ErrNoHeader", name, err)
		}
	}
	if _, err := Load("testdata/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of nothing = %v", err)
	}
}

// Only a regular file is read: of anything else nobody knows that it ends.
func TestLoadWantsARegularFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{fifo, "/dev/zero", "/dev/null"} {
		run := t.TempDir()
		if err := os.Symlink(target, filepath.Join(run, JournalName)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{run, filepath.Join(run, JournalName), target} {
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("Load(%s), which is %s: %v", path, target, err)
			}
		}
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, JournalName), exampleJournal(t), 0o600), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); err != nil {
		t.Errorf("a link to a run: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for _, s := range []string{"[]", "[ ]", "[1]", "[0]", "[1,2 , 3.25]", "[ 1e3,\n1E-7, -0.5]", "[123456789012345]", "[1234567890123456]",
		"[0.1,0.2,0.30000000000000004,1.7976931348623157e308,5e-324,4812345678901.234]", "[999999999999.999,0.00000000000001]"} {
		var want []float64
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatal(err)
		}
		var got numbers
		if err := json.Unmarshal([]byte(s), &got); err != nil || !reflect.DeepEqual([]float64(got), want) {
			t.Errorf("%s: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"[null]", `["1"]`, "[[1]]", "[true]", `{"a":1}`, "1", "[1e400]", `["NaN"]`, "[{}]"} {
		var got numbers
		if err := json.Unmarshal([]byte(s), &got); err == nil {
			t.Errorf("%s: %v, want an error", s, got)
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add("[1,2.5,3e4]")
	f.Add("[0.1 , 123456789012345678]")
	f.Add("[-0,1.]")
	f.Fuzz(func(t *testing.T, s string) {
		var want []*float64
		var got numbers
		wantErr := json.Unmarshal([]byte(s), &want)
		gotErr := json.Unmarshal([]byte(s), &got)
		for _, v := range want {
			if v == nil && wantErr == nil {
				wantErr = errors.New("null")
			}
		}
		if (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("%q: %v, encoding/json says %v", s, gotErr, wantErr)
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(*want[i]) {
				t.Fatalf("%q: %v, want %v", s, got[i], *want[i])
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	whole, _ := small(f)
	f.Add(whole)
	f.Add(exampleJournal(f))
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		run, err := Read(bytes.NewReader(b), "run.jsonl")
		if (run == nil) != (err != nil) {
			t.Fatalf("run %v, error %v", run, err)
		}
		if err != nil {
			return
		}
		for _, c := range run.Cases {
			if err := c.check(); err != nil {
				t.Fatalf("accepted: %v", err)
			}
		}
		again := readBytes(t, journalBytes(t, run.Header, run.Cases, run.End))
		if len(again.Cases) != len(run.Cases) {
			t.Fatalf("%d cases written, %d read; dropped %q", len(run.Cases), len(again.Cases), again.Dropped)
		}
	})
}
