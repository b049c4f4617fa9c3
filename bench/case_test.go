package bench

import (
	"slices"
	"testing"
	"time"
)

// Only our own processes are left out; in another PID namespace, as many as we have on the device.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		name     string
		pids     []int
		own      []int
		expected int
		want     []int
	}{
		{"nothing there", nil, []int{10, 11}, 2, nil},
		{"both ours", []int{10, 11}, []int{10, 11}, 2, nil},
		{"both ours and two foreign", []int{7, 10, 11, 8}, []int{10, 11}, 2, []int{7, 8}},
		{"one of ours seen, two foreign", []int{7, 10, 8}, []int{10, 11}, 2, []int{7, 8}},
		{"producer elsewhere, one foreign", []int{7, 11}, []int{10, 11}, 1, []int{7}},
		{"another namespace, ours alone", []int{901, 902}, []int{10, 11}, 2, nil},
		{"another namespace, one foreign", []int{901, 902, 903}, []int{10, 11}, 2, []int{903}},
		{"another namespace, producer elsewhere", []int{901, 902}, []int{10, 11}, 1, []int{902}},
		{"another namespace, one process for both ends", []int{901, 902}, []int{10}, 1, []int{902}},
		{"fewer than expected", []int{901}, []int{10, 11}, 2, nil},
	} {
		if got := others(c.pids, c.own, c.expected); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A hang near the end of the run's time does not make it longer by the whole timeout of a case.
func TestBatchBound(t *testing.T) {
	for _, c := range []struct {
		limit, timeout, elapsed time.Duration
		first                   bool
		live                    []int
		want                    time.Duration
	}{
		{0, time.Minute, time.Hour, false, nil, time.Minute},
		{2 * time.Minute, time.Minute, 0, false, nil, time.Minute},
		{2 * time.Minute, time.Minute, 100 * time.Second, false, nil, 30 * time.Second},
		{2 * time.Minute, time.Minute, 100 * time.Second, true, nil, 30 * time.Second},
		{2 * time.Minute, time.Minute, 100 * time.Second, true, []int{0}, 30 * time.Second},
		{2 * time.Minute, time.Minute, 100 * time.Second, true, []int{0, 9}, time.Minute},
		{2 * time.Minute, time.Minute, 100 * time.Second, false, []int{0, 9}, 30 * time.Second},
		{2 * time.Minute, time.Minute, 3 * time.Minute, false, nil, batchGrace},
		{2 * time.Minute, 2 * time.Second, 3 * time.Minute, false, nil, 2 * time.Second},
	} {
		start := time.Now()
		r := &Runner{Config: &Config{TimeLimit: c.limit, CaseTimeout: c.timeout, Live: c.live}, started: start}
		b := r.batchBound(start.Add(c.elapsed), c.first)
		if b.time != c.want || (b.flag == "--case-timeout") != (c.want == c.timeout) {
			t.Errorf("%+v: %+v", c, b)
		}
	}
}
