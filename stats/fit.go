package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is the number of bootstrap replicates: enough that the ends of a
// 95 % percentile interval have 50 of them beyond.
const resamples = 2000

// Series are the times measured at one size, in time order.
type Series struct {
	Bytes float64 // positive
	Times []float64
}

// Line is the model time = Latency + PerByte·bytes, with intervals at
// ConfidenceLevel. Times are in the unit of the series (nanoseconds in files, so
// that Bandwidth is in bytes per nanosecond, which is GB/s).
type Line struct {
	// Latency is the time at size 0, the time to the first byte. It is reported
	// as it comes out, even where noise or a model that doesn't fit make it
	// negative.
	Latency   float64
	LatencyCI Interval
	PerByte   float64
	PerByteCI Interval
	// Bandwidth is 1/PerByte; NaN, not estimable, where PerByte is not
	// positive. An upper end of +Inf says that PerByte's interval reaches 0.
	Bandwidth   float64
	BandwidthCI Interval
	// HalfBytes is Latency/PerByte, the size at which half of the Bandwidth is
	// reached (Hockney's n½); NaN where either is not positive.
	HalfBytes   float64
	HalfBytesCI Interval
	// Misfit is the largest relative deviation of a size's median from the
	// line, 0.1 for 10 %. Large, it says that no straight line describes the
	// sizes, and the parameters mean little.
	Misfit float64
	Sizes  int

	replicates []coefficients
}

type coefficients struct{ latency, perByte float64 }

// FitLine fits a line to the medians of at least 3 sizes. The slope is the
// weighted median of the slopes between all pairs of sizes (P. K. Sen, "Estimates
// of the Regression Coefficient Based on Kendall's Tau", J. American Statistical
// Association 63, 1968; with weights as in G. L. Sievers, "Weighted Rank
// Statistics for Simple Linear Regression", same journal 73, 1978), the latency
// the weighted median of what remains. Errors of times are taken as proportional
// to the times, so the weights are the reciprocals of the resulting errors:
// without them, the sizes so small that only noise differs would have as much
// say about the bandwidth as the large ones.
//
// Intervals are percentiles of a parametric bootstrap: each median is drawn anew
// with a relative standard error that is the larger of its own, from order
// statistics (R. S. Woodruff, "Confidence Intervals for Medians and Other Position
// Measures", J. American Statistical Association 47, 1952), and of the medians'
// scatter about the line, so that a bend in the curve widens them. The same seed
// gives the same intervals. Times of a single sample each, at only three or four
// sizes, make them too narrow. Beyond 32 sizes there are fewer
// replicates, so that the time stays bounded.
//
// Errors: ErrTooFew below 3 distinct sizes; ErrEmpty, ErrNotFinite,
// ErrNotPositive for a series' times or size.
func FitLine(series []Series, seed uint64) (Line, error) {
	points := make([]point, len(series))
	relative := make([]float64, len(series)) // standard errors of the medians
	sizes := make(map[float64]bool)
	for i, s := range series {
		if err := checkPositive([]float64{s.Bytes}); err != nil {
			return Line{}, fmt.Errorf("size %d of %d: %w", i+1, len(series), err)
		}
		if err := checkPositive(s.Times); err != nil {
			return Line{}, fmt.Errorf("times at %v bytes: %w", s.Bytes, err)
		}
		sizes[s.Bytes] = true
		x, ranks := sortedRanks(s.Times)
		points[i] = point{s.Bytes, sortedQuantile(x, 0.5)}
		relative[i] = medianError(x, MedianEffectiveSize(len(x), lag1(ranks))) / points[i].time
	}
	if len(sizes) < 3 {
		return Line{}, fmt.Errorf("line through %d sizes, 3 are needed: %w", len(sizes), ErrTooFew)
	}
	best := fit(points)
	line := Line{Latency: best.latency, PerByte: best.perByte, Sizes: len(sizes)}
	var scatter float64
	for _, p := range points {
		deviation := math.Abs(p.time-best.latency-best.perByte*p.bytes) / p.time
		line.Misfit = max(line.Misfit, deviation)
		scatter += deviation * deviation / float64(len(points)-2)
	}
	scatter = math.Sqrt(scatter)
	random := rand.New(rand.NewPCG(seed, 0))
	line.replicates = make([]coefficients, replicatesFor(len(points)))
	drawn := make([]point, len(points))
	for i := range line.replicates {
		for k, p := range points {
			drawn[k] = point{p.bytes, p.time * math.Exp(max(relative[k], scatter)*random.NormFloat64())}
		}
		line.replicates[i] = fit(drawn)
	}
	line.Bandwidth = bandwidth(best)
	line.HalfBytes = halfBytes(best)
	line.LatencyCI = line.interval(best.latency, func(c coefficients) float64 { return c.latency })
	line.PerByteCI = line.interval(best.perByte, func(c coefficients) float64 { return c.perByte })
	line.BandwidthCI = line.interval(line.Bandwidth, func(c coefficients) float64 {
		return 1 / max(0, c.perByte)
	})
	line.HalfBytesCI = line.interval(line.HalfBytes, func(c coefficients) float64 {
		return max(0, c.latency) / max(math.SmallestNonzeroFloat64, c.perByte)
	})
	return line, nil
}

