package report

import (
	"fmt"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// mostJoined bounds the columns of the table of processes that joined.
const mostJoined = 8

// joinedTable says what each further process of the cases with peers cost, by how many were there: the wall time of joining
// them all, and below it the calls for one of them. It is nil where no case had peers. unit is that of all times.
func joinedTable(v *plots.View, size int64) (t *table, unit string) {
	t, ways := named(v, func(w *plots.Way) bool {
		status, _ := w.Status(size)
		return status == share.StatusOK && len(w.Joined(size)) > 0
	})
	if len(ways) == 0 {
		return nil, ""
	}
	var there []int64 // how many processes were there
	var times []float64
	for _, w := range ways {
		for i, j := range w.Joined(size) {
			if int64(i) == int64(len(there)) {
				there = append(there, int64(i+1))
			}
			times = append(times, float64(j.Wall), each(j, int64(i+1)))
		}
	}
	s := scaleFor(times, results.Nanoseconds)
	label := t.rows
	t.rows = nil
	for _, n := range evenly(there, mostJoined) {
		t.head = append(t.head, fmt.Sprint(n))
	}
	for i, w := range ways {
		wall, calls := label[i], []string{"  calls for each"}
		joined := w.Joined(size)
		for _, n := range evenly(there, mostJoined) {
			if int(n) > len(joined) {
				wall, calls = append(wall, ""), append(calls, "")
				continue
			}
			j := joined[n-1]
			wall, calls = append(wall, s.format(float64(j.Wall))), append(calls, s.format(each(j, n)))
		}
		t.rows = append(t.rows, wall, calls)
	}
	return t, s.unit
}

// each is the time of the calls for one of the n processes that were there: two exports, imports and maps.
func each(j results.Joined, n int64) float64 { return float64(j.Export+j.Import+j.Map) / float64(n) }

// joinedTitle explains the table.
func joinedTitle(size int64, unit string) string {
	return fmt.Sprintf("what one more process costs by how many are there, which all map its buffer of %s and it theirs: wall time in %s, "+
		"and below it the export, import and map calls of both for each of them", share.FormatSize(size), unit)
}

// peers adds what further processes cost, at the size that most ways have.
func (r *pageRun) peers(d *plots.Data, v *plots.View, pair string, first bool, budget *int) {
	size := v.DefaultSize()
	t, unit := joinedTable(v, size)
	if t == nil {
		return
	}
	f, err := d.Peers(v)
	r.Peers = append(r.Peers, alternative{Pair: pair, Shown: first, Figure: r.picture(f, err, first, budget),
		Head: t.head, Rows: t.rows, Text: "W" + joinedTitle(size, unit)[1:]})
}
