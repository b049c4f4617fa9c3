package stats

import (
	"fmt"
	"math"
)

// dipCritical is the value of √n·dip beyond which samples have more than one
// mode: the largest 0.9999 quantile, over n from 4 to 72000, for uniform samples,
// the unimodal ones with the largest dips (table qDiptab of the R package diptest).
const dipCritical = 0.831

// Modes says whether the samples cluster around more than one value.
type Modes struct {
	// Dip is Hartigan's dip statistic: the largest distance of the empirical
	// distribution function from the closest unimodal one, from 1/(2n) to 1/4.
	Dip float64
	// Low and High are the medians of the two groups, each of at least a
	// twentieth of the samples, into which they fall best (least variance
	// within), and Share is the share of the higher one. They describe modes
	// only if Bimodal says so.
	Low, High, Share float64

	effective float64
	median    float64
}

// FindModes tests samples in time order for more than one mode (J. A. Hartigan
// and P. M. Hartigan, "The Dip Test of Unimodality", Annals of Statistics 13,
// 1985). Unlike Sarle's coefficient it doesn't mistake the long tail of timings
// for a mode. Equal samples are spread over one [Tick] first: the steps of a
// clock are no modes. Errors: ErrEmpty, ErrNotFinite, and ErrTooFew below 4
// samples.
func FindModes(samples []float64) (Modes, error) {
	if err := checkFinite(samples); err != nil {
		return Modes{}, err
	}
	if len(samples) < 4 {
		return Modes{}, fmt.Errorf("modes of %d samples: %w", len(samples), ErrTooFew)
	}
	x, ranks := sortedRanks(samples)
	m := Modes{
		effective: EffectiveSize(len(x), lag1(ranks)),
		median:    sortedQuantile(x, 0.5),
	}
	m.Low, m.High, m.Share = twoGroups(x)
	m.Dip = dip(spreadTies(x, sortedTick(x)))
	return m, nil
}

// Bimodal reports whether the samples have more than one mode, at a chance of
// 0.0001 or less to say so of unimodal samples, and so far apart, at least 1 %
// of the median, that it matters.
func (m Modes) Bimodal() bool {
	return m.Dip*math.Sqrt(m.effective) > dipCritical && m.High-m.Low >= negligible*math.Abs(m.median)
}

// twoGroups divides sorted samples in two with the least variance within the
// groups (N. Otsu, "A Threshold Selection Method from Gray-Level Histograms",
// 1979), where both can have a twentieth of them, and returns the groups' medians
// and the share of the higher one.
func twoGroups(x []float64) (low, high, share float64) {
	n := len(x)
	var total float64
	for _, v := range x {
		total += v - x[0]
	}
	best, split, sum := -1.0, n, 0.0
	for i := 1; i < n; i++ {
		sum += x[i-1] - x[0]
		if x[i] == x[i-1] || 20*min(i, n-i) < n {
			continue
		}
		distance := (total-sum)/float64(n-i) - sum/float64(i)
		if between := float64(i) * float64(n-i) * distance * distance; between > best {
			best, split = between, i
		}
	}
	if split == n { // nearly all are equal
		median := sortedQuantile(x, 0.5)
		return median, median, 0
	}
	return sortedQuantile(x[:split], 0.5), sortedQuantile(x[split:], 0.5), float64(n-split) / float64(n)
}

// spreadTies returns the sorted samples with equal ones spread evenly over one
// tick. Without any two distinct samples there is no tick, and no change.
func spreadTies(x []float64, tick float64) []float64 {
	if math.IsNaN(tick) {
		return x
	}
	spread := make([]float64, len(x))
	for i := 0; i < len(x); {
		j := i
		for j < len(x) && x[j] == x[i] {
			j++
		}
		for k := i; k < j; k++ {
			spread[k] = x[k] + tick*((float64(k-i)+0.5)/float64(j-i)-0.5)
		}
		i = j
	}
	return spread
}

// dip returns the dip statistic of sorted samples, by the algorithm of section 5
// of Hartigan and Hartigan: between the greatest convex minorant G and the least
// concave majorant L of the distribution function F lies the modal interval; it
// is narrowed to where G and L are furthest apart until that is no more than what
// F strays from them outside. All heights are counts of samples: F jumps from i
// to i+1 at x[i], counted from 0.
func dip(x []float64) float64 {
	n := len(x)
	low, high := 0, n-1
	stray := 1.0
	for x[low] < x[high] {
		minorant := hull(x, low, high, 0)
		majorant := hull(x, low, high, 1)
		distance, newLow, newHigh := furthest(x, minorant, majorant)
		if distance <= stray {
			break
		}
		for i, v := range minorant.along(x, low, newLow) {
			stray = max(stray, float64(low+i+1)-v)
		}
		for i, v := range majorant.along(x, newHigh, high) {
			stray = max(stray, v-float64(newHigh+i))
		}
		if newLow == low && newHigh == high {
			break
		}
		low, high = newLow, newHigh
	}
	return stray / float64(2*n)
}

// chain is a convex minorant (rise 0) or concave majorant (rise 1): the line
// through the points (x[i], i+rise) of its vertices, which are ascending.
type chain struct {
	vertices []int
	rise     int
}

// hull returns the chain of the points from index low to high.
func hull(x []float64, low, high, rise int) chain {
	var v []int
	for i := low; i <= high; i++ {
		for len(v) >= 2 {
			p, q := v[len(v)-2], v[len(v)-1]
			turn := (x[q]-x[p])*float64(i-q) - (x[i]-x[q])*float64(q-p)
			if rise == 0 && turn > 0 || rise == 1 && turn < 0 {
				break
			}
			v = v[:len(v)-1]
		}
		v = append(v, i)
	}
	return chain{v, rise}
}

// along returns the chain's heights at x[from] … x[to], which it must cover.
func (c chain) along(x []float64, from, to int) []float64 {
	heights := make([]float64, 0, to-from+1)
	k := 1
	for i := from; i <= to; i++ {
		for k < len(c.vertices)-1 && c.vertices[k] < i {
			k++
		}
		heights = append(heights, c.height(x, k, i))
	}
	return heights
}

// height returns the height at x[i] of the segment that ends at vertex k.
func (c chain) height(x []float64, k, i int) float64 {
	p, q := c.vertices[k-1], c.vertices[k]
	if i == q || x[q] == x[p] {
		return float64(q + c.rise)
	}
	return float64(p+c.rise) + (x[i]-x[p])/(x[q]-x[p])*float64(q-p)
}

// furthest returns the largest distance between the two chains, which is at a
// vertex of one, and the next modal interval: that vertex, and the vertex of the
// other chain that follows (after one of the minorant) or precedes it.
func furthest(x []float64, minorant, majorant chain) (distance float64, low, high int) {
	k := 1
	for _, g := range minorant.vertices {
		for majorant.vertices[k] < g {
			k++
		}
		if d := majorant.height(x, k, g) - float64(g); d > distance {
			distance, low, high = d, g, majorant.vertices[k]
			if majorant.vertices[k-1] == g {
				high = g
			}
		}
	}
	k = 1
	for _, l := range majorant.vertices {
		for minorant.vertices[k] < l {
			k++
		}
		if d := float64(l+1) - minorant.height(x, k, l); d > distance {
			distance, low, high = d, minorant.vertices[k-1], l
			if minorant.vertices[k] == l {
				low = l
			}
		}
	}
	return distance, low, high
}