// manySizes is up to how many sizes a line has all its replicates: beyond, their number falls with the square of the sizes,
// as the time of each grows with it, down to fewestReplicates.
const (
	manySizes        = 32
	fewestReplicates = 200
)

func replicatesFor(sizes int) int {
	if sizes <= manySizes {
		return resamples
	}
	return max(fewestReplicates, resamples*manySizes*manySizes/(sizes*sizes))
}

// medianError returns the standard error of the median of sorted samples worth
// effective independent ones: half of what lies within one standard error of the
// rank of the median. It is 0 for one sample.
func medianError(x []float64, effective float64) float64 {
	p := min(0.5, 0.5/math.Sqrt(effective))
	return (sortedQuantile(x, 0.5+p) - sortedQuantile(x, 0.5-p)) / 2
}

func bandwidth(c coefficients) float64 {
	if c.perByte <= 0 {
		return math.NaN()
	}
	return 1 / c.perByte
}

func halfBytes(c coefficients) float64 {
	if c.perByte <= 0 || c.latency <= 0 {
		return math.NaN()
	}
	return c.latency / c.perByte
}

// interval returns the percentile interval of a function of the replicates.
func (l Line) interval(estimate float64, f func(coefficients) float64) Interval {
	values := make([]float64, len(l.replicates))
	for i, c := range l.replicates {
		values[i] = f(c)
	}
	return percentiles(estimate, values)
}

// percentiles returns the interval that leaves out 2.5 % of the values on either
// side, widened where necessary to hold the estimate.
func percentiles(estimate float64, values []float64) Interval {
	if math.IsNaN(estimate) {
		return notEstimable()
	}
	slices.Sort(values)
	low := sortedQuantile(values, (1-ConfidenceLevel)/2)
	high := sortedQuantile(values, (1+ConfidenceLevel)/2)
	return Interval{min(low, estimate), max(high, estimate), ConfidenceLevel}
}

type point struct{ bytes, time float64 }

// fit returns the weighted Theil-Sen line; not all sizes may be the same.
func fit(points []point) coefficients {
	slopes := make([]weighted, 0, len(points)*(len(points)-1)/2)
	for i, p := range points {
		for _, q := range points[:i] {
			if d := p.bytes - q.bytes; d != 0 {
				slopes = append(slopes, weighted{(p.time - q.time) / d, math.Abs(d) / math.Hypot(p.time, q.time)})
			}
		}
	}
	slope := weightedMedian(slopes)
	rests := make([]weighted, len(points))
	for i, p := range points {
		rests[i] = weighted{p.time - slope*p.bytes, 1 / p.time}
	}
	return coefficients{weightedMedian(rests), slope}
}

type weighted struct{ value, weight float64 }

// weightedMedian returns the value with half of the weight on either side, the
// middle between two values where exactly half of it divides them. It sorts its
// argument.
func weightedMedian(values []weighted) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	var total float64
	for _, v := range values {
		total += v.weight
	}
	var sum float64
	for i, v := range values {
		sum += v.weight
		switch {
		case sum == total/2 && i+1 < len(values):
			return v.value + (values[i+1].value-v.value)/2
		case sum > total/2:
			return v.value
		}
	}
	return values[len(values)-1].value // weights that sum up to less than their total
}
