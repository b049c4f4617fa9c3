package stats

import (
	"math/rand/v2"
	"testing"
)

func TestRule(t *testing.T) {
	quiet, noisy := make([]float64, 40), make([]float64, 40)
	for i := range quiet {
		quiet[i] = 100 + float64(i*7%10)/10
		noisy[i] = 100 + float64(i*7%10)*10
	}
	rule := Rule{Precision: 0.02, MinSamples: 30, MaxSamples: 40, Every: 10}
	for _, test := range []struct {
		name    string
		rule    Rule
		samples []float64
		want    Decision
	}{
		{"none", rule, nil, More},
		{"below the floor", rule, quiet[:29], More},
		{"precise", rule, quiet[:30], Precise},
		{"noisy", rule, noisy[:30], More},
		{"limit", rule, noisy, SampleLimit},
		{"precise at the limit", rule, quiet, Precise},
		{"no limit", Rule{Precision: 0.02}, noisy, More},
		{"no floor needs an interval", Rule{Precision: 0.02}, quiet[:5], More},
		{"no precision", Rule{MaxSamples: 40}, quiet[:30], More},
		{"NaN", rule, append([]float64{nan}, quiet[:30]...), More},
		{"NaN at the limit", rule, append([]float64{nan}, quiet...), SampleLimit},
		{"all zero", rule, make([]float64, 30), Precise},
	} {
		if got := test.rule.Decide(test.samples); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestRuleSeesCorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	independent, correlated := autoregressive(r, 200, 0, 0.08), autoregressive(r, 200, 0.8, 0.08)
	rule := Rule{Precision: 0.02, MinSamples: 30}
	if a, b := rule.Decide(independent), rule.Decide(correlated); a != Precise || b != More {
		t.Errorf("independent: %v, correlated: %v", a, b)
	}
}

// TestRuleCoverage simulates how often the interval at which the rule stopped
// holds the true median.
func TestRuleCoverage(t *testing.T) {
	const runs = 800
	r := rand.New(rand.NewPCG(31, 32))
	rule := Rule{Precision: 0.02, MinSamples: DefaultMinSamples, MaxSamples: 1000}
	for _, test := range []struct{ rho, least float64 }{{0, 0.93}, {0.5, 0.90}} {
		covered := 0
		for range runs {
			x := autoregressive(r, rule.MaxSamples, test.rho, 0.06)
			n := rule.Next(0)
			for rule.Decide(x[:n]) == More {
				n = rule.Next(n)
			}
			if n == rule.MaxSamples {
				t.Fatal("the rule never stopped")
			}
			if EffectiveMedianInterval(x[:n], ConfidenceLevel).Contains(1) {
				covered++
			}
		}
		coverage := float64(covered) / runs
		t.Logf("rho=%v: covers %.3f", test.rho, coverage)
		if coverage < test.least || coverage > 0.97 {
			t.Errorf("rho=%v: the final interval covers %.3f", test.rho, coverage)
		}
	}
}

func TestRuleNext(t *testing.T) {
	rule := Rule{MinSamples: 30, MaxSamples: 1000000, Every: 10}
	for n, want := range map[int]int{0: 30, 29: 30, 30: 40, 160: 170, 1600: 1700, 999999: 1000000, 1000000: 1000000} {
		if got := rule.Next(n); got != want {
			t.Errorf("Next(%d) = %d, want %d", n, got, want)
		}
	}
	calls := 0
	for n := 0; n < rule.MaxSamples; n = rule.Next(n) {
		calls++
	}
	if calls > 200 {
		t.Errorf("%d decisions on the way to a million samples", calls)
	}
	if got := (Rule{}).Next(5); got != 15 {
		t.Errorf("zero rule: Next(5) = %d, want 15", got)
	}
	if got := (Rule{MinSamples: 30, MaxSamples: 20}).Next(0); got != 20 {
		t.Errorf("limit below the floor: Next(0) = %d, want 20", got)
	}
}

func TestDecisionNames(t *testing.T) {
	for d, want := range map[Decision]string{More: "more", Precise: "precision", SampleLimit: "max-samples"} {
		if d.String() != want {
			t.Errorf("%d: %q, want %q", d, d, want)
		}
	}
	if More.Reason() != "" {
		t.Errorf("More has the reason %q", More.Reason())
	}
}
