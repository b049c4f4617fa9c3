package stats

import "testing"

func TestAdjust(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005, 0.2, 0.04, nan, 0.9}
	for _, test := range []struct {
		name        string
		p, holm, bh []float64
	}{
		// R 4.2.2: p.adjust(p, "holm"); p.adjust(p, "BH"), NA for NaN
		{"R", p,
			[]float64{0.06, 0.16, 0.15, 0.035, 0.4, 0.16, nan, 0.9},
			[]float64{0.035, 0.056, 0.056, 0.035, 0.233333333333333, 0.056, nan, 0.9}},
		{"empty", nil, nil, nil},
		{"one", []float64{0.04}, []float64{0.04}, []float64{0.04}},
		{"none tested", []float64{nan, nan}, []float64{nan, nan}, []float64{nan, nan}},
		{"at most 1", []float64{0.6, 0.7}, []float64{1, 1}, []float64{0.7, 0.7}},
	} {
		for i, got := range Holm(test.p) {
			if !near(got, test.holm[i], 1e-14) {
				t.Errorf("%s: Holm[%d] = %v, want %v", test.name, i, got, test.holm[i])
			}
		}
		// R 4.2.2: p.adjust(p, "BY") is BH times the factor.
		factor := map[string]float64{"R": 363.0 / 140, "one": 1, "at most 1": 1.5}[test.name] // 1 + … + 1/7 and so on
		for i, got := range BenjaminiYekutieli(test.p) {
			if want := min(1, factor*test.bh[i]); !near(got, want, 1e-14) {
				t.Errorf("%s: BenjaminiYekutieli[%d] = %v, want %v", test.name, i, got, want)
			}
		}
		for i, got := range BenjaminiHochberg(test.p) {
			if !near(got, test.bh[i], 1e-14) {
				t.Errorf("%s: BenjaminiHochberg[%d] = %v, want %v", test.name, i, got, test.bh[i])
			}
		}
	}
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name         string
		low, high, p float64
		lower        Verdict // where lower is better
		higher       Verdict
	}{
		{"regression", 1.06, 1.2, 0.001, Slower, Faster},
		{"improvement", 0.8, 0.95, 0.001, Faster, Slower},
		{"beyond, not significant", 1.06, 1.2, 0.05, Inconclusive, Inconclusive},
		{"significant, not beyond", 1.04, 1.2, 0.001, Inconclusive, Inconclusive},
		{"touches the threshold", 1.05, 1.2, 0.001, Inconclusive, Inconclusive},
		{"0.953 is inside of 5 %", 0.953, 0.96, 0.001, Equivalent, Equivalent},
		{"inside", 0.99, 1.02, 0.9, Equivalent, Equivalent},
		{"inside, significant", 1.01, 1.02, 1e-9, Equivalent, Equivalent},
		{"wide", 0.5, 2, 0.9, Inconclusive, Inconclusive},
		{"no interval", nan, nan, 0.001, Inconclusive, Inconclusive},
		{"no p", 1.06, 1.2, nan, Inconclusive, Inconclusive},
	} {
		ci := Interval{test.low, test.high, 0.95}
		if got := Judge(ci, test.p, 0.05, LowerIsBetter); got != test.lower {
			t.Errorf("%s: %s, want %s", test.name, got, test.lower)
		}
		if got := Judge(ci, test.p, 0.05, HigherIsBetter); got != test.higher {
			t.Errorf("%s, higher is better: %s, want %s", test.name, got, test.higher)
		}
	}
}
