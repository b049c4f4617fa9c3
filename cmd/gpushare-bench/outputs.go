package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"gpushare-bench/bench"
	"gpushare-bench/results"
)

// runsDir holds the directories of runs that were given none.
const runsDir = "gpushare-runs"

// checkRunsDir refuses to begin a run whose directory could not be made in runsDir.
func checkRunsDir() error {
	if err := canMake(runsDir); err != nil {
		return bench.Usagef("%v; name a directory for the results that can be made and written, with --out", err)
	}
	return nil
}

// checkOutputs refuses outputs that could not be written after the measuring. It makes nothing. Empty names are not asked
// for.
func checkOutputs(dir, json string) error {
	var errs []error
	if dir != "" {
		errs = append(errs, checkRunDir(dir))
	}
	if json != "" && json != "-" {
		errs = append(errs, checkFile("--json", json))
	}
	return errors.Join(errs...)
}

// checkRunDir refuses a directory that is not empty, or that could not be made or written.
func checkRunDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		hint := "name a new one"
		if _, err := os.Stat(filepath.Join(dir, results.JournalName)); err == nil {
			hint += fmt.Sprintf(", or finish its run with --resume %s", results.ShellQuote(dir))
		}
		return bench.Usagef("--out %s: the directory is not empty; %s", dir, hint)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = canMake(dir)
	}
	if err != nil {
		return bench.Usagef("--out %s: %v; name a directory that can be made and written", dir, err)
	}
	return nil
}

// checkFile refuses a file that could not be written.
func checkFile(flag, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return bench.Usagef("%s %s: this is a directory; name a file, or - for standard output", flag, path)
	case err == nil && !info.Mode().IsRegular():
		err = syscall.Access(path, 2) // W_OK
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = writable(filepath.Dir(path))
	}
	if err != nil {
		return bench.Usagef("%s %s: %v; name a file in a directory that exists and can be written, or - for standard output", flag, path, err)
	}
	return nil
}

// checkNoJournal refuses an output that would take the place of a journal: any file with a journal's name, and the journals
// of runs (their directories or the journals themselves) whatever their names.
func checkNoJournal(flag, path string, runs ...string) error {
	if path == "" || path == "-" {
		return nil
	}
	err := bench.Usagef("%s %s: this is a run's journal, which is never overwritten; name another file", flag, path)
	if filepath.Base(path) == results.JournalName {
		return err
	}
	out, statErr := os.Stat(path)
	if statErr != nil {
		return nil
	}
	for _, r := range runs {
		journal, statErr := os.Stat(r)
		if statErr == nil && journal.IsDir() {
			journal, statErr = os.Stat(filepath.Join(r, results.JournalName))
		}
		if statErr == nil && os.SameFile(out, journal) {
			return err
		}
	}
	return nil
}

// canMake reports why files can't be made in dir or, where it does not exist, in the nearest directory above that does.
func canMake(dir string) error {
	dir = filepath.Clean(dir)
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return writable(dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// writable makes a file in dir and removes it: permissions alone do not tell (root, read-only and virtual file systems).
func writable(dir string) error {
	probe, err := os.CreateTemp(dir, ".gpushare-bench-*")
	if err != nil {
		return plain(err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// plain takes the name of a temporary file out of an error, which means nothing to the reader.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("make a file in %s: %w", filepath.Dir(pe.Path), pe.Err)
	}
	return err
}

// createRun makes the run's directory, or takes an empty one, and the journal in it. After an error nothing that it made
// is left behind.
func createRun(dir string, h results.Header) (*results.Journal, error) {
	made, err := makeDirs(dir)
	if err == nil {
		err = checkRunDir(dir)
	}
	var j *results.Journal
	if err == nil {
		path := filepath.Join(dir, results.JournalName)
		if j, err = results.Create(path, h); err != nil && !errors.Is(err, fs.ErrExist) {
			err = errors.Join(err, removeMade(path))
		}
	}
	if err == nil {
		return j, nil
	}
	for _, d := range made {
		_ = os.Remove(d) // only what is empty
	}
	return nil, err
}

// removeMade removes the journal that could not be written.
func removeMade(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeDirs makes dir and those above it that are missing, and returns what it made, the deepest first.
func makeDirs(dir string) (made []string, err error) {
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o755); err != nil {
			return made, bench.Usagef("--out %s: %v; name a directory that can be made and written", dir, err)
		}
		made = append([]string{missing[i]}, made...)
	}
	return made, nil
}
