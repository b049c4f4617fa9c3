package results

import "testing"

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"--size=4KiB": "--size=4KiB", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a\nb": `$'a\x0ab'`,
		"~": "'~'", "a\x1b'\\": `$'a\x1b\'\\'`} {
		if got := ShellQuote(in); got != want {
			t.Errorf("ShellQuote(%q) = %s, want %s", in, got, want)
		}
	}
}
