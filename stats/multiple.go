package stats

import (
	"math"
	"slices"
)

// Holm returns the p-values adjusted for being a family, in the same order: to
// reject those with an adjusted p below α keeps the chance of any false
// rejection below α (S. Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", Scandinavian J. of Statistics 6, 1979). It makes no assumption
// about their dependence. A p that is NaN was not tested: it stays NaN and
// doesn't count in the family. In R: p.adjust(p, "holm").
func Holm(p []float64) []float64 {
	order := ascending(p)
	adjusted := notTested(len(p))
	running := 0.0
	for i, k := range order {
		running = max(running, min(1, p[k]*float64(len(order)-i)))
		adjusted[k] = running
	}
	return adjusted
}

// BenjaminiHochberg returns the p-values adjusted for the false discovery rate
// (Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", J. Royal
// Statistical Society B 57, 1995), in the same order: of those with an adjusted
// p below α at most the share α is expected to be false. NaN as in [Holm]. In R:
// p.adjust(p, "BH").
func BenjaminiHochberg(p []float64) []float64 {
	order := ascending(p)
	adjusted := notTested(len(p))
	running := 1.0
	for i, k := range slices.Backward(order) {
		running = min(running, p[k]*float64(len(order))/float64(i+1))
		adjusted[k] = running
	}
	return adjusted
}

// BenjaminiYekutieli is [BenjaminiHochberg] times 1 + 1/2 + … + 1/n for n
// p-values, so that it holds whatever their dependence (Y. Benjamini and D.
// Yekutieli, "The Control of the False Discovery Rate in Multiple Testing under
// Dependency", Annals of Statistics 29, 2001). In R: p.adjust(p, "BY").
func BenjaminiYekutieli(p []float64) []float64 {
	adjusted := BenjaminiHochberg(p)
	factor := Harmonic(len(ascending(p)))
	for i, q := range adjusted {
		adjusted[i] = min(1, q*factor) // NaN stays NaN
	}
	return adjusted
}

// Harmonic returns 1 + 1/2 + … + 1/n.
func Harmonic(n int) float64 {
	sum := 0.0
	for i := n; i > 0; i-- {
		sum += 1 / float64(i)
	}
	return sum
}

// ascending returns the indices of the p-values that are not NaN, smallest first.
func ascending(p []float64) []int {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	return order
}

func notTested(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.NaN()
	}
	return p
}
