package stats

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFindDrift(t *testing.T) {
	first := []float64{10, 13, 11, 12, 10.5, 12.5, 11.5}
	second := []float64{14, 15, 13.5, 16, 14.5, 13.2, 15.5}
	x := slices.Concat(first, []float64{99}, second) // the middle one is in neither half
	// Both halves have a negative lag-1 correlation, so that R's values apply.
	// R 4.2.2: w <- wilcox.test(second, first, conf.int = TRUE)
	d, err := FindDrift(x)
	if err != nil || !near(d.P, 0.000582750582750583, 1e-12) || !near(d.Shift, 3, 1e-14) ||
		!near(d.CI.Low, 1.5, 1e-14) || !near(d.CI.High, 4.5, 1e-14) || !near(d.Relative, 3/13.2, 1e-14) || !d.Drifted() {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDrifted(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	ramp := func(n int, slope, noise float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 100 + slope*float64(i)/float64(n) + noise*r.NormFloat64()
		}
		return x
	}
	for _, test := range []struct {
		name string
		x    []float64
		want bool
	}{
		{"steady", ramp(100, 0, 2), false},
		{"slower by a tenth", ramp(100, 10, 2), true},
		{"faster by a tenth", ramp(100, -10, 2), true},
		{"certain but tiny", ramp(1000, 0.5, 0.1), false},
		{"all equal", make([]float64, 30), false},
		{"correlated", autoregressive(r, 200, 0.9, 0.1), false},
		{"about zero", []float64{-3, -2, -4, -3.5, -2.5, -5, 3, 5, 2, 4, 2.5, 3.5}, false}, // P is 0.002
	} {
		d, err := FindDrift(test.x)
		if err != nil || d.Drifted() != test.want {
			t.Errorf("%s: drifted %v, %+v, %v", test.name, d.Drifted(), d, err)
		}
	}
	alarms := 0
	for range 1000 {
		if d, err := FindDrift(autoregressive(r, 60, 0.4, 0.1)); err != nil || d.Drifted() {
			alarms++
		}
	}
	if alarms > 5 {
		t.Errorf("%d of 1000 steady series drifted", alarms)
	}
}

func TestFindDriftRefuses(t *testing.T) {
	for _, test := range []struct {
		x    []float64
		want error
	}{{nil, ErrEmpty}, {[]float64{1, 2, 3}, ErrTooFew}, {[]float64{1, 2, inf, 4}, ErrNotFinite}} {
		if _, err := FindDrift(test.x); !errors.Is(err, test.want) {
			t.Errorf("%v: error %v, want %v", test.x, err, test.want)
		}
	}
}
