package sysinfo

import (
	"slices"
	"testing"
)

func TestParseList(t *testing.T) {
	for _, test := range []struct {
		in   string
		want List
		text string
	}{
		{"", nil, ""},
		{"\n", nil, ""},
		{"0", List{0}, "0"},
		{"0-3,8\n", List{0, 1, 2, 3, 8}, "0-3,8"},
		{"8,0-1,1", List{0, 1, 8}, "0-1,8"},
		{"0-7:2/4", List{0, 1, 4, 5}, "0-1,4-5"},
		{"65535", List{65535}, "65535"},
	} {
		got, err := ParseList(test.in)
		if err != nil {
			t.Errorf("ParseList(%q): %v", test.in, err)
		}
		check(t, "ParseList("+test.in+")", got, test.want)
		check(t, "text of "+test.in, got.String(), test.text)
	}
	for _, in := range []string{"a", "3-1", "-1", "1-", "65536", "0-3:0/2", "0-3:3/2", "0-3:1", "1,,2", "0-65535,0-65535,0-65535"} {
		if got, err := ParseList(in); err == nil {
			t.Errorf("ParseList(%q) = %v, want an error", in, got)
		}
	}
}

func TestListIntersect(t *testing.T) {
	check(t, "intersection", List{0, 1, 2, 8}.Intersect(List{1, 2, 9}), List{1, 2})
	check(t, "with nothing", List{0}.Intersect(nil), List(nil))
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-10:1/2", "", "4-2", "0-65535", "1,1,1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseList(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(l) {
			t.Fatalf("%v is not ascending", l)
		}
		back, err := ParseList(l.String())
		if err != nil || !slices.Equal(back, l) {
			t.Fatalf("%v became %q became %v, %v", l, l.String(), back, err)
		}
	})
}
