package archtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A table is a fenced block of ARCHITECTURE.md. Each line reads
//
//	name name …: allowed allowed …   # comment
//
// and says what each name on the left may import (block "imports") or who may
// import it (block "gates"). Commas count as spaces.
type table struct {
	allowed   map[string][]string
	testsOnly map[string]bool // the comment says "imported by tests only"
}

// readTable parses the block whose opening fence is ```name.
func readTable(document, name string) (table, error) {
	t := table{allowed: make(map[string][]string), testsOnly: make(map[string]bool)}
	_, rest, ok := strings.Cut(document, "\n```"+name+"\n")
	if !ok {
		return table{}, fmt.Errorf("no block ```%s", name)
	}
	block, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		return table{}, fmt.Errorf("block ```%s is not closed", name)
	}
	words := func(s string) []string { return strings.Fields(strings.ReplaceAll(s, ",", " ")) }
	for line := range strings.SplitSeq(block, "\n") {
		text, comment, _ := strings.Cut(line, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		left, right, ok := strings.Cut(text, ":")
		if !ok {
			return table{}, fmt.Errorf("line %q of block ```%s has no colon", line, name)
		}
		for _, w := range words(left) {
			if _, twice := t.allowed[w]; twice {
				return table{}, fmt.Errorf("block ```%s has two rows for %s", name, w)
			}
			t.allowed[w] = words(right)
			t.testsOnly[w] = strings.Contains(comment, "imported by tests only")
		}
	}
	return t, nil
}

func TestReadTable(t *testing.T) {
	got, err := readTable("x\n```imports\na b, c: d e # d first\n\ne:   # imported by tests only\n```\n", "imports")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"a": {"d", "e"}, "b": {"d", "e"}, "c": {"d", "e"}, "e": nil} {
		if !slices.Equal(got.allowed[name], want) {
			t.Errorf("%s may import %v, want %v", name, got.allowed[name], want)
		}
	}
	if !got.testsOnly["e"] || got.testsOnly["a"] {
		t.Errorf("tests only: %v", got.testsOnly)
	}
	for _, document := range []string{"", "\n```imports\na: b", "\n```imports\na\n```", "\n```imports\na:\na:\n```"} {
		if _, err := readTable(document, "imports"); err == nil {
			t.Errorf("%q was read without an error", document)
		}
	}
}

// architecture reads ARCHITECTURE.md.
func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
