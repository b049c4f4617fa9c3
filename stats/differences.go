package stats

import (
	"math"
	"slices"
)

// differences is the multiset of all y[j]-x[i] of two sorted samples, which is
// never materialised: a million samples each make 10¹² of them. Order statistics
// are found by counting how many are at most v, which takes one walk along a
// staircase, O(len(x)+len(y)) (D. B. Johnson and T. Mizoguchi, "Selecting the
// Kth Element in X+Y and X1+X2+…+Xm", SIAM J. on Computing 7, 1978), and by
// enumerating what is left once a bracket holds few.
type differences struct {
	x, y   []float64
	probes []probe
	few    int       // enumerate no more than these; 0: as many as a walk costs
	window []float64 // enumerated differences, sorted
	before int       // how many differences lie below the window
}

// probe is what is known about the threshold of one walk.
type probe struct {
	count int     // differences at most the threshold
	le    float64 // the largest of them
	gt    float64 // the smallest above the threshold
}

func (d *differences) len() int { return len(d.x) * len(d.y) }

// walk counts the differences that are at most v. Rounding is monotone, so the
// computed differences are sorted along both samples like the exact ones.
func (d *differences) walk(v float64) probe {
	p := probe{le: math.Inf(-1), gt: math.Inf(1)}
	j := 0
	for _, x := range d.x {
		for j < len(d.y) && d.y[j]-x <= v {
			j++
		}
		p.count += j
		if j > 0 {
			p.le = max(p.le, d.y[j-1]-x)
		}
		if j < len(d.y) {
			p.gt = min(p.gt, d.y[j]-x)
		}
	}
	return p
}

// nth returns the k-th smallest difference, k from 1.
func (d *differences) nth(k int) float64 {
	if d.probes == nil {
		d.guess(k)
	}
	// The answer is in [a, b]; ca differences are below a, cb at most b.
	a, ca := d.y[0]-d.x[len(d.x)-1], 0
	b, cb := d.y[len(d.y)-1]-d.x[0], d.len()
	narrow := func(p probe) {
		if p.count < k {
			a, ca = max(a, p.gt), max(ca, p.count)
		} else {
			b, cb = min(b, p.le), min(cb, p.count)
		}
	}
	for _, p := range d.probes {
		narrow(p)
	}
	few := d.few
	if few == 0 {
		// Sorting about as many differences as there are samples costs no more than the walks it saves.
		few = max(256, min(1<<16, len(d.x)+len(d.y)), (len(d.x)+len(d.y))/8)
	}
	for step := 0; a < b; step++ {
		if i := k - d.before - 1; i >= 0 && i < len(d.window) {
			return d.window[i]
		}
		if cb-ca <= few {
			d.enumerate(a, b, ca, cb)
			continue
		}
		p := d.walk(pivot(a, b, float64(k-ca)/float64(cb-ca), step))
		d.probes = append(d.probes, p)
		narrow(p)
	}
	return a
}

// pivot chooses a threshold in [a, b) where the fraction f of the differences
// between them lies below the answer: where a straight line says it is; once
// that has put the answer close to one end, a little beyond it, so that the
// other end follows; and every fourth time the middle, should the differences be
// so uneven that no straight line helps.
func pivot(a, b, f float64, step int) float64 {
	switch {
	case step%4 == 3:
		f = 0.5
	case f < 0.02:
		f = 2 * f
	case f > 0.98:
		f = 1 - 2*(1-f)
	}
	return max(a, min(a+(b-a)*f, math.Nextafter(b, math.Inf(-1))))
}

// guess makes two probes a little below and above the k-th difference, judged by
// the differences of at most 256 samples from either side.
func (d *differences) guess(k int) {
	points := min(256, max(8, int(math.Sqrt(float64(len(d.x)+len(d.y))))))
	if d.len() <= points*points {
		return
	}
	x, y := thin(d.x, points), thin(d.y, points)
	all := make([]float64, 0, len(x)*len(y))
	for _, v := range x {
		for _, w := range y {
			all = append(all, w-v)
		}
	}
	slices.Sort(all)
	at := float64(k) / float64(d.len())
	for _, q := range [2]float64{at - 1.0/float64(points), at + 1.0/float64(points)} {
		i := int(q * float64(len(all)))
		d.probes = append(d.probes, d.walk(all[min(max(i, 0), len(all)-1)]))
	}
}

// thin returns at most n evenly spaced values of a sorted sample.
func thin(x []float64, n int) []float64 {
	if len(x) <= n {
		return x
	}
	t := make([]float64, n)
	for i := range t {
		t[i] = x[(2*i+1)*len(x)/(2*n)]
	}
	return t
}

// enumerate fills the window with the differences in [a, b].
func (d *differences) enumerate(a, b float64, ca, cb int) {
	d.before = ca
	d.window = make([]float64, 0, cb-ca)
	first := 0
	for _, x := range d.x {
		for first < len(d.y) && d.y[first]-x < a {
			first++
		}
		for j := first; j < len(d.y) && d.y[j]-x <= b; j++ {
			d.window = append(d.window, d.y[j]-x)
		}
	}
	slices.Sort(d.window)
}

// hodgesLehmann returns the median of the differences and, from samples worth m1
// and m2 independent ones, its interval.
func (d *differences) hodgesLehmann(m1, m2, level float64) (float64, Interval) {
	n := d.len()
	median := d.nth((n + 1) / 2)
	if n%2 == 0 {
		median += (d.nth(n/2+1) - median) / 2
	}
	k, achieved := shiftRank(len(d.x), len(d.y), m1, m2, level)
	if k < 1 {
		return median, notEstimable()
	}
	return median, Interval{d.nth(k), d.nth(n + 1 - k), achieved}
}

// shiftRank returns the largest k for which the k-th difference from either end
// are an interval of the shift at the level: P(U ≤ k-1) ≤ (1-level)/2, U being
// the Mann-Whitney statistic without ties (E. L. Lehmann, Nonparametrics,
// section 2.6). It is exact for up to 50 independent samples each and from the
// normal approximation otherwise. For m1 and m2 effective samples, fewer than n1
// and n2, it is their k as a fraction of the differences. k = 0: there is none.
func shiftRank(n1, n2 int, m1, m2, level float64) (k int, achieved float64) {
	tail := (1 - level) / 2
	if m1 < float64(n1) || m2 < float64(n2) || max(n1, n2) > exactLimit {
		pairs := m1 * m2
		sigma := math.Sqrt(pairs * (m1 + m2 + 1) / 12)
		k := math.Floor(pairs/2 - normalQuantile(1-tail)*sigma)
		if !(k >= 1) {
			return 0, 1
		}
		return int(k * float64(n1) * float64(n2) / pairs), level
	}
	cdf := uDistribution(n1, n2)
	for k < len(cdf) && cdf[k] <= tail {
		k++
	}
	if k == 0 {
		return 0, 1
	}
	return k, 1 - 2*cdf[k-1]
}

// normalQuantile returns the p-quantile of the standard normal distribution.
func normalQuantile(p float64) float64 {
	return math.Sqrt2 * math.Erfinv(2*p-1)
}
