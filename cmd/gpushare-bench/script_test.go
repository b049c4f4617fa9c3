package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"rsc.io/script"
	"rsc.io/script/scripttest"

	"gpushare-bench/results"
)

// TestScript runs testdata/script/*.txt: txtar archives whose comment is a script (package rsc.io/script). With -update
// the texts that its golden commands compare with are written anew.
func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			runScript(t, file)
		})
	}
}

func runScript(t *testing.T, file string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	env := []string{"HOME=" + work, "WORK=" + work, "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), programVariable + "=1"}
	for _, name := range []string{"GOCOVERDIR", "GORACE"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	s, err := script.NewState(ctx, work, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ExtractFiles(a); err != nil {
		t.Fatal(err)
	}
	g := &golden{archive: a}
	e := script.NewEngine()
	e.Cmds = scripttest.DefaultCmds()
	e.Cmds["gpushare-bench"] = program(exe)
	e.Cmds["status"] = status(exe)
	e.Cmds["refused"] = refused(exe)
	e.Cmds["scrub"] = scrub()
	e.Cmds["journal"] = journal()
	e.Cmds["json"] = validJSON()
	e.Cmds["truncate"] = edit("cut a file to N bytes", func(text []byte, n int) []byte { return text[:n] })
	e.Cmds["cutlines"] = edit("cut a file to N lines", func(text []byte, n int) []byte {
		return bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:n], nil)
	})
	e.Cmds["append"] = appendLine()
	e.Cmds["golden"] = g.cmd()
	e.Conds = scripttest.DefaultConds()
	e.Conds["root"] = script.BoolCondition("tests run as root", os.Getuid() == 0)
	e.Conds["device"] = script.PrefixCondition("a file of /dev exists", func(_ *script.State, name string) (bool, error) {
		_, err := os.Stat("/dev/" + name)
		return err == nil, nil
	})
	scripttest.Run(t, e, s, file, bufio.NewReader(bytes.NewReader(a.Comment)))
	if g.changed && !t.Failed() {
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// start runs the program, as a process of its own.
func start(s *script.State, exe string, args []string) script.WaitFunc {
	cmd := exec.CommandContext(s.Context(), exe, args...)
	cmd.Dir, cmd.Env = s.Getwd(), s.Environ()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	err := cmd.Start()
	return func(*script.State) (string, string, error) {
		if err == nil {
			err = cmd.Wait()
		}
		return stdout.String(), stderr.String(), err
	}
}

// program is the command gpushare-bench, which must end with status 0.
func program(exe string) script.Cmd {
	return script.Command(script.CmdUsage{Summary: "run the program", Args: "args...", Async: true},
		func(s *script.State, args ...string) (script.WaitFunc, error) { return start(s, exe, args), nil })
}

// status is the command that runs the program and wants an exact exit status.
func status(exe string) script.Cmd {
	return script.Command(script.CmdUsage{Summary: "run the program and want its exit status to be N", Args: "N gpushare-bench args...", Async: true},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) < 2 || args[1] != "gpushare-bench" {
				return nil, script.ErrUsage
			}
			want, err := strconv.Atoi(args[0])
			if err != nil {
				return nil, script.ErrUsage
			}
			wait := start(s, exe, args[2:])
			return func(s *script.State) (string, string, error) {
				stdout, stderr, err := wait(s)
				return stdout, stderr, wantStatus(err, want)
			}, nil
		})
}

// wantStatus turns how a process ended into an error unless it is the status wanted.
func wantStatus(err error, want int) error {
	got := 0
	var ee *exec.ExitError
	switch {
	case errors.As(err, &ee):
		got = ee.ExitCode()
	case err != nil:
		return err
	}
	if got != want {
		return fmt.Errorf("exit status %d (%v), want %d", got, err, want)
	}
	return nil
}

// refused is the command for wrong usage: status 2, nothing on standard output, one line on standard error, and no
// producer or consumer was started. Command and line are appended to the file transcript.
func refused(exe string) script.Cmd {
	return script.Command(script.CmdUsage{Summary: "run the program, which must refuse its arguments", Args: "args..."},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			started := s.Path(".started")
			if err := s.Setenv(logVariable, started); err != nil {
				return nil, err
			}
			stdout, stderr, err := start(s, exe, args)(s)
			if err := wantStatus(err, exitUsage); err != nil {
				return nil, fmt.Errorf("%w\n%s%s", err, stdout, stderr)
			}
			roles, _ := os.ReadFile(started)
			switch {
			case stdout != "":
				return nil, fmt.Errorf("standard output: %s", stdout)
			case strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "gpushare-bench: ") || !strings.HasSuffix(stderr, "\n"):
				return nil, fmt.Errorf("want one line from gpushare-bench on standard error, got:\n%s", stderr)
			case strings.Contains(string(roles), "producer") || strings.Contains(string(roles), "consumer"):
				return nil, fmt.Errorf("workers were started: %q", roles)
			}
			f, err := os.OpenFile(s.Path("transcript"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			_, err = fmt.Fprintf(f, "$ gpushare-bench %s\n%s", strings.Join(args, " "), stderr)
			return nil, err
		})
}

// scrub is the command that replaces what differs from run to run.
func scrub() script.Cmd {
	return script.Command(script.CmdUsage{Summary: "replace a regular expression in a file, or in stdout or stderr on its way to the file of that name", Args: "regexp replacement file"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 3 {
				return nil, script.ErrUsage
			}
			re, err := regexp.Compile("(?m)" + args[0])
			if err != nil {
				return nil, err
			}
			text, err := textOf(s, args[2])
			if err != nil {
				return nil, err
			}
			return nil, os.WriteFile(s.Path(args[2]), re.ReplaceAll(text, []byte(args[1])), 0o600)
		})
}

// journal is the command that reads a run and wants N lines of N different cases, none of them damaged.
func journal() script.Cmd {
	return script.Command(script.CmdUsage{Summary: "read a run and want every case in it once", Args: "dir N"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 2 {
				return nil, script.ErrUsage
			}
			run, err := results.Load(s.Path(args[0]))
			if err != nil {
				return nil, err
			}
			if want, err := strconv.Atoi(args[1]); err != nil || len(run.Cases) != want || len(run.Dropped) > 0 {
				return nil, fmt.Errorf("%d cases, want %s; dropped: %q", len(run.Cases), args[1], run.Dropped)
			}
			return nil, nil
		})
}

// validJSON is the command that wants a text to be one JSON value.
func validJSON() script.Cmd {
	return script.Command(script.CmdUsage{Summary: "want a file or stdout to be JSON", Args: "file"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 1 {
				return nil, script.ErrUsage
			}
			text, err := textOf(s, args[0])
			if err == nil && !json.Valid(text) {
				err = fmt.Errorf("not JSON:\n%s", text)
			}
			return nil, err
		})
}

// edit is a command that cuts a file, as a crash of the machine might.
func edit(summary string, change func(text []byte, n int) []byte) script.Cmd {
	return script.Command(script.CmdUsage{Summary: summary, Args: "file N"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 2 {
				return nil, script.ErrUsage
			}
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return nil, err
			}
			text, err := os.ReadFile(s.Path(args[0]))
			if err != nil {
				return nil, err
			}
			return nil, os.WriteFile(s.Path(args[0]), change(text, n), 0o600)
		})
}

