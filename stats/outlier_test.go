package stats

import (
	"errors"
	"slices"
	"testing"
)

func TestFindOutliers(t *testing.T) {
	for _, test := range []struct {
		name      string
		x         []float64
		indices   []int
		low, high float64
	}{
		// median 3, MAD 1: fences at 3 ± 14.826
		{"MAD", []float64{1, 2, 3, 100, 4, 5, 3}, []int{3}, 3 - 14.826, 3 + 14.826},
		{"both sides", []float64{-100, 1, 2, 3, 4, 5, 100}, []int{0, 6}, 3 - 2*14.826, 3 + 2*14.826},
		// MAD 0; type 8 quartiles 5 and 6: fences at 5 ± 10/1.349
		{"IQR", []float64{5, 5, 5, 5, 5, 6, 6, 6, 30}, []int{8}, 5 - 10/1.349, 5 + 10/1.349},
		// MAD and IQR 0, tick 1: fences at 5 ± 10
		{"tick", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 20}, []int{10}, -5, 15},
		{"one odd sample is a tick away", []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 20}, nil, -145, 155},
		{"all equal", []float64{5, 5, 5}, nil, nan, nan},
		{"one", []float64{5}, nil, nan, nan},
	} {
		before := slices.Clone(test.x)
		o, err := FindOutliers(test.x)
		if err != nil || !slices.Equal(o.Indices, test.indices) || !near(o.Low, test.low, 1e-13) || !near(o.High, test.high, 1e-13) {
			t.Errorf("%s: %+v, %v, want %v outside of %v to %v", test.name, o, err, test.indices, test.low, test.high)
		}
		if !slices.Equal(before, test.x) {
			t.Errorf("%s: samples modified", test.name)
		}
	}
	for _, test := range []struct {
		x    []float64
		want error
	}{{nil, ErrEmpty}, {[]float64{nan}, ErrNotFinite}} {
		if _, err := FindOutliers(test.x); !errors.Is(err, test.want) {
			t.Errorf("%v: error %v, want %v", test.x, err, test.want)
		}
	}
}

func TestTick(t *testing.T) {
	for _, test := range []struct {
		x    []float64
		want float64
	}{
		{nil, nan},
		{[]float64{3, 3}, nan},
		{[]float64{nan, 3}, nan},
		{[]float64{96, 32, 64, 160, 32}, 32},
		{[]float64{1, 1.5, 10}, 0.5},
	} {
		if got := Tick(test.x); !near(got, test.want, 0) {
			t.Errorf("Tick(%v) = %v, want %v", test.x, got, test.want)
		}
	}
}
