package stats

import (
	"fmt"
	"math"
)

const (
	// negligible is the share of the median below which a drift or the distance
	// of two modes, however certain, is nothing that anyone need act on.
	negligible = 0.01
	// alarmLevel is the level of significance of warnings. A run has thousands
	// of metrics: at 0.05 every run would have its share of warnings.
	alarmLevel = 0.001
)

// Drift compares the second half of the samples with the first.
type Drift struct {
	// Shift is the Hodges-Lehmann shift from the first to the second half, in
	// the samples' unit, and CI its interval at ConfidenceLevel.
	Shift float64
	CI    Interval
	// Relative is Shift over |median of all|; ±Inf for a shift about zero.
	Relative float64
	// P is that of the Mann-Whitney test of the halves.
	P float64
}

// FindDrift estimates the drift of samples in time order; of an odd number the
// middle one is in neither half. Correlation within the halves is allowed for,
// so that the slow waves of correlated samples aren't taken for drift. Errors:
// ErrEmpty, ErrNotFinite, and ErrTooFew below 4 samples.
func FindDrift(samples []float64) (Drift, error) {
	if err := checkFinite(samples); err != nil {
		return Drift{}, err
	}
	n := len(samples)
	if n < 4 {
		return Drift{}, fmt.Errorf("drift of %d samples: %w", n, ErrTooFew)
	}
	x, xRanks := sortedRanks(samples[:n/2])
	y, yRanks := sortedRanks(samples[n-n/2:])
	m1 := EffectiveSize(len(x), lag1(xRanks))
	m2 := EffectiveSize(len(y), lag1(yRanks))
	var d Drift
	d.P = sortedMannWhitney(x, y, m1, m2).P
	halves := differences{x: x, y: y}
	d.Shift, d.CI = halves.hodgesLehmann(m1, m2, ConfidenceLevel)
	if d.Shift != 0 {
		d.Relative = d.Shift / math.Abs(Quantile(samples, 0.5))
	}
	return d, nil
}

// Drifted reports whether there is a drift worth a warning: P below 0.001 and a
// shift of at least 1 % of the median.
func (d Drift) Drifted() bool {
	return d.P < alarmLevel && math.Abs(d.Relative) >= negligible
}
