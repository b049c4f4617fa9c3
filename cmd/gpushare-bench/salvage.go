package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gpushare-bench/results"
)

// lostLines are the journal lines that the system refused to write, in their order, as they can be appended to the
// journal: on a fresh line, since the journal may end within one. Empty lines are none.
func lostLines(errs ...error) []byte {
	var lines []byte
	for _, err := range errs {
		var we *results.WriteError
		if errors.As(err, &we) {
			lines = append(append(lines, '\n'), we.Line...)
		}
	}
	return lines
}

// keepLines writes lines that did not get into the journal to a file for temporary files and tells how to put them back.
func keepLines(journal string, lines []byte) error {
	f, err := os.CreateTemp("", "gpushare-bench-*.jsonl")
	if err == nil {
		_, err = f.Write(lines)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("keep the lines that did not get into the journal (TMPDIR says where): %w", err)
	}
	return fmt.Errorf("the lines that did not get into the journal are kept: cat %s >> %s", results.ShellQuote(f.Name()), results.ShellQuote(journal))
}

// loadWith reads the run in dir as if lines were in its journal.
func loadWith(dir string, lines []byte) (run *results.Run, err error) {
	if len(lines) == 0 {
		return results.Load(dir)
	}
	f, err := os.Open(filepath.Join(dir, results.JournalName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return results.Read(io.MultiReader(f, bytes.NewReader(lines)), f.Name())
}
