package stats

import (
	"errors"
	"math/rand/v2"
	"testing"
)

var four = [][]float64{{10, 11, 9, 10, 12}, {13, 14, 12, 13, 12}, {9, 8, 10, 9, 9}, {11, 12, 11, 10, 12}}

func TestVarianceComponents(t *testing.T) {
	// R 4.2.2, v the values of four, g <- factor(rep(1:4, each = 5)):
	// m <- anova(lm(v ~ g))$Mean; m[2]; (m[1] - m[2])/5; t.test(tapply(v, g, mean))$conf.int
	c, err := VarianceComponents(four)
	if err != nil || c.Processes != 4 || !near(c.Iterations, 5, 1e-14) || !near(c.Within, 0.8, 1e-13) || !near(c.Between, 2.35666666666667, 1e-13) ||
		!near(c.Mean, 10.85, 1e-14) || !near(c.CI.Low, 8.32568273472137, 1e-8) || !near(c.CI.High, 13.3743172652786, 1e-8) {
		t.Errorf("%+v, %v", c, err)
	}
	if got, ok := c.OptimalIterations(50); got != 5 || !ok { // √(50·0.8/2.357) = 4.12
		t.Errorf("optimal iterations %d, %v", got, ok)
	}
	if got := c.Noise(); !near(got, 0.1414873, 1e-6) { // √2.35667/10.85
		t.Errorf("noise %v", got)
	}
	same, err := VarianceComponents([][]float64{{1, 2, 3}, {1, 2, 3}})
	if err != nil || !near(same.Between, -1.0/3, 1e-14) || same.Noise() != 0 {
		t.Errorf("equal processes: %+v, %v", same, err)
	}
	if _, ok := same.OptimalIterations(50); ok {
		t.Error("equal processes have an optimal number of iterations")
	}
	for _, test := range []struct {
		processes [][]float64
		want      error
	}{
		{nil, ErrTooFew},
		{[][]float64{{1, 2}}, ErrTooFew},
		{[][]float64{{1, 2}, {}}, ErrEmpty},
		{[][]float64{{1, 2}, {1}}, ErrTooFew},
		{[][]float64{{1, 2}, {1, nan}}, ErrNotFinite},
	} {
		if _, err := VarianceComponents(test.processes); !errors.Is(err, test.want) {
			t.Errorf("%v: error %v, want %v", test.processes, err, test.want)
		}
	}
}

// TestVarianceComponentsRecover simulates processes with known components.
func TestVarianceComponentsRecover(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	var within, between float64
	covered := 0
	const runs = 2000
	for range runs {
		c, err := VarianceComponents(processes(r, 6, 10, 3, 2))
		if err != nil {
			t.Fatal(err)
		}
		within += c.Within / runs
		between += c.Between / runs
		if c.CI.Contains(100) {
			covered++
		}
	}
	if within < 3.9 || within > 4.1 || between < 8.5 || between > 9.5 {
		t.Errorf("within %v, want 4; between %v, want 9", within, between)
	}
	if c := float64(covered) / runs; c < 0.93 || c > 0.97 {
		t.Errorf("interval of the mean covers %v", c)
	}
}

// processes simulates k processes of n samples about 100, with the standard
// deviations between processes and within them.
func processes(r *rand.Rand, k, n int, between, within float64) [][]float64 {
	p := make([][]float64, k)
	for i := range p {
		mean := 100 + between*r.NormFloat64()
		p[i] = make([]float64, n)
		for j := range p[i] {
			p[i][j] = mean + within*r.NormFloat64()
		}
	}
	return p
}

func TestCompareProcesses(t *testing.T) {
	faster := make([][]float64, 4)
	for i, samples := range four {
		for _, v := range samples {
			faster[i] = append(faster[i], v/2)
		}
	}
	c, err := CompareProcesses(four, faster)
	// The smallest p of 4 and 4 is 2/70.
	if err != nil || c.Basis != ByProcesses || c.NA != 4 || c.NB != 4 || !near(c.P, 2.0/70, 1e-14) || !near(c.Ratio, 0.5, 0.05) || !c.CI.Contains(0.5) {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = CompareProcesses(four[:1], faster[:1])
	plain, _ := Compare(four[0], faster[0])
	if err != nil || c != plain {
		t.Errorf("one process each: %+v, %v, want %+v", c, err, plain)
	}
	c, err = CompareProcesses(four[:3], faster)
	if err != nil || c.Basis != BySamples || c.NA != 15 || c.NB != 20 || c.EffectiveA > 3 || c.EffectiveB > 4 || c.CI.Estimable() {
		t.Errorf("too few processes: %+v, %v", c, err)
	}
	for _, test := range []struct {
		a, b [][]float64
		want error
	}{
		{nil, four, ErrEmpty},
		{four, [][]float64{}, ErrEmpty},
		{four, [][]float64{{1}, nil}, ErrEmpty},
		{[][]float64{{0}}, four, ErrNotPositive},
		{four, [][]float64{{nan}}, ErrNotFinite},
	} {
		if _, err := CompareProcesses(test.a, test.b); !errors.Is(err, test.want) {
			t.Errorf("error %v, want %v", err, test.want)
		}
	}
}

// TestFalseAlarms compares runs of the same thing whose processes differ by more
// than their samples do: by processes, a regression must be rare; all samples
// taken as independent would make it the rule.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const runs = 600
	for _, k := range []int{2, 5, 8} {
		alarms, covered, estimable := 0, 0, 0
		for range runs {
			c, err := CompareProcesses(processes(r, k, 20, 3, 1), processes(r, k, 20, 3, 1))
			if err != nil {
				t.Fatal(err)
			}
			if v := Judge(c.CI, c.P, 0, LowerIsBetter); v == Slower || v == Faster {
				alarms++
			}
			if c.CI.Estimable() {
				estimable++
				if c.CI.Contains(1) {
					covered++
				}
			}
		}
		t.Logf("%d processes: %d of %d false alarms, %d of %d intervals hold 1", k, alarms, runs, covered, estimable)
		if alarms > runs*6/100 {
			t.Errorf("%d processes: %d of %d comparisons with itself are no match", k, alarms, runs)
		}
		if k >= MinProcesses && (covered < runs*93/100 || covered > runs*98/100) {
			t.Errorf("%d processes: %d of %d intervals hold 1", k, covered, runs)
		}
	}
}
