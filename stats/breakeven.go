package stats

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// BreakEven is from where on one way is cheaper than another, with its interval
// at ConfidenceLevel: 0 means always, +Inf never. An interval from 3 to +Inf says
// that it may never be.
type BreakEven struct {
	At float64
	CI Interval
}

// breakEven returns from where on fixed + each·n is negative.
func breakEven(fixed, each float64) float64 {
	switch {
	case each < 0:
		return max(0, fixed/-each)
	case each == 0 && fixed < 0:
		return 0
	}
	return math.Inf(1)
}

// BreakEvenBytes returns from which size on a takes less time than b. Where a is
// ahead only up to some size, that size is BreakEvenBytes(b, a). The interval is
// from the bootstrap replicates of both lines, which must come from [FitLine] and
// have different seeds.
func BreakEvenBytes(a, b Line) BreakEven {
	at := breakEven(a.Latency-b.Latency, a.PerByte-b.PerByte)
	n := min(len(a.replicates), len(b.replicates))
	values := make([]float64, n)
	for i := range values {
		p, q := a.replicates[i], b.replicates[i]
		values[i] = breakEven(p.latency-q.latency, p.perByte-q.perByte)
	}
	return BreakEven{at, percentiles(at, values)}
}

// Cost is what a way to share costs: Setup once, Use each time, as samples in
// time order.
type Cost struct {
	Setup, Use []float64
}

// BreakEvenUses returns after how many uses a has taken less time than b in all,
// by the medians: (setup a - setup b)/(use b - use a). It need not be an integer.
// The interval is from bootstrapped medians; the same seed gives the same one.
// Errors: ErrEmpty, ErrNotFinite, and ErrTooFew below 6 samples of any kind.
func BreakEvenUses(a, b Cost, seed uint64) (BreakEven, error) {
	var sources [4]medianSource
	for i, samples := range [4][]float64{a.Setup, a.Use, b.Setup, b.Use} {
		name := [4]string{"setup of the first", "use of the first", "setup of the second", "use of the second"}[i]
		if err := checkFinite(samples); err != nil {
			return BreakEven{}, fmt.Errorf("%s: %w", name, err)
		}
		if len(samples) < 6 {
			return BreakEven{}, fmt.Errorf("%s has %d samples, 6 are needed: %w", name, len(samples), ErrTooFew)
		}
		sources[i] = newMedianSource(samples)
	}
	at := breakEven(sources[0].median()-sources[2].median(), sources[1].median()-sources[3].median())
	random := rand.NewPCG(seed, 0)
	values := make([]float64, resamples)
	for i := range values {
		var m [4]float64
		for j := range m {
			m[j] = sources[j].draw(random)
		}
		values[i] = breakEven(m[0]-m[2], m[1]-m[3])
	}
	return BreakEven{at, percentiles(at, values)}, nil
}

// medianSource draws medians of samples drawn with replacement from a set. Their
// distribution is known, so nothing needs to be drawn n times and sorted: the
// middle one of n uniform random numbers has the distribution Beta((n+1)/2,
// (n+1)/2), and the median of the resample is the sample at that fraction. For
// correlated samples n is the effective size.
type medianSource struct {
	sorted    []float64
	effective float64
}

func newMedianSource(samples []float64) medianSource {
	x, ranks := sortedRanks(samples)
	return medianSource{x, MedianEffectiveSize(len(x), lag1(ranks))}
}

func (m medianSource) median() float64 { return sortedQuantile(m.sorted, 0.5) }

func (m medianSource) draw(random rand.Source) float64 {
	half := (m.effective + 1) / 2
	u := distuv.Beta{Alpha: half, Beta: half, Src: random}.Rand()
	return m.sorted[min(int(u*float64(len(m.sorted))), len(m.sorted)-1)]
}
