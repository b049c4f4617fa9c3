package results

import (
	"fmt"
	"strings"

	"gpushare-bench/share"
)

// Distinctions returns what tells a cell from others of its path and allocator, other than size and metric: the pair of
// devices ("GPU 0→1"), the transport and so on, each only where there is more than one among them in the comparison.
func (c *Comparison) Distinctions() func(*Cell) []string {
	details := []func(share.Case) string{
		c.PairName,
		func(x share.Case) string { return x.Transport },
		func(x share.Case) string { return x.Receiver },
		func(x share.Case) string { return x.Cache },
		func(x share.Case) string { return "+" + share.FormatSize(x.Offset) },
		func(x share.Case) string { return fmt.Sprintf("live %d", x.Live) },
		func(x share.Case) string { return fmt.Sprintf("peers %d", x.Peers) },
		func(x share.Case) string { return x.Variant },
	}
	type way struct{ path, allocator string }
	first := make(map[way]share.Case)
	several := make(map[way][]bool) // which of the details
	for i := range c.Cells {
		x := c.Cells[i].Case
		w := way{x.Path, x.Allocator}
		if several[w] == nil {
			first[w], several[w] = x, make([]bool, len(details))
		}
		if x == first[w] {
			continue
		}
		for k, of := range details {
			several[w][k] = several[w][k] || of(x) != of(first[w])
		}
	}
	return func(x *Cell) []string {
		var words []string
		for k, differ := range several[way{x.Case.Path, x.Case.Allocator}] {
			if word := details[k](x.Case); differ && word != "" {
				words = append(words, word)
			}
		}
		return words
	}
}

// PairName is what the base's pair of devices is called on screen: "GPU 0→1", "GPU 0→cpu", "cpu→GPU 0".
func (c *Comparison) PairName(of share.Case) string {
	name := c.base.DeviceName(of.Producer) + "→" + c.base.DeviceName(of.Consumer)
	if strings.HasPrefix(name, "GPU ") {
		name = strings.Replace(name, "→GPU ", "→", 1)
	}
	return name
}
