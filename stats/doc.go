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
// then does [Judge] give verdicts. [CompareProcesses] takes the process as the
// unit, where there are enough of them, and [VarianceComponents] says how much
// processes differ.
//
// [FitLine] fits latency and bandwidth to times over size; [BreakEvenBytes] and
// [BreakEvenUses] say from where on one way is cheaper than another. [FindDrift]
// and [FindModes] look for what would make a single median misleading; their
// warnings are rare by design, below one in a thousand where there is nothing.
//
// # What was simulated
//
// The tests simulate how often intervals hold the truth. At lag-1 correlations up
// to 0.5 and 50 samples or more, those of the median and of the ratio do so in 93
// to 97 % of runs. Fewer samples with stronger correlation (30 at 0.7, say) can't
// show how correlated they are, and their intervals are too narrow. Intervals of
// [FitLine] are conservative: they hold the truth more often than stated.
//
// Each function's comment names its source and, where R has the same, the
// expression in R that gives the same number.
package stats
