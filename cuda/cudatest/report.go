package cudatest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A Class is what kind of thing a line of the report says.
type Class string

// The classes of lines.
const (
	Refused    Class = "refused"    // a call's arguments broke a rule, and it answered an error
	Violation  Class = "violation"  // a rule was broken that a real driver might not notice
	Leak       Class = "leak"       // something was left when a process released its last context
	Unreleased Class = "unreleased" // a process ended with a context: it was killed, or forgot
	OK         Class = "ok"         // a process released its last context and left nothing
)

// An Entry is one line of the report.
type Entry struct {
	Class Class
	PID   int
	Role  string // GPUSHARE_ROLE, or "-"
	Call  string // the newest driver call
	Text  string
}

// String gives "violation of process 12 (consumer) in cuMemUnmap: text".
func (e Entry) String() string {
	return fmt.Sprintf("%s of process %d (%s) in %s: %s", e.Class, e.PID, e.Role, e.Call, e.Text)
}

// ReadReport returns what the processes of the machine reported so far, and an
// Unreleased entry for each that still holds a context: call it when they have
// ended.
func (e Env) ReadReport() ([]Entry, error) {
	text, err := os.ReadFile(e.Report)
	if err != nil {
		return nil, fmt.Errorf("read the emulated driver's report: %w", err)
	}
	var entries []Entry
	for line := range strings.Lines(string(text)) {
		entry, err := parseEntry(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	state, err := os.ReadFile(e.Machine + ".state")
	if errors.Is(err, fs.ErrNotExist) {
		return entries, nil // no process got as far as cuInit
	}
	if err != nil {
		return nil, fmt.Errorf("read the emulated machine's state: %w", err)
	}
	return append(entries, unreleased(state)...), nil
}

func parseEntry(line string) (Entry, error) {
	class, rest, _ := strings.Cut(line, " ")
	pid, rest, _ := strings.Cut(rest, " ")
	role, rest, _ := strings.Cut(rest, ": ")
	call, text, ok := strings.Cut(rest, ": ")
	number, err := strconv.Atoi(pid)
	if !ok || err != nil {
		return Entry{}, fmt.Errorf("bad line in the emulated driver's report: %q", line)
	}
	return Entry{Class(class), number, role, call, text}, nil
}

// unreleased finds the processes with a context in the state file, whose layout
// is that of struct state in driver/state.c.
func unreleased(state []byte) []Entry {
	const header, size, roleAt, roleLen = 64, 160, 16, 16
	if len(state) < header {
		return nil
	}
	var entries []Entry
	slots := int(binary.NativeEndian.Uint32(state[4:]))
	for i := range slots {
		at := header + i*size
		if at+size > len(state) {
			break
		}
		slot := state[at : at+size]
		pid := int(int32(binary.NativeEndian.Uint32(slot)))
		contexts := binary.NativeEndian.Uint32(slot[4:])
		if pid == 0 || contexts == 0 {
			continue
		}
		role, _, _ := strings.Cut(string(slot[roleAt:roleAt+roleLen]), "\x00")
		objects := int64(binary.NativeEndian.Uint64(slot[8:]))
		entries = append(entries, Entry{Unreleased, pid, role, "-",
			fmt.Sprintf("the process holds a context and %d objects", objects)})
	}
	return entries
}

// An Exception is something in the report that a test expects.
type Exception struct {
	Class Class
	Text  string // part of the call or of the text; empty: all of the class
}

func (x Exception) covers(e Entry) bool {
	return x.Class == e.Class && (strings.Contains(e.Text, x.Text) || strings.Contains(e.Call, x.Text))
}

// CheckReport fails the test for everything in the report but OK and the
// exceptions. Call it when all processes of the machine have ended.
func (e Env) CheckReport(t testing.TB, exceptions ...Exception) {
	t.Helper()
	entries, err := e.ReadReport()
	if err != nil {
		t.Fatal(err)
	}
entries:
	for _, entry := range entries {
		if entry.Class == OK {
			continue
		}
		for _, x := range exceptions {
			if x.covers(entry) {
				continue entries
			}
		}
		t.Errorf("emulated machine %s: %v", e.Profile.Name, entry)
	}
}
