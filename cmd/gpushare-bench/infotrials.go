package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gpushare-bench/plots"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// answer is what the screen says of a trial, and the number of the footnote with the reason, 0 for none.
type answer struct {
	word string
	note int
}

// way is a path and an allocator, tried with one transport or with several that answered alike.
type way struct {
	path, allocator string
	transports      []string
	answers         map[pair]answer
}

type pair struct{ producer, consumer string }

// notes are footnotes. Reasons that differ in sizes, addresses, descriptors and devices only share one, in the words of
// the first.
type notes struct{ texts, kinds []string }

func (n *notes) number(reason string) int {
	kind := plots.ReasonKind(reason)
	i := slices.Index(n.kinds, kind)
	if i < 0 {
		i = len(n.kinds)
		n.texts, n.kinds = append(n.texts, reason), append(n.kinds, kind)
	}
	return i + 1
}

// writeTrials prints the matrix: a line for each way and answer.
func (m *machineInfo) writeTrials(out io.Writer) error {
	var footnotes notes
	var all []pair
	var ways []*way
	for _, t := range m.Trials {
		p := pair{t.Producer, t.Consumer}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
		i := slices.IndexFunc(ways, func(w *way) bool {
			return w.path == t.Path && w.allocator == t.Allocator && w.transports[0] == t.Transport
		})
		if i < 0 {
			i = len(ways)
			ways = append(ways, &way{t.Path, t.Allocator, []string{t.Transport}, map[pair]answer{}})
		}
		ways[i].answers[p] = answerOf(t, &footnotes)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "path\tallocator\tpair\ttransport\t\t")
	for _, way := range joinTransports(ways) {
		for _, g := range way.groups(all) {
			note := ""
			if g.answer.note > 0 {
				note = fmt.Sprintf("[%d]", g.answer.note)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", way.path, way.allocator, m.pairsText(g.pairs, way.pairs(all)),
				strings.Join(way.transports, ", "), g.answer.word, note)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, text := range footnotes.texts {
		if _, err := fmt.Fprintf(out, "[%d] %s\n", i+1, printable(text)); err != nil {
			return err
		}
	}
	return nil
}

func answerOf(t trial, footnotes *notes) answer {
	if t.Status == share.StatusOK {
		return answer{word: "yes"}
	}
	word := map[share.Status]string{share.StatusUnsupported: "no", share.StatusPartial: "export only"}[t.Status]
	if word == "" {
		word = strings.ToUpper(string(t.Status))
	}
	return answer{word, footnotes.number(t.Reason)}
}

// joinTransports makes one way of those that differ in their transport and in no answer.
func joinTransports(ways []*way) []*way {
	var joined []*way
	for _, w := range ways {
		i := slices.IndexFunc(joined, func(j *way) bool {
			return j.path == w.path && j.allocator == w.allocator && sameAnswers(j.answers, w.answers)
		})
		if i < 0 {
			joined = append(joined, w)
		} else {
			joined[i].transports = append(joined[i].transports, w.transports...)
		}
	}
	return joined
}

func sameAnswers(a, b map[pair]answer) bool {
	for p, x := range a {
		if y, ok := b[p]; !ok || x != y {
			return false
		}
	}
	return len(a) == len(b)
}

// group is pairs that answered alike.
type group struct {
	answer answer
	pairs  []pair
}

// pairs are those of all that the way was tried with, in their order.
func (w *way) pairs(all []pair) []pair {
	return slices.DeleteFunc(slices.Clone(all), func(p pair) bool {
		_, tried := w.answers[p]
		return !tried
	})
}

// groups are the way's pairs by answer, in the order of their first pair.
func (w *way) groups(all []pair) []group {
	var gs []group
	for _, p := range w.pairs(all) {
		a := w.answers[p]
		i := slices.IndexFunc(gs, func(g group) bool { return g.answer == a })
		if i < 0 {
			i = len(gs)
			gs = append(gs, group{answer: a})
		}
		gs[i].pairs = append(gs[i].pairs, p)
	}
	return gs
}

// pairsText names some of all pairs: "0→1", "all 64 pairs", "same GPU", "two GPUs", "0-3→0-3; 4-7→cpu".
func (m *machineInfo) pairsText(some, all []pair) string {
	same := func(p pair) bool { return p.producer == p.consumer }
	others := slices.DeleteFunc(slices.Clone(all), same)
	switch {
	case len(some) == 1:
		return m.name(some[0].producer) + "→" + m.name(some[0].consumer)
	case len(some) == len(all):
		return fmt.Sprintf("all %d pairs", len(all))
	case len(others) < len(all) && slices.Equal(some, others):
		return "two GPUs"
	case len(others) > 0 && len(some) == len(all)-len(others) && !slices.ContainsFunc(some, func(p pair) bool { return !same(p) }):
		return "same GPU"
	}
	// Producers with the same consumers stand together.
	var producers []string
	consumers := map[string][]string{}
	for _, p := range some {
		if !slices.Contains(producers, p.producer) {
			producers = append(producers, p.producer)
		}
		consumers[p.producer] = append(consumers[p.producer], p.consumer)
	}
	var parts []string
	for len(producers) > 0 {
		to := consumers[producers[0]]
		alike := func(p string) bool { return slices.Equal(consumers[p], to) }
		var from, rest []string
		for _, p := range producers {
			if alike(p) {
				from = append(from, p)
			} else {
				rest = append(rest, p)
			}
		}
		producers = rest
		parts = append(parts, m.names(from)+"→"+m.names(to))
	}
	return strings.Join(parts, "; ")
}

// names is how the screen names devices: "0-3", "0,2,cpu".
func (m *machineInfo) names(ids []string) string {
	var indexes sysinfo.List
	var words []string
	for _, id := range ids {
		name := m.name(id)
		if n, err := strconv.Atoi(name); err == nil {
			indexes = append(indexes, n)
		} else {
			words = append(words, name)
		}
	}
	slices.Sort(indexes)
	if len(indexes) > 0 {
		words = append([]string{indexes.String()}, words...)
	}
	return strings.Join(words, ",")
}