// appendLine is the command that appends a line to a file.
func appendLine() script.Cmd {
	return script.Command(script.CmdUsage{Summary: "append a line to a file", Args: "file line"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 2 {
				return nil, script.ErrUsage
			}
			text, err := os.ReadFile(s.Path(args[0]))
			if err != nil {
				return nil, err
			}
			return nil, os.WriteFile(s.Path(args[0]), append(text, args[1]+"\n"...), 0o600)
		})
}

// textOf is a file of the script's, or the last command's stdout or stderr where no file of that name exists.
func textOf(s *script.State, name string) ([]byte, error) {
	text, err := os.ReadFile(s.Path(name))
	switch {
	case err == nil:
		return text, nil
	case name == "stdout":
		return []byte(s.Stdout()), nil
	case name == "stderr":
		return []byte(s.Stderr()), nil
	}
	return nil, err
}

// golden compares texts with files of the archive.
type golden struct {
	archive *txtar.Archive
	changed bool
}

func (g *golden) cmd() script.Cmd {
	return script.Command(script.CmdUsage{Summary: "compare a file, stdout or stderr with a file of the archive; -update writes that anew", Args: "file want"},
		func(s *script.State, args ...string) (script.WaitFunc, error) {
			if len(args) != 2 {
				return nil, script.ErrUsage
			}
			got, err := textOf(s, args[0])
			if err != nil {
				return nil, err
			}
			for i := range g.archive.Files {
				f := &g.archive.Files[i]
				switch {
				case f.Name != args[1]:
					continue
				case string(f.Data) == string(got):
					return nil, nil
				case *update:
					f.Data, g.changed = got, true
					return nil, nil
				}
				return nil, fmt.Errorf("%s is not %s (go test -update accepts it):\n%s", args[0], args[1], diff(string(f.Data), string(got)))
			}
			return nil, fmt.Errorf("no file %s in the archive", args[1])
		})
}

// diff shows the first lines that differ.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return strconv.Quote(lines[i])
			}
			return "no line"
		}
		if at(w) != at(g) {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s\nall of it:\n%s", i+1, at(w), at(g), got)
		}
	}
	return "no difference"
}
