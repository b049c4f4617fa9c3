package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"gpushare-bench/share"
)

// maxLine is the longest journal line that is read, in bytes: about fifty million samples.
const maxLine = 1 << 30

// maxDropped bounds Run.Dropped, so that a file of rubbish does not fill the memory.
const maxDropped = 1000

// ErrNoHeader is matched when a file's first sound line is no journal header.
var ErrNoHeader = errors.New("no sound header line, so this is no journal or its first line is damaged")

// ErrNewer is matched when a journal was written by a newer version of the tool whose values may mean something else.
var ErrNewer = errors.New("the journal is of a newer schema")

// SyntaxError is a line that was not read.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives "file:line: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Key names one journal line of a case: what no run measures twice.
type Key struct {
	Case   share.Case
	Repeat int
}

// Key returns the line's key.
func (c CaseResult) Key() Key { return Key{c.Case, c.Repeat} }

// Load reads a run: a run directory or its journal, which must be a regular file. Pipes and devices are refused: they may
// never end.
func Load(path string) (*Run, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, JournalName)
	}
	// Opening a pipe without O_NONBLOCK would wait for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer f.Close()
	if err := wantRegular(f); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return Read(f, path)
}

// wantRegular refuses what is no regular file.
func wantRegular(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", f.Name())
	}
	return nil
}

// Read reads a journal; name is for messages. Lines that are damaged, impossible, repeated or of an unknown type are left
// out and listed in Run.Dropped, and reading goes on. Of two lines for the same case and repeat the first counts, unless
// it was interrupted. Only a journal without a header ([ErrNoHeader]), one of a newer schema ([ErrNewer]) and a read
// error yield no run.
func Read(r io.Reader, name string) (*Run, error) {
	d := &reader{run: &Run{}, name: name, seen: make(map[Key]int)}
	br := bufio.NewReaderSize(r, 1<<16)
	var buf []byte
	for {
		line, err := readLine(br, buf[:0])
		if err != nil && err != io.EOF && err != bufio.ErrTooLong {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if err == io.EOF && len(line) == 0 {
			break
		}
		d.line++
		if err == bufio.ErrTooLong {
			d.drop("longer than %d bytes", maxLine)
		} else if err := d.take(line); err != nil {
			return nil, err
		}
		buf = line
	}
	if !d.header {
		return nil, fmt.Errorf("%s: %w", name, ErrNoHeader)
	}
	d.finish()
	return d.run, nil
}

// readLine reads up to and without the next newline, appending to buf. It returns io.EOF with what there is at the end
// of the file, and bufio.ErrTooLong after it skipped a line longer than maxLine.
func readLine(br *bufio.Reader, buf []byte) ([]byte, error) {
	tooLong := false
	for {
		part, err := br.ReadSlice('\n')
		if len(buf)+len(part) > maxLine {
			tooLong, buf = true, buf[:0]
		}
		if !tooLong {
			buf = append(buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if tooLong && (err == nil || err == io.EOF) {
			return buf, bufio.ErrTooLong
		}
		return bytes.TrimSuffix(buf, []byte("\n")), err
	}
}

type reader struct {
	run     *Run
	name    string
	line    int // number of the line at hand, from 1
	header  bool
	seen    map[Key]int // index in run.Cases
	endLine string      // checksum of the last end line
	lost    int         // entries beyond maxDropped
}

func (d *reader) drop(format string, args ...any) {
	if len(d.run.Dropped) >= maxDropped {
		d.lost++
		return
	}
	d.run.Dropped = append(d.run.Dropped, (&SyntaxError{d.name, d.line, fmt.Sprintf(format, args...)}).Error())
}

// take handles one line. It fails only where nothing that follows can be trusted.
func (d *reader) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	kind, sum, body, err := splitLine(line)
	if err != nil {
		d.drop("%v", err)
		return nil
	}
	if !d.header && kind != lineHeader {
		return fmt.Errorf("%s: %w", d.name, ErrNoHeader)
	}
	switch kind {
	case lineHeader:
		return d.takeHeader(body)
	case lineCase:
		d.takeCase(body)
	case lineEnd:
		d.takeEnd(sum, body)
	default:
		d.drop("unknown type of line %q, written by a newer version; ignored", kind)
	}
	return nil
}

func (d *reader) takeHeader(body []byte) error {
	if d.header {
		d.drop("a second header; ignored")
		return nil
	}
	var v struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("%w: %w", &SyntaxError{d.name, d.line, "header: " + err.Error()}, ErrNoHeader)
	}
	if v.Schema > SchemaVersion {
		return fmt.Errorf("%s: %w: it says %d, this version of gpushare-bench reads up to %d; use the version that wrote it or a newer one",
			d.name, ErrNewer, v.Schema, SchemaVersion)
	}
	err := json.Unmarshal(body, &d.run.Header)
	if err == nil {
		err = d.run.Header.check()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", &SyntaxError{d.name, d.line, "header: " + err.Error()}, ErrNoHeader)
	}
	d.header = true
	return nil
}

func (d *reader) takeCase(body []byte) {
	c, err := decodeCase(body)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		d.drop("case refused: %v", err)
		return
	}
	kept := c.Metrics[:0]
	for _, m := range c.Metrics {
		if knownUnit(m.Unit) {
			kept = append(kept, m)
		} else {
			d.drop("metric %q has the unknown unit %q; ignored", m.Name, m.Unit)
		}
	}
	c.Metrics = kept
	if i, ok := d.seen[c.Key()]; ok {
		if d.run.Cases[i].Status != share.StatusInterrupted {
			d.drop("case %s, repeat %d, is here for the second time; the first counts", c.Case, c.Repeat)
			return
		}
		d.run.Cases[i] = c
	} else {
		d.seen[c.Key()] = len(d.run.Cases)
		d.run.Cases = append(d.run.Cases, c)
	}
	d.run.End = nil // continued after an end
}

