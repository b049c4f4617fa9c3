package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// JournalName is the journal's file name in a run directory.
const JournalName = "run.jsonl"

// Types of journal lines.
const (
	lineHeader = "header"
	lineCase   = "case"
	lineEnd    = "end"
)

// The frame of a line. It is matched byte for byte, so that a damaged frame is as conspicuous as a damaged body.
const (
	frameType = `{"type":"`
	frameSum  = `","crc32c":"`
	frameBody = `","body":`
	frameEnd  = `}`
	sumLen    = 8 // hexadecimal digits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is CRC-32C (Castagnoli) over the line's type followed by its body, as eight lower-case hexadecimal digits.
func checksum(kind string, body []byte) string {
	sum := crc32.Update(crc32.Checksum([]byte(kind), castagnoli), castagnoli, body)
	return fmt.Sprintf("%0*x", sumLen, sum)
}

// appendLine appends one journal line with its newline to dst.
func appendLine(dst []byte, kind string, v any) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // the journal is no HTML; viewers escape
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	b := bytes.TrimSuffix(body.Bytes(), []byte("\n"))
	dst = append(dst, frameType+kind+frameSum+checksum(kind, b)+frameBody...)
	dst = append(dst, b...)
	return append(dst, frameEnd+"\n"...), nil
}

// A WriteError says that a line could not be made durable. The file is sound up to the line before it. Line is the
// whole lost line, so that the caller can print it where there is room: appended to the journal later, it counts.
type WriteError struct {
	Path  string
	What  string // "case memfd/memfd …", "end"
	Cases int    // cases that are safe in the file
	Line  []byte // the journal line that was not written, with its newline
	Err   error
}

// Error names the file, the system's answer and the way out.
func (e *WriteError) Error() string {
	hint := "make the file writable again"
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		hint = "free some space"
	}
	return fmt.Sprintf("journal %s: %s was not saved: %v; the %d cases before it are safe in the file: %s, then continue with sweep --resume %s",
		e.Path, e.What, e.Err, e.Cases, hint, ShellQuote(filepath.Dir(e.Path)))
}

// Unwrap returns the system's answer.
func (e *WriteError) Unwrap() error { return e.Err }

// ErrBusy is matched when another process is writing to the journal.
var ErrBusy = errors.New("another process is writing to it")

// file is what a Journal needs of *os.File.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Journal is an open run.jsonl to which lines are appended. Its methods must not be called at the same time.
type Journal struct {
	path  string
	f     file
	size  int64 // bytes of sound lines
	cases int
	torn  bool // the file ends inside a line
}

// Create makes a new journal and writes its header, durably. It never follows a link and never overwrites: an existing
// path, whatever it is, is an error matching [os.ErrExist].
func Create(path string, h Header) (*Journal, error) {
	if h.Schema == 0 {
		h.Schema = SchemaVersion
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("journal %s: header: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j := &Journal{path: path, f: f}
	err = lock(f)
	if err == nil {
		err = j.write(lineHeader, "the header", h)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), f.Close())
	}
	return j, nil
}

// Open continues an existing journal. It returns what the journal holds, as [Load] does, and appends after it: nothing
// is removed, and a last line that was cut is left as it is and closed off. It never follows a link.
func Open(path string) (*Journal, *Run, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("continue journal: %w", err)
	}
	j, run, err := resume(f, path)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("continue journal: %w", err), f.Close())
	}
	return j, run, nil
}

func resume(f *os.File, path string) (*Journal, *Run, error) {
	if err := wantRegular(f); err != nil {
		return nil, nil, err
	}
	if err := lock(f); err != nil {
		return nil, nil, err
	}
	run, err := Read(f, path)
	if err != nil {
		return nil, nil, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return nil, nil, err
	}
	return &Journal{path: path, f: f, size: end, cases: len(run.Cases), torn: last[0] != '\n'}, run, nil
}

// lock keeps two writers off one journal. The kernel drops the lock with the process.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), ErrBusy)
	}
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOLCK) {
		return nil // a file system without locks: the journal works all the same
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// fsync is replaced by tests, which can't see otherwise what was made durable.
var fsync = (*os.File).Sync

// syncDir makes a new name in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = fsync(d)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // a file system that can't sync directories
	}
	return errors.Join(err, d.Close())
}

// Path returns the journal's path as it was given.
func (j *Journal) Path() string { return j.path }

// Append writes one finished case and waits until it is on the disk. A value that a journal can't hold (a sample that
// is no finite number from 0 to 1e18, an unknown status, a negative size) is an error that names it, and nothing is
// written. If the system refuses the write the error is a [*WriteError].
func (j *Journal) Append(c CaseResult) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("journal %s: case %s: %w", j.path, c.Case, err)
	}
	for _, m := range c.Metrics {
		if !knownUnit(m.Unit) {
			return fmt.Errorf("journal %s: case %s: metric %q: unknown unit %q", j.path, c.Case, m.Name, m.Unit)
		}
	}
	if err := j.write(lineCase, "case "+c.Case.String(), c); err != nil {
		return err
	}
	j.cases++
	return nil
}

// Finish writes the outcome. More cases may follow when the run is continued later.
func (j *Journal) Finish(e End) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("journal %s: end: %w", j.path, err)
	}
	return j.write(lineEnd, "the end line", e)
}

// Close closes the file. What was appended is already on the disk.
func (j *Journal) Close() error { return j.f.Close() }

// write appends one line with a single write call and syncs it. When the system takes only a part, the part is removed
// again; where even that fails the next line starts on a fresh one.
func (j *Journal) write(kind, what string, v any) error {
	var start []byte
	if j.torn {
		start = []byte("\n")
	}
	line, err := appendLine(start, kind, v)
	if err != nil {
		return fmt.Errorf("journal %s: %s: %w", j.path, what, err)
	}
	n, err := j.f.Write(line)
	switch {
	case n == len(line):
		// Even if it can't be synced it is better kept: a line that did not get to the disk is dropped when read.
		j.size, j.torn = j.size+int64(n), false
		err = j.f.Sync()
	case n > 0 && j.f.Truncate(j.size) != nil:
		j.size, j.torn = j.size+int64(n), true
	}
	if err != nil {
		return &WriteError{Path: j.path, What: what, Cases: j.cases, Line: bytes.TrimPrefix(line, start), Err: err}
	}
	return nil
}
