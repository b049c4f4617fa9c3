package plots

import (
	"math"
	"testing"

	"gpushare-bench/share"
)

func TestContrast(t *testing.T) {
	if got := contrast(rgb(0xFFFFFF), rgb(0)); got != 21 {
		t.Errorf("white on black: %v, want 21", got)
	}
	if got := contrast(rgb(0x777777), rgb(0xFFFFFF)); math.Abs(got-4.48) > 0.005 { // the value that WebAIM and others give
		t.Errorf("#777 on white: %v, want 4.48", got)
	}
}

// TestCurvesStandOut wants every curve to be seen on white and on a page on dark.
func TestCurvesStandOut(t *testing.T) {
	paths := []string{"a", "b", "c", "d", "e", "f"} // without colours of their own
	for path := range pathColors {
		paths = append(paths, path)
	}
	allocators := []string{"any"}
	for allocator := range allocatorMarks {
		allocators = append(allocators, allocator)
	}
	for _, path := range paths {
		for _, allocator := range allocators {
			c := WayColor(share.Case{Path: path, Allocator: allocator})
			for name, p := range map[string]float64{"white": contrast(c, paper), "dark paper": contrast(c, darkPaper)} {
				if p < leastContrast {
					t.Errorf("%s %s, %v: %.2f:1 on %s", path, allocator, c, p, name)
				}
			}
		}
	}
}

// TestNumbersOfMatricesCanBeRead asks for what WCAG 2.2 asks of text.
func TestNumbersOfMatricesCanBeRead(t *testing.T) {
	for shade := 0.0; shade <= 1; shade += 0.01 {
		background, text := ShadeColor(shade)
		if got := contrast(background, text); got < 4.5 {
			t.Errorf("shade %.2f: %v on %v is %.2f:1", shade, text, background, got)
		}
	}
}
