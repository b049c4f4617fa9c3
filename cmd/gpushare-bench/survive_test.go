package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// The runner is killed while a call hangs: the workers die with it, the journal is whole, and the run can be finished.
func TestRunnerKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2")
	// Each case has 3 cycles, so the fifth cycle is in the second case.
	s := startSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, args...)
	s.hangs()
	pids := s.workers(2)
	send(t, s.cmd.Process.Pid, syscall.SIGKILL)
	if status := s.wait(); status != -1 {
		t.Fatalf("exit status %d of a killed process", status)
	}
	gone(t, pids)
	run := load(t, filepath.Join(dir, "run"))
	before := len(run.Cases)
	if run.End != nil || before == 0 || before > 4 {
		t.Errorf("%d cases, end %+v; want some cases and no end", before, run.End)
	}
	s = startSweep(t, dir, nil, "sweep", "--resume", "run")
	if status := s.wait(); status != 0 {
		t.Fatalf("resume: exit status %d\n%s", status, &s.stderr)
	}
	everyCaseOnce(t, filepath.Join(dir, "run"), 5, share.StatusOK)
	if n := strings.Count(s.stderr.String(), ": ok"); n != 5-before {
		t.Errorf("resume measured %d cases, want the %d that were left:\n%s", n, 5-before, &s.stderr)
	}
}

// A signal ends a run in order, also while a call hangs: what was measured is written, and the status says 130.
func TestInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := startSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2")...)
			s.hangs()
			pids := s.workers(2)
			send(t, s.cmd.Process.Pid, sig)
			if status := s.wait(); status != exitInterrupted {
				t.Fatalf("exit status %d, want %d\n%s", status, exitInterrupted, &s.stderr)
			}
			gone(t, pids)
			run := load(t, filepath.Join(dir, "run"))
			if run.End == nil || run.End.Outcome != "interrupted" || run.End.ExitStatus != exitInterrupted {
				t.Errorf("end %+v", run.End)
			}
			if !strings.Contains(s.stderr.String(), "finish the run with: gpushare-bench sweep --resume run") {
				t.Errorf("no word about how to go on:\n%s", &s.stderr)
			}
			if !strings.Contains(s.stdout.String(), "fake file") {
				t.Errorf("no table of what was measured:\n%s", &s.stdout)
			}
			for _, name := range []string{summaryName, samplesName, pageName} {
				if _, err := os.Stat(filepath.Join(dir, "run", name)); err != nil {
					t.Error(err)
				}
			}
			s = startSweep(t, dir, nil, "sweep", "--resume", "run")
			if status := s.wait(); status != 0 {
				t.Fatalf("resume: exit status %d\n%s", status, &s.stderr)
			}
			everyCaseOnce(t, filepath.Join(dir, "run"), 5, share.StatusOK)
		})
	}
}

// Whoever reads what a run says may go away, as tee does after Ctrl-C: the run goes on and everything is written.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newSweep(t, dir, nil, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--progress", "plain")...)
	s.cmd.Stdout, s.cmd.Stderr = w, w
	r.Close()
	s.start()
	w.Close()
	if status := s.wait(); status != exitOK {
		t.Errorf("exit status %d (-1 is a signal), want 0", status)
	}
	everyCaseOnce(t, filepath.Join(dir, "run"), 5, share.StatusOK)
	if _, err := os.Stat(filepath.Join(dir, "run", pageName)); err != nil {
		t.Error(err)
	}
}

// A second signal ends the run at once; the journal is whole all the same.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2")...)
	s.measured(1)
	pids := s.workers(2)
	send(t, s.cmd.Process.Pid, syscall.SIGINT)
	ended := false
	for range 400 { // the first one may end it in order before the second is there
		select {
		case err := <-s.done:
			s.done <- err
			ended = true
		default:
			_ = s.cmd.Process.Signal(syscall.SIGINT)
			time.Sleep(5 * time.Millisecond)
		}
		if ended {
			break
		}
	}
	if status := s.wait(); status != -1 && status != exitInterrupted {
		t.Errorf("exit status %d\n%s", status, &s.stderr)
	}
	gone(t, pids)
	load(t, filepath.Join(dir, "run"))
}