func (d *reader) takeEnd(sum string, body []byte) {
	if sum == d.endLine {
		d.drop("the end line is here for the second time; ignored")
		return
	}
	var e End
	err := json.Unmarshal(body, &e)
	if err == nil {
		err = e.check()
	}
	if err != nil {
		d.drop("end line refused: %v", err)
		return
	}
	d.run.End, d.endLine = &e, sum
}

// finish notes what the file as a whole says about its lines.
func (d *reader) finish() {
	if e := d.run.End; e != nil && e.Measured != len(d.run.Cases) {
		d.drop("the end line speaks of %d cases, %d were read", e.Measured, len(d.run.Cases))
	}
	if d.lost > 0 {
		d.run.Dropped = append(d.run.Dropped, fmt.Sprintf("%s: and %d more lines", d.name, d.lost))
	}
}

// splitLine takes a line apart and compares its checksum.
func splitLine(line []byte) (kind, sum string, body []byte, err error) {
	rest, ok := bytes.CutPrefix(line, []byte(frameType))
	i := bytes.IndexByte(rest, '"')
	if !ok || i < 1 || i > 32 {
		return "", "", nil, errors.New("not a journal line (damaged, or the end of a line that was cut)")
	}
	kind, rest = string(rest[:i]), rest[i:]
	rest, ok = bytes.CutPrefix(rest, []byte(frameSum))
	if !ok || len(rest) < sumLen {
		return "", "", nil, errors.New("line without a checksum (damaged or cut)")
	}
	sum, rest = string(rest[:sumLen]), rest[sumLen:]
	rest, ok = bytes.CutPrefix(rest, []byte(frameBody))
	if !ok || len(rest) < len(frameEnd) || string(rest[len(rest)-len(frameEnd):]) != frameEnd {
		return "", "", nil, errors.New("line without its end (damaged or cut)")
	}
	body = rest[:len(rest)-len(frameEnd)]
	if checksum(kind, body) != sum {
		return "", "", nil, errors.New("checksum does not match (damaged or cut)")
	}
	return kind, sum, body, nil
}
