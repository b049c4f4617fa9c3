package report

import (
	"fmt"
	"slices"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// spreadRoom bounds the pictures of distributions of all runs of a page, in bytes. There could be one for each pair, size and
// metric; those that are not drawn are named, and samples.csv has what is behind them.
const spreadRoom = 1 << 20

// spread is a distribution that could be drawn.
type spread struct {
	view          *plots.View
	pair          string
	size          int64
	metric        string
	first, needed bool // shown first; of a median that a warning doubts
}

// spreads lists the distributions that could be drawn, in the order in which they find room: the one that is shown first,
// setup, those that a warning sends the reader to, those at the size that is shown first, the others.
func (r *pageRun) spreads(d *plots.Data) []spread {
	var all [5][]spread
	for i, v := range d.Representatives() {
		for _, o := range r.Sizes {
			var size int64
			fmt.Sscan(o.Value, &size)
			for _, m := range r.Spreads {
				x := spread{view: v, pair: fmt.Sprint(i), size: size, metric: m.Value, first: i == 0 && o.Selected && m.Selected}
				has := false
				for _, w := range v.Ways {
					if row := w.Row(size, m.Value); row != nil {
						has = true
						x.needed = x.needed || slices.ContainsFunc(row.Warnings, func(x results.Warning) bool { return x.Code == "bimodal" && x.Metric == m.Value })
					}
				}
				class := 4
				switch {
				case !has:
					continue
				case x.first:
					class = 0
				case m.Value == share.Setup:
					class = 1
				case x.needed:
					class = 2
				case o.Selected:
					class = 3
				}
				all[class] = append(all[class], x)
			}
		}
	}
	return slices.Concat(all[:]...)
}

// distributions draws as many as find room in the budget, in bytes, and takes from it what they need.
func (r *pageRun) distributions(budget *int) {
	for _, x := range r.spreads(r.data) {
		if *budget <= 0 && !x.first {
			r.Undrawn++
			continue
		}
		f, err := r.data.Distribution(x.view, x.size, x.metric)
		if fig := r.picture(f, err, x.first, budget); fig != nil {
			r.Spread = append(r.Spread, alternative{Pair: x.pair, Size: fmt.Sprint(x.size), Metric: x.metric, Shown: x.first, Figure: fig})
		}
	}
}
