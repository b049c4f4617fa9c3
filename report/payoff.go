package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// payoffTable says when sharing pays: the time to the first byte, the line through the sizes, the size from which one setup
// is cheaper than the alternative once, and the use of a buffer of one size from which sharing is ahead. It is nil where
// nothing can be said. against names the alternative, "" if there is none.
func payoffTable(d *plots.Data, v *plots.View, size int64) (t *table, against string) {
	t, ways := named(v, func(w *plots.Way) bool { return !unsupported(w) })
	t.head = append(t.head, "first byte", "fixed cost", "each GiB", "cheaper from", "from use")
	var rows [][]string
	for i, w := range ways {
		row := append(t.rows[i], "–", "–", "–", "–", "–")
		found := false
		for _, f := range d.Fits() {
			if f.Series != w.Case {
				continue
			}
			switch {
			case f.Metric == results.SetupAndTouch:
				row[1] = results.FormatQuantity(f.FirstByte.Median, results.Nanoseconds)
				found = true
			case f.Metric == share.Setup && f.Why == "":
				row[2] = results.FormatQuantity(f.Line.Latency, results.Nanoseconds)
				if f.Line.PerByte > 0 { // else the sizes are all one to the noise
					row[3] = results.FormatQuantity(f.Line.PerByte*(1<<30), results.Nanoseconds)
				}
				row[4] = evenText(f)
				found = true
			}
		}
		for _, b := range d.BreakEvens() {
			key := b.Case
			key.Size = 0
			if key == w.Case && b.Case.Size == size && b.Why == "" && !math.IsNaN(b.Uses.At) {
				row[5], against, found = uses(b.Uses.At), b.Against, true
			}
		}
		if found {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, ""
	}
	t.rows = rows
	return t, against
}

// payoffTitle explains the columns.
func payoffTitle(against string, size int64) string {
	s := "when sharing pays: first byte = setup + first touch of the smallest size; fixed cost and each GiB of the line through setup"
	switch against {
	case results.AgainstStaged:
		s += fmt.Sprintf("; cheaper than staging from that size (used once), and from that use of one buffer of %s", share.FormatSize(size))
	case results.AgainstMemcpy:
		s += fmt.Sprintf("; cheaper than a memcpy from that size (used once), and from that use of one buffer of %s", share.FormatSize(size))
	}
	return s
}

// whyNoEven says why there is no picture of uses after which sharing is cheaper.
func whyNoEven(d *plots.Data, v *plots.View) string {
	var why []string
	against, never := "", false
	for _, b := range d.BreakEvens() {
		if b.Case.Producer != v.Producer || b.Case.Consumer != v.Consumer {
			continue
		}
		against = b.Against
		if b.Why == "" {
			never = true
		} else if !slices.Contains(why, b.Why) {
			why = append(why, b.Why)
		}
	}
	name := map[string]string{results.AgainstStaged: "staging", results.AgainstMemcpy: "a memcpy for each use"}[against]
	switch {
	case against == "":
		return "There is nothing to compare with: neither staging nor a memcpy was measured beside another path, at the same size."
	case never:
		return "However often a buffer is used, no path gets cheaper than " + name + "."
	}
	return fmt.Sprintf("A comparison with %s can't be made: %s.", name, strings.Join(why, "; "))
}
