// Package stats turns samples into statements that hold: summaries, a rule when
// to stop measuring, comparisons and fits, each with a confidence interval.
//
// It knows nothing of what was measured. A sample is a float64 in any unit, a
// set of samples is a slice in the order in which they were measured, which
// matters: correlation and drift are looked for. No function modifies the
// samples that it is given, and none prints or scales.
//
// # What can't be known
//
// A statistic that the samples can't support is NaN, "not estimable", and files
// leave it empty: the p99 of 100 samples, the interval of the median of 5, the
// correlation of samples that are all equal. Samples that make no sense (none at
// all, NaN, infinite, beyond ±1e150, not positive where a ratio is asked for) are
// errors, wrapped around [ErrEmpty], [ErrNotFinite], [ErrNotPositive] or
// [ErrTooFew].
//
// # Definitions
//
// The headline is the median with an interval from order statistics
// ([MedianInterval]), which assumes nothing about the shape of the
// distribution. Quantiles are definition 8 of Hyndman and Fan ([Quantile]).
// Correlated samples count for less: [Lag1], [EffectiveSize] and
// [MedianEffectiveSize] say by how much, and [Summarize], [Rule] and [Compare]
// allow for it. Outliers are labelled ([FindOutliers]), never removed.
//
// A comparison ([Compare]) is a Mann-Whitney U test and the Hodges-Lehmann
// estimate of the ratio, whose interval inverts that test. A family of
// comparisons has its p-values adjusted ([Holm], [BenjaminiHochberg]), and only
// then does [Judge] give verdicts.
//
// Each function's comment names its source and, where R has the same, the
// expression in R that gives the same number.
package stats
