package plots

import (
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/share"
)

// setting is a part of a case beside its path, allocator, devices and size.
type setting struct {
	// special settings make another experiment of a case, so no figure goes without them.
	special bool
	text    func(share.Case) string // "" for none
	label   func(share.Case) string // shorter, beside a way's name
}

// settings in the order in which they are named: what must not be cut off comes first.
var settings = []setting{
	{true, variantText, variantText},
	{true, func(c share.Case) string { return prefixed("offset ", c.Offset, share.FormatSize(c.Offset)) },
		func(c share.Case) string { return prefixed("+", c.Offset, share.FormatSize(c.Offset)) }},
	{true, func(c share.Case) string { return prefixed("", int64(c.Live), liveText(c.Live)) },
		func(c share.Case) string { return prefixed("live ", int64(c.Live), fmt.Sprint(c.Live)) }},
	{true, func(c share.Case) string { return prefixed("", int64(c.Peers), peersText(c.Peers)) },
		func(c share.Case) string { return prefixed("peers ", int64(c.Peers), fmt.Sprint(c.Peers)) }},
	{false, func(c share.Case) string { return c.Transport }, func(c share.Case) string { return c.Transport }},
	{false, func(c share.Case) string { return suffixed(c.Receiver, " receiver") }, func(c share.Case) string { return c.Receiver }},
	{false, func(c share.Case) string { return suffixed(c.Cache, " cache") }, func(c share.Case) string { return c.Cache }},
}

// variantText separates the parts of a variant for people: "isolate=pid+ipc, same-process".
func variantText(c share.Case) string { return strings.ReplaceAll(c.Variant, ";", ", ") }

func liveText(n int) string {
	if n == 1 {
		return "1 other live mapping"
	}
	return fmt.Sprintf("%d other live mappings", n)
}

func peersText(n int) string {
	if n == 1 {
		return "1 peer"
	}
	return fmt.Sprintf("%d peers", n)
}

func prefixed(prefix string, n int64, text string) string {
	if n == 0 {
		return ""
	}
	return prefix + text
}

func suffixed(text, suffix string) string {
	if text == "" {
		return ""
	}
	return text + suffix
}

// settingsOf names those settings that all of the cases have in common: "offset 4 KiB, scm-rights, polling receiver".
func settingsOf(ways []*Way) string {
	var parts []string
	for _, s := range settings {
		value := s.text(ways[0].Case)
		if value != "" && !slices.ContainsFunc(ways, func(w *Way) bool { return s.text(w.Case) != value }) {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}

// Heading names the pair and the settings that all its ways have in common; where they differ the ways' labels do.
func (v *View) Heading() string {
	if s := settingsOf(v.Ways); s != "" {
		return v.Name + ", " + s
	}
	return v.Name
}

// nameWays labels ways by path and allocator, and by what else is needed: whatever differs among ways of the same path and
// allocator, and special settings that not all ways have.
func nameWays(ways []*Way) {
	same := make(map[string][]*Way) // by path and allocator
	for _, w := range ways {
		w.Label = pathAllocator(w.Case)
		if strings.TrimSpace(plain(w.Label)) == "" {
			w.Label = "(no name)"
		}
		same[w.Label] = append(same[w.Label], w)
	}
	differ := func(among []*Way, s setting) bool {
		return slices.ContainsFunc(among, func(w *Way) bool { return s.text(w.Case) != s.text(among[0].Case) })
	}
	for name, group := range same {
		for _, w := range group {
			var parts []string
			for _, s := range settings {
				if text := s.label(w.Case); text != "" && (differ(group, s) || s.special && differ(ways, s)) {
					parts = append(parts, text)
				}
			}
			if len(parts) > 0 {
				w.Label = name + " (" + strings.Join(parts, ", ") + ")"
			}
		}
	}
}

// pathAllocator names a case's path and allocator, once where both have one name.
func pathAllocator(c share.Case) string {
	if c.Path == c.Allocator {
		return c.Path
	}
	return c.Path + " " + c.Allocator
}
