package main

import (
	"slices"
	"testing"
)

func TestRunNames(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"/runs/old", "../new/"}, []string{"old", "new"}},
		{[]string{"/runs/old/run.jsonl", "/runs/new.jsonl"}, []string{"old", "new.jsonl"}},
		{[]string{"a/run", "b/run"}, []string{"a/run", "b/run"}},
		{[]string{"."}, []string{"gpushare-bench"}},
	} {
		if got := runNames(test.args); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.args, got, test.want)
		}
	}
}
