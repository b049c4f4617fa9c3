package plots

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gpushare-bench/results"
)

// Write writes every picture that the run has data for into the directory, which is made if need be, in each of the
// formats png, svg and pdf. It returns the files' paths. A file is whole or absent.
func Write(dir string, run *results.Run, formats []string) ([]string, error) {
	return writeAll(dir, Figures(run), formats)
}

// WriteComparison writes the pictures of a comparison, as [Write] does.
func WriteComparison(dir string, c *results.Comparison, formats []string) ([]string, error) {
	return writeAll(dir, ComparisonFigures(c), formats)
}

func writeAll(dir string, figures []Figure, formats []string) ([]string, error) {
	for _, format := range formats {
		if !slices.Contains(Formats(), format) {
			return nil, fmt.Errorf("write pictures to %s: %q: %w; want png, svg or pdf", dir, format, ErrFormat)
		}
	}
	if len(figures) == 0 || len(formats) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write pictures: %w", err)
	}
	var files []string
	for _, f := range figures {
		for _, format := range formats {
			path := filepath.Join(dir, f.Name+"."+format)
			if err := writeFile(path, f, format); err != nil {
				return files, fmt.Errorf("write picture %s: %w", path, err)
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// writeFile writes under a temporary name and renames, so that no link is followed and no half file is left.
func writeFile(path string, f Figure, format string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(tmp)
	err = f.Encode(w, format)
	if err = errors.Join(err, w.Flush(), tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return err
}
