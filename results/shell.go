package results

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellQuote makes one word of a shell of any text.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(s) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// unprintable reports whether a terminal shows r as nothing, as a space or as a command.
func unprintable(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
