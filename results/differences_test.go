package results

import (
	"slices"
	"strings"
	"testing"
)

// TestOutputIsNoDifference compares runs whose commands differ only in where their output goes.
func TestOutputIsNoDifference(t *testing.T) {
	a, b := exampleRun(t), exampleRun(t)
	a.Header.Args = []string{"sweep", "--out", "here", "--size=4KiB", "--json=-"}
	b.Header.Args = []string{"sweep", "--size=4KiB", "--progress", "none", "--out=there", "--export", "benchfmt"}
	if d := findDifferences([]*Run{a, b}); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	b.Header.Args = append(b.Header.Args, "--same-process")
	if d := findDifferences([]*Run{a, b}); len(d) != 1 || !slices.Equal(d[0].Values, []string{"sweep --size=4KiB", "sweep --size=4KiB --same-process"}) {
		t.Errorf("%+v", d)
	}
}

func TestShortShowsTheDifference(t *testing.T) {
	long := "sweep " + strings.Repeat("--pair 0:1 ", 20)
	for _, test := range []struct {
		values, want []string
	}{
		{[]string{"580.65", "590.10"}, []string{"580.65", "590.10"}},
		{[]string{"a short value of 30 characters", ""}, []string{"a short value of 3…", ""}},
		{[]string{long + "--size 4K", long + "--size 8K"}, []string{"…4K", "…8K"}},
		{[]string{long, long + "--size 8K and much more"}, []string{"…", "…--size 8K and muc…"}},
		{[]string{strings.Repeat("ä", 40)}, []string{strings.Repeat("ä", 18) + "…"}},
	} {
		if got := (Difference{Values: test.values}).Short(19); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.values, got, test.want)
		}
	}
}