// A full disk ends the run and loses nothing: all that was measured is on the screen, the line that did not fit is kept
// elsewhere, and the run can be finished.
func TestDiskFull(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int // bytes that fit; 0: a file system of that size
	}{{"file size limit", 12000}, {"file system", 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var env []string
			want := "file too large"
			if c.limit > 0 {
				env = []string{sizeVariable + "=" + strconv.Itoa(c.limit)}
			} else {
				if os.Getuid() != 0 {
					t.Skip("only root can mount a small file system; the limit of file sizes has been tested")
				}
				small := filepath.Join(dir, "run")
				if err := os.Mkdir(small, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=16k,mode=755"); err != nil {
					t.Skipf("mount a tmpfs: %v: this machine does not let its root mount", err)
				}
				t.Cleanup(func() { _ = syscall.Unmount(small, syscall.MNT_DETACH) })
				want = "no space left on device"
			}
			s := startSweep(t, dir, env, append(slices.Clone(scripted), "--size", "4KiB:2MiB")...)
			if status := s.wait(); status != exitFailure {
				t.Fatalf("exit status %d, want %d\n%s%s", status, exitFailure, &s.stdout, &s.stderr)
			}
			text := s.stderr.String()
			if !strings.Contains(text, want) {
				t.Errorf("standard error does not say %q:\n%s", want, text)
			}
			if strings.Contains(text, "goroutine ") {
				t.Errorf("a crash:\n%s", text)
			}
			_, rest, ok := strings.Cut(text, "are kept: cat ")
			kept, _, ok2 := strings.Cut(rest, " >> run/run.jsonl\n")
			if !ok || !ok2 {
				t.Fatalf("nothing about what was measured:\n%s", text)
			}
			if !strings.Contains(s.stdout.String(), "fake file") {
				t.Errorf("no table of what was measured:\n%s", &s.stdout)
			}
			run := filepath.Join(dir, "run")
			before := load(t, run)
			if c.limit == 0 {
				if err := syscall.Mount("tmpfs", run, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
					t.Fatal(err)
				}
			}
			journal, err := os.OpenFile(filepath.Join(run, results.JournalName), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := os.ReadFile(kept)
			if err == nil {
				_, err = journal.Write(lines)
			}
			if err = errors.Join(err, journal.Close()); err != nil {
				t.Fatal(err)
			}
			if after := load(t, run); len(after.Cases) != len(before.Cases)+1 {
				t.Errorf("%d cases with the lines that were kept, %d without", len(after.Cases), len(before.Cases))
			}
			s = startSweep(t, dir, nil, "sweep", "--resume", "run")
			if status := s.wait(); status != 0 {
				t.Fatalf("resume: exit status %d\n%s", status, &s.stderr)
			}
			everyCaseOnce(t, run, 10, share.StatusOK)
		})
	}
}

// Where nothing can be saved at all, the table is on the screen still.
func TestNowhereToSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{sizeVariable + "=12000", "TMPDIR=" + filepath.Join(dir, "none")},
		append(slices.Clone(scripted), "--size", "4KiB:2MiB", "--producer-env", "TMPDIR="+t.TempDir())...)
	if status := s.wait(); status != exitFailure {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(s.stderr.String(), "TMPDIR says where") || !strings.Contains(s.stdout.String(), "fake file") {
		t.Errorf("standard output:\n%s\nstandard error:\n%s", &s.stdout, &s.stderr)
	}
}

// No directory is left behind by a run that could not even begin its journal.
func TestDiskFullAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{sizeVariable + "=100"}, append(slices.Clone(scripted), "--out", "new/run")...)
	if status := s.wait(); status != exitFailure {
		t.Errorf("exit status %d\n%s", status, &s.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a directory was left behind")
	}
}

// The directory becomes read-only during the run: the journal, which is open, goes on; the files that can't be made are
// named, the table is shown, and the files can be made later.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2", "--case-timeout", "2s")...)
	if os.Getuid() == 0 {
		// Permissions don't bind root.
		s.cmd.Path = filepath.Join(dir, "gpushare-bench")
		text, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.cmd.Path, text, 0o755); err != nil {
			t.Fatal(err)
		}
		tmp := filepath.Join(dir, "tmp")
		if err := errors.Join(os.Mkdir(tmp, 0o777), os.Chmod(tmp, 0o777), os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
		s.cmd.Env = append(s.cmd.Env, "TMPDIR="+tmp)
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	s.start()
	s.measured(1)
	run := filepath.Join(dir, "run")
	if err := os.Chmod(run, 0o555); err != nil {
		t.Fatal(err)
	}
	if status := s.wait(); status != exitFailure {
		t.Errorf("exit status %d", status)
	}
	text := s.stderr.String()
	if !strings.Contains(text, "write run/summary.csv: make a file in run: permission denied") || !strings.Contains(text, "then make the files with: gpushare-bench report run") {
		t.Errorf("standard error:\n%s", text)
	}
	if !strings.Contains(s.stdout.String(), "fake file") {
		t.Errorf("no table:\n%s", &s.stdout)
	}
	if got := load(t, run); len(got.Cases) != 5 || got.End == nil {
		t.Errorf("%d cases, end %+v", len(got.Cases), got.End)
	}
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	if status := startSweep(t, dir, nil, "report", "run").wait(); status != 0 {
		t.Errorf("report: exit status %d", status)
	}
	if _, err := os.Stat(filepath.Join(run, summaryName)); err != nil {
		t.Error(err)
	}
}

