package stats

// Alpha is the level of significance of a verdict.
const Alpha = 0.05

// Direction says which values of a metric are good.
type Direction int

const (
	LowerIsBetter  Direction = iota // times
	HigherIsBetter                  // bandwidths
)

// Verdict is what a comparison amounts to, for the second of the two.
type Verdict string

const (
	Faster       Verdict = "faster"
	Slower       Verdict = "slower" // a regression
	Equivalent   Verdict = "equivalent"
	Inconclusive Verdict = "inconclusive"
)

// Judge turns a ratio's interval and an adjusted p-value into a verdict. The
// threshold is a relative difference that doesn't matter, 0.05 for 5 %; it
// stands for the ratios from 1/(1+threshold) to 1+threshold, so that exchanging
// the two sides exchanges faster and slower and changes nothing else.
//
// Faster and Slower need both: adjustedP below Alpha and an interval that lies
// wholly outside of those ratios. An interval wholly inside is Equivalent,
// however small p is. Everything else, an interval or p that is not estimable
// included, is Inconclusive.
func Judge(ratio Interval, adjustedP, threshold float64, better Direction) Verdict {
	switch {
	case !ratio.Estimable():
		return Inconclusive
	case ratio.Low >= 1/(1+threshold) && ratio.High <= 1+threshold:
		return Equivalent
	case !(adjustedP < Alpha):
		return Inconclusive
	case ratio.Low > 1+threshold:
		return changed(better == HigherIsBetter)
	case ratio.High < 1/(1+threshold):
		return changed(better == LowerIsBetter)
	}
	return Inconclusive
}

func changed(improved bool) Verdict {
	if improved {
		return Faster
	}
	return Slower
}
