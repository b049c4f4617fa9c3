package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal opens a pseudo-terminal of 30 lines: the side of the terminal's user, and the side of its programs.
func terminal(t *testing.T, columns uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("open /dev/ptmx: %v: this machine has no pseudo-terminals", err)
	}
	t.Cleanup(func() { user.Close() })
	var unlock, number int32
	size := [4]uint16{30, columns}
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{{syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)}, {syscall.TIOCGPTN, unsafe.Pointer(&number)}, {syscall.TIOCSWINSZ, unsafe.Pointer(&size)}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), call.request, uintptr(call.arg)); errno != 0 {
			t.Fatalf("ioctl(/dev/ptmx, %#x): %v", call.request, errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return user, program
}

// onTerminal runs a small sweep on a terminal and returns all that it wrote.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	user, program := terminal(t, columns)
	s := newSweep(t, t.TempDir(), append([]string{"TERM=xterm-256color", "NO_COLOR="}, env...), args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.start()
	program.Close()
	text, err := io.ReadAll(user) // ends with EIO when the last program has closed its side
	if err != nil && !strings.Contains(err.Error(), "input/output error") {
		t.Fatal(err)
	}
	if status := s.wait(); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, text)
	}
	return string(text)
}

var control = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

// screen is what stands on a terminal after text was written to it: as far as it is needed here, lines, carriage returns,
// cursor up, and clearing to the end of line and screen. Anything else is an error.
func screen(t *testing.T, text string) []string {
	t.Helper()
	lines := [][]rune{nil}
	row, col := 0, 0
	for len(text) > 0 {
		if m := control.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			n := 1
			if v, err := strconv.Atoi(m[1]); err == nil {
				n = v
			}
			switch m[2] {
			case "A":
				row = max(0, row-n)
			case "J":
				lines = lines[:row+1]
				lines[row] = lines[row][:min(col, len(lines[row]))]
			case "K":
				lines[row] = lines[row][:min(col, len(lines[row]))]
			case "m", "h", "l":
			default:
				t.Errorf("control sequence %q", m[0])
			}
			continue
		}
		var r rune
		for _, r = range text {
			break
		}
		text = text[len(string(r)):]
		switch r {
		case '\r':
			col = 0
		case '\n':
			row, col = row+1, 0
			for row >= len(lines) {
				lines = append(lines, nil)
			}
		default:
			for col >= len(lines[row]) {
				lines[row] = append(lines[row], ' ')
			}
			lines[row][col] = r
			col++
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(string(l), " "))
	}
	return out
}

var threeCases = append(slices.Clone(scripted), "--size", "4KiB:16KiB", "--max-samples", "40")

// On a terminal there is one bar, with the case in hand and the time left; when it has ended nothing of it but its last
// state is left, and the table stands below it whole.
func TestProgressBar(t *testing.T) {
	t.Parallel()
	// Long enough for the bar to be drawn between the first case and the last.
	args := append(slices.Clone(threeCases), "--precision", "0.0001%", "--max-samples", "1000000", "--max-time", "700ms")
	text := onTerminal(t, 120, []string{"NO_COLOR=1"}, args...)
	if !regexp.MustCompile(`\d/3 +\[[=>-]+\] +\d+m?s  fake/file cpu→cpu scm-rights polling warm (4|8|16) KiB`).MatchString(text) {
		t.Errorf("the bar never showed the time left and the case in hand:\n%q", text)
	}
	if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(text) {
		t.Errorf("colours in spite of NO_COLOR:\n%q", text)
	}
	lines := screen(t, text)
	whole := strings.Join(lines, "\n")
	bars := 0
	for _, l := range lines {
		if strings.Contains(l, "/3 ") {
			bars++
			if !strings.HasPrefix(l, "3/3 ") {
				t.Errorf("a line of the bar is left: %q", l)
			}
		}
	}
	if bars != 1 {
		t.Errorf("%d bars on the screen:\n%s", bars, whole)
	}
	for _, want := range []string{"vm, scripted", "phases of a cycle", "results in run: report.html"} {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, strings.TrimPrefix(want, "vm")) })
		if i < 0 {
			t.Errorf("%q is not on the screen:\n%s", want, whole)
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		t.Errorf("the cursor stands after %q, not on a line of its own", last)
	}
}

// A narrow terminal cuts the bar and does not wrap it: a wrapped bar could not be redrawn.
func TestProgressBarNarrow(t *testing.T) {
	t.Parallel()
	const columns = 40
	text := onTerminal(t, columns, nil, threeCases...)
	bar := regexp.MustCompile(`(?m)^.*\d/3 .*$`)
	for _, l := range bar.FindAllString(strings.ReplaceAll(text, "\r\n", "\n"), -1) {
		plain := regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(l, "")
		plain = plain[strings.LastIndex(plain, "\r")+1:]
		if n := len([]rune(plain)); n > columns {
			t.Errorf("a bar of %d columns on a terminal of %d: %q", n, columns, plain)
		}
	}
}

// A terminal that can't draw, and --progress plain, get lines.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		args []string
	}{{[]string{"TERM=dumb"}, threeCases}, {nil, append(slices.Clone(threeCases), "--progress", "plain")}} {
		text := onTerminal(t, 80, c.env, c.args...)
		if n := strings.Count(text, "/3] fake/file"); n != 3 {
			t.Errorf("%d lines, want one a case:\n%s", n, text)
		}
	}
}

// Journals of other people may hold what a terminal takes for commands.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"plain é→": "plain é→", "a\x1b[2Jb": "a?[2Jb", "tab\tnew\nline": "tab?new?line", "\u009b1m": "?1m", "\x7f": "?"} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

// What sweep wrote under a temporary name is renamed when it is whole, and gone when it is not.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table.csv")
	if err := writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(path, func(w io.Writer) error { io.WriteString(w, "half"); return io.ErrShortWrite }); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
	entries, _ := os.ReadDir(dir)
	text, _ := os.ReadFile(path)
	info, err := os.Stat(path)
	if len(entries) != 1 || string(text) != "one" || err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %q, %v", entries, text, info)
	}
}

// What the user names may be a pipe or a device: that is written to, not replaced by a file.
func TestWriteNamedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	}()
	if err := checkFile("--csv", pipe); err != nil {
		t.Fatal(err)
	}
	if err := writeNamed(pipe, func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "one" {
		t.Errorf("read %q", got)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info.Mode(), err)
	}
}
