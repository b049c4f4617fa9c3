package sysinfo

import (
	"math"
	"testing"
)

func TestReadTimes(t *testing.T) {
	got, err := ReadTimes(sample(t, "x86-laptop"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "times", got, Times{Total: 1432201 + 3204 + 402110 + 93120455 + 20113 + 12001, Idle: 93120455 + 20113})
	// Guest time, the last two values, is part of user and nice.
	got, err = parseTimes("intr 5\ncpu  100 1 10 1000 2 3 4 50 30 1\ncpu0 9 9 9 9\n")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "with steal and guest", got, Times{Total: 1170, Idle: 1002, Steal: 50})
	for _, bad := range []string{"", "cpu0 1 2 3 4", "cpu 1 2 3", "cpu 1 2 x 4", "cpu 1 2 -3 4"} {
		if got, err := parseTimes(bad); err == nil {
			t.Errorf("parseTimes(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestShares(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after Times
		steal, busy   float64
		stealOK, ok   bool
	}{
		{"steal", Times{100, 50, 5}, Times{200, 100, 30}, 0.25, 0.5, true, true},
		{"idle", Times{100, 50, 5}, Times{200, 150, 5}, 0, 0, true, true},
		{"no tick", Times{100, 50, 5}, Times{100, 50, 5}, 0, 0, false, false},
		{"backwards", Times{100, 50, 5}, Times{90, 40, 5}, 0, 0, false, false},
		{"steal went back", Times{100, 50, 5}, Times{200, 100, 4}, 0, 0.5, false, true},
		{"more than all", Times{100, 50, 5}, Times{110, 70, 35}, 0, 0, false, false},
	} {
		steal, stealOK := StealShare(test.before, test.after)
		busy, ok := BusyShare(test.before, test.after)
		if steal != test.steal || stealOK != test.stealOK || busy != test.busy || ok != test.ok {
			t.Errorf("%s: steal %v %v, busy %v %v, want %v %v, %v %v", test.name, steal, stealOK, busy, ok, test.steal, test.stealOK, test.busy, test.ok)
		}
	}
}

func TestReadLoad(t *testing.T) {
	got, err := ReadLoad(sample(t, "x86-laptop"))
	if err != nil || got != (Load{0.52, 0.58, 0.59, 1, 1432}) {
		t.Errorf("load = %+v, %v", got, err)
	}
	for _, bad := range []string{"", "1 2 3", "a 2 3 1/2", "1 2 NaN 1/2", "1 -2 3 1/2", "1 2 Inf 1/2", "1 2 3 4"} {
		if got, err := parseLoad(bad); err == nil {
			t.Errorf("parseLoad(%q) = %+v, want an error", bad, got)
		}
	}
}

func FuzzParseLoad(f *testing.F) {
	f.Add("0.08 0.03 0.01 2/99 5959")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := parseLoad(s)
		if err == nil && (math.IsNaN(l.One) || math.IsInf(l.Five, 0) || l.Fifteen < 0) {
			t.Errorf("load = %+v", l)
		}
	})
}

func FuzzParseTimes(f *testing.F) {
	f.Add("cpu  2147 0 1911 108121 156 0 42 40 0 0\n")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseTimes(s)
		if err == nil && (got.Idle > got.Total || got.Steal > got.Total) {
			t.Errorf("a part is larger than the total: %+v", got)
		}
	})
}
