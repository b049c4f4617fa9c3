// Package plots draws the pictures of a run and of a comparison.
//
// It reads results only: what a picture shows can be drawn again from the journal at any time. [Figures] lists the
// pictures that a run has data for, [ComparisonFigures] those of a comparison; a [Figure] is written as PNG, SVG or PDF
// ([Figure.Encode]) or as SVG that takes its colours from the page it stands in ([Figure.Inline]). [Write] and
// [WriteComparison] put them all in a directory.
//
// Colours belong to paths and stay the same in all pictures and on all machines; dashes and markers belong to
// allocators, so that no picture depends on telling colours apart. Sizes are on a logarithmic axis with powers of two,
// intervals are bands, and the title says which machine, what and, where the driver was emulated, that it was.
package plots
