package stats

import (
	"math"
	"testing"
)

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"same order", []float64{1, 2, 30}, []float64{5, 6, 7}, 1},
		{"reversed", []float64{1, 2, 3, 4}, []float64{9, 7, 5, 1}, -1},
		// R 4.2.2: cor(c(106,100,86,101,99,103,97,113,112,110), c(7,27,2,50,28,29,20,12,6,17), method="spearman")
		{"IQ and television", []float64{106, 100, 86, 101, 99, 103, 97, 113, 112, 110}, []float64{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}, -0.175757575757576},
		// R: cor(c(1,2,2,3), c(1,3,2,4), method="spearman")
		{"ties", []float64{1, 2, 2, 3}, []float64{1, 3, 2, 4}, 0.948683298050514},
		{"all equal", []float64{1, 1, 1}, []float64{1, 2, 3}, math.NaN()},
		{"lengths", []float64{1, 2}, []float64{1, 2, 3}, math.NaN()},
		{"one", []float64{1}, []float64{1}, math.NaN()},
		{"not finite", []float64{1, math.Inf(1)}, []float64{1, 2}, math.NaN()},
	} {
		got := Spearman(c.a, c.b)
		if !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