// Few descriptors, from the start of the program on: the run ends with an error that says so, or does its work; it never
// hangs and never crashes.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	failed, fine := 0, 0
	for _, n := range []int{4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 64} {
		dir := t.TempDir()
		// The loader needs one for the C library. The log of started workers would need another.
		s := newSweep(t, dir, []string{logVariable + "="}, append(slices.Clone(scripted), "--size", "4KiB", "--max-samples", "30")...)
		s.cmd.Args = append([]string{"sh", "-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(n), s.cmd.Path}, s.cmd.Args[1:]...)
		s.cmd.Path = "/bin/sh"
		s.start()
		status := s.wait()
		text := s.stderr.String()
		if strings.Contains(text, "goroutine ") || strings.Contains(text, "panic") || strings.Contains(text, "fatal error") {
			t.Errorf("%d descriptors: a crash:\n%s", n, text)
		}
		switch status {
		case exitOK:
			fine++
		case exitFailure, exitNothing:
			failed++
			if !strings.Contains(text, "too many open files") {
				t.Errorf("%d descriptors: status %d without saying why:\n%s", n, status, text)
			}
		default:
			t.Errorf("%d descriptors: status %d:\n%s", n, status, text)
		}
	}
	if failed == 0 || fine == 0 {
		t.Errorf("%d runs failed and %d were fine: the limits tried don't reach from one to the other", failed, fine)
	}
}

// Links planted where the files will be are replaced, not followed.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o644), os.Mkdir(elsewhere, 0o755)); err != nil {
		t.Fatal(err)
	}
	s := startSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2", "--case-timeout", "2s")...)
	s.measured(1)
	run := filepath.Join(dir, "run")
	names := []string{summaryName, samplesName, fitsName, evensName, pageName}
	for _, name := range names {
		if err := os.Symlink(victim, filepath.Join(run, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(run, plotsDir)); err != nil {
		t.Fatal(err)
	}
	if status := s.wait(); status != exitFailure {
		t.Errorf("exit status %d", status)
	}
	if text, _ := os.ReadFile(victim); string(text) != "mine" {
		t.Errorf("the file behind the links was overwritten: %.100s", text)
	}
	if files, _ := os.ReadDir(elsewhere); len(files) > 0 {
		t.Errorf("pictures were drawn behind the link: %v", files)
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(run, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if !strings.Contains(s.stderr.String(), "run/plots is no directory") {
		t.Errorf("standard error:\n%s", &s.stderr)
	}

	// The journal itself: an empty directory is one in which nobody planted anything. What the link leads to is a run that
	// could be finished, were it not for the link.
	text, err := os.ReadFile(filepath.Join(run, results.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	unfinished := bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:2], nil)
	planted := filepath.Join(dir, "planted")
	if err := errors.Join(os.WriteFile(victim, unfinished, 0o644), os.Mkdir(planted, 0o755), os.Symlink(victim, filepath.Join(planted, results.JournalName))); err != nil {
		t.Fatal(err)
	}
	if status := startSweep(t, dir, nil, append(slices.Clone(scripted), "--out", "planted")...).wait(); status != exitUsage {
		t.Errorf("planted journal: exit status %d", status)
	}
	s = startSweep(t, dir, nil, "sweep", "--resume", "planted")
	if status := s.wait(); status != exitFailure || !strings.Contains(s.stderr.String(), "continue journal: open planted/run.jsonl: too many levels of symbolic links") {
		t.Errorf("a planted journal: exit status %d\n%s", status, &s.stderr)
	}
	if text, _ := os.ReadFile(victim); !bytes.Equal(text, unfinished) {
		t.Errorf("the file behind the link was overwritten: %.100s", text)
	}
}
