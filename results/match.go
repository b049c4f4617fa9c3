package results

import (
	"cmp"
	"fmt"
	"slices"

	"gpushare-bench/share"
)

// How the devices of two runs were matched.
const (
	MatchedByID    = "device ID"    // the same devices
	MatchedByIndex = "device index" // as many devices of the same names, joined by the same links
	MatchedByLink  = "link class"   // the first pair of a class with the first, the second with the second …
)

// pair is an ordered pair of device IDs.
type pair struct{ producer, consumer string }

func pairOf(c share.Case) pair { return pair{c.Producer, c.Consumer} }

// pairing maps the pairs of one run to those of the base.
type pairing struct {
	how string
	to  map[pair]pair
	why map[pair]string // pairs without a partner
}

// match returns the case as the base would call it; false if its pair has no partner.
func (p pairing) match(c share.Case) (share.Case, bool) {
	to, ok := p.to[pairOf(c)]
	if ok {
		c.Producer, c.Consumer = to.producer, to.consumer
	}
	return c, ok
}

// machine is what matching needs to know about a run's devices.
type machine struct {
	devices map[string]share.DeviceInfo
	links   map[pair]string // class
	pairs   []pair          // measured, ordered by indices
}

func machineOf(run *Run) machine {
	m := machine{devices: make(map[string]share.DeviceInfo), links: make(map[pair]string)}
	for _, d := range run.Header.Devices {
		m.devices[d.ID] = d
	}
	for _, l := range run.Header.Links {
		m.links[pair{l.Producer, l.Consumer}] = l.Class
	}
	seen := make(map[pair]bool)
	for _, c := range run.Cases {
		p := pairOf(c.Case)
		if c.Link != "" {
			m.links[p] = c.Link
		}
		if !seen[p] {
			seen[p] = true
			m.pairs = append(m.pairs, p)
		}
	}
	slices.SortStableFunc(m.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(m.order(a.producer), m.order(b.producer)), cmp.Compare(m.order(a.consumer), m.order(b.consumer)),
			cmp.Compare(a.producer, b.producer), cmp.Compare(a.consumer, b.consumer))
	})
	return m
}

// isGPU reports whether the device has an identity of its own: there is one CPU device, "cpu", on every machine.
func (m machine) isGPU(id string) bool {
	d, ok := m.devices[id]
	return ok && d.Backend != "host" || !ok && id != "cpu"
}

func (m machine) order(id string) int {
	if d, ok := m.devices[id]; ok && m.isGPU(id) {
		return d.Index
	}
	return -1
}

// kind describes a pair without naming its devices.
type kind struct{ producer, consumer, link string }

func (m machine) kind(p pair) kind {
	name := func(id string) string {
		if m.isGPU(id) {
			return "GPU"
		}
		return id
	}
	return kind{name(p.producer), name(p.consumer), m.links[p]}
}

func (k kind) String() string {
	link := k.link
	if link == "" {
		link = "of unknown class"
	}
	return fmt.Sprintf("%s to %s, link %s", k.producer, k.consumer, link)
}

// pairDevices finds for each measured pair of other its partner in base.
func pairDevices(base, other *Run) pairing {
	a, b := machineOf(base), machineOf(other)
	if p, ok := pairByID(a, b); ok {
		return p
	}
	if p, ok := pairByIndex(a, b); ok {
		return p
	}
	return pairByLink(a, b)
}

func pairByID(a, b machine) (pairing, bool) {
	p := pairing{how: MatchedByID, to: make(map[pair]pair)}
	for _, q := range b.pairs {
		for _, id := range []string{q.producer, q.consumer} {
			if _, known := a.devices[id]; b.isGPU(id) && !known {
				return pairing{}, false
			}
		}
		p.to[q] = q
	}
	return p, true
}

func pairByIndex(a, b machine) (pairing, bool) {
	to, ok := sameDevices(a, b)
	if !ok {
		return pairing{}, false
	}
	p := pairing{how: MatchedByIndex, to: make(map[pair]pair)}
	for _, q := range b.pairs {
		partner := pair{q.producer, q.consumer}
		for _, id := range []*string{&partner.producer, &partner.consumer} {
			if b.isGPU(*id) {
				if *id, ok = to[*id]; !ok {
					return pairing{}, false
				}
			}
		}
		if x, y := a.links[partner], b.links[q]; x != "" && y != "" && x != y {
			return pairing{}, false // the same indices are joined differently
		}
		p.to[q] = partner
	}
	return p, true
}

// sameDevices maps b's GPUs to a's if both have as many, with the same names at the same indices.
func sameDevices(a, b machine) (map[string]string, bool) {
	byIndex := make(map[int]share.DeviceInfo)
	gpus := 0
	for id, d := range a.devices {
		if a.isGPU(id) {
			byIndex[d.Index] = d
			gpus++
		}
	}
	to := make(map[string]string)
	for id, d := range b.devices {
		if b.isGPU(id) {
			partner, ok := byIndex[d.Index]
			if !ok || partner.Name != d.Name {
				return nil, false
			}
			to[id] = partner.ID
		}
	}
	return to, len(to) == gpus
}

func pairByLink(a, b machine) pairing {
	p := pairing{MatchedByLink, make(map[pair]pair), make(map[pair]string)}
	byKind := make(map[kind][]pair)
	for _, q := range a.pairs {
		byKind[a.kind(q)] = append(byKind[a.kind(q)], q)
	}
	for _, q := range b.pairs {
		k := b.kind(q)
		if rest := byKind[k]; len(rest) > 0 {
			p.to[q], byKind[k] = rest[0], rest[1:]
		} else {
			p.why[q] = fmt.Sprintf("no partner there for this pair of devices (%s)", k)
		}
	}
	return p
}

// tellingFields are the fields of a case in which two runs differ by a setting.
var tellingFields = []struct {
	name string
	of   func(*share.Case) *string
}{
	{"receiver", func(c *share.Case) *string { return &c.Receiver }},
	{"transport", func(c *share.Case) *string { return &c.Transport }},
	{"cache", func(c *share.Case) *string { return &c.Cache }},
	{"variant", func(c *share.Case) *string { return &c.Variant }},
}

// neighbours finds cases that differ in one telling field: by field, cases without it, and the field's smallest value.
type neighbours []map[share.Case]string

func neighboursOf(cases map[share.Case]repeats) neighbours {
	n := make(neighbours, len(tellingFields))
	for i, f := range tellingFields {
		n[i] = make(map[share.Case]string)
		for c := range cases {
			value := *f.of(&c)
			*f.of(&c) = ""
			if other, ok := n[i][c]; !ok || value < other {
				n[i][c] = value
			}
		}
	}
	return n
}

// no says why a case is not among them.
func (n neighbours) no(c share.Case) string {
	for i, f := range tellingFields {
		without := c
		*f.of(&without) = ""
		if value, ok := n[i][without]; ok {
			return fmt.Sprintf("there only with %s %q", f.name, value)
		}
	}
	return "no such case there"
}
