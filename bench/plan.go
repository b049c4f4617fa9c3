package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gpushare-bench/share"
)

// Planned is one case of a plan.
type Planned struct {
	Case   share.Case
	Index  int    // position in the unshuffled plan: part of the pattern's seed
	Link   string // class of the pair's link; "" not known
	Refuse string // why the case can't be run here, found without running it; "" for cases that are run
}

// Group is the cases of one pair of devices: they share their worker processes.
type Group struct {
	Producer, Consumer share.DeviceInfo
	Peers              []share.DeviceInfo // where the peers are, one process each
	Cache              string             // devices are opened for one cache state
	Cases              []Planned
}

// Plan is what a run will do.
type Plan struct {
	Groups  []Group // unshuffled; Order gives each repeat's order
	Devices []share.DeviceInfo
	Links   []share.Link
	seed    uint64
	once    sync.Once
	cases   []Planned
}

// Cases lists all cases in their unshuffled order. The list is the plan's own, made by the first call: not to be changed,
// nor Groups after it.
func (p *Plan) Cases() []Planned {
	p.once.Do(func() {
		for _, g := range p.Groups {
			p.cases = append(p.cases, g.Cases...)
		}
	})
	return p.cases
}

// Order returns the groups of one repeat in seeded random order, with each group's cases in seeded random order. The
// same seed gives the same order.
func (p *Plan) Order(repeat int) []Group {
	rnd := rand.New(rand.NewPCG(p.seed, uint64(repeat)))
	groups := slices.Clone(p.Groups)
	rnd.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	for i := range groups {
		cs := slices.Clone(groups[i].Cases)
		rnd.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		groups[i].Cases = cs
	}
	return groups
}

// DefaultTimeLimit is how long a run takes at most unless another limit is asked for.
const DefaultTimeLimit = 110 * time.Second

// groupTime is what a group gets at least in each repeat: one cycle of each of an H200's 180 cases takes ten seconds.
const groupTime = 30 * time.Second

// DefaultTimeLimit is DefaultTimeLimit for a plan of few pairs, cache states, numbers of peers and repeats. With more of
// them it is longer: they are measured one after another, and a machine of eight GPUs has 64 pairs.
func (p *Plan) DefaultTimeLimit(repeats int) time.Duration {
	return max(DefaultTimeLimit, time.Duration(len(p.Groups)*repeats)*groupTime)
}

// Site is a backend with what it found on this machine.
type Site struct {
	Backend   share.Backend
	Inventory share.Inventory
}

// NewPlan joins allocators, exporters and importers by path name for each pair and size. It runs nothing. Errors match
// ErrUsage.
func NewPlan(c *Config, sites []Site) (*Plan, error) {
	backends := make([]share.Backend, len(sites))
	for i, s := range sites {
		backends[i] = s.Backend
	}
	if err := CheckNames(c, backends); err != nil {
		return nil, err
	}
	p := &Plan{seed: c.Seed}
	for _, s := range sites {
		p.Devices = append(p.Devices, s.Inventory.Devices...)
		p.Links = append(p.Links, s.Inventory.Links...)
	}
	pairs, err := choosePairs(c.Pairs, p.Devices, p.Links)
	if err != nil {
		return nil, err
	}
	index := 0
	for _, pair := range pairs {
		for _, cache := range c.Caches {
			for _, n := range peerCounts(c.Peers, pair, p.Devices) {
				g := Group{Producer: pair.producer, Consumer: pair.consumer, Peers: peerDevices(n, pair, p.Devices), Cache: cache}
				link := linkClass(p.Links, pair.producer, pair.consumer)
				for _, cs := range join(c, sites, pair, cache, n) {
					g.Cases = append(g.Cases, Planned{Case: cs, Index: index, Link: link, Refuse: refusal(cs, &g, copies(sites, cs), p.Devices)})
					index++
				}
				if len(g.Cases) > 0 {
					p.Groups = append(p.Groups, g)
				}
			}
		}
	}
	if index == 0 {
		return nil, Usagef("nothing to measure: no path joins an allocator and a consumer for what was asked for "+
			"(paths %s; allocators %s; pairs %s); see gpushare-bench list", orAny(c.Paths), orAny(c.Allocators), orAny(c.Pairs))
	}
	return p, nil
}

func orAny(names []string) string {
	if len(names) == 0 {
		return "any"
	}
	return strings.Join(names, ",")
}

// CheckNames refuses names of paths and allocators that none of the backends has. Errors match ErrUsage.
func CheckNames(c *Config, backends []share.Backend) error {
	var paths, allocs []string
	for _, b := range backends {
		for _, x := range b.Exporters() {
			paths = append(paths, x.Path.Name)
		}
		for _, a := range b.Allocators() {
			allocs = append(allocs, a.Name)
		}
	}
	slices.Sort(paths)
	return errors.Join(known("--path", c.Paths, slices.Compact(paths)...), known("--allocator", c.Allocators, allocs...))
}

// join lists the cases of one pair with one number of peers.
func join(c *Config, sites []Site, pair devicePair, cache string, peers int) []share.Case {
	var cases []share.Case
	backend := pair.producer.Backend
	if pair.consumer.Backend == "cuda" {
		backend = "cuda"
	}
	live := c.Live
	if len(live) == 0 {
		live = []int{0}
	}
	for _, from := range sites {
		if from.Backend.Name() != pair.producer.Backend {
			continue
		}
		for _, x := range from.Backend.Exporters() {
			if !wanted(c.Paths, x.Path.Name) || !imports(sites, pair.consumer.Backend, x.Path.Name) {
				continue
			}
			for _, a := range x.Allocators {
				if !wanted(c.Allocators, a) {
					continue
				}
				for _, tr := range transports(x.Path.Carrier, c.Transports) {
					for _, rc := range c.Receivers {
						for _, n := range live {
							for _, size := range c.Sizes {
								cases = append(cases, share.Case{Backend: backend, Path: x.Path.Name, Allocator: a,
									Producer: pair.producer.ID, Consumer: pair.consumer.ID, Transport: tr, Receiver: rc,
									Cache: cache, Size: size, Offset: c.Offset, Live: n, Variant: variant(c), Peers: peers})
							}
						}
					}
				}
			}
		}
	}
	return cases
}

func wanted(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// variant names the settings of workers that make a case another one.
func variant(c *Config) string {
	var v []string
	if len(c.Isolate) > 0 {
		v = append(v, "isolate="+strings.Join(c.Isolate, "+"))
	}
	if c.ExportedBefore {
		v = append(v, "exported-before")
	}
	if c.SameProcess {
		v = append(v, "same-process")
	}
	return strings.Join(v, ";")
}

func imports(sites []Site, backend, path string) bool {
	for _, s := range sites {
		if s.Backend.Name() == backend {
			for _, m := range s.Backend.Importers() {
				if m.Path.Name == path {
					return true
				}
			}
		}
	}
	return false
}

// copies reports whether the consumer of a case works on a copy.
func copies(sites []Site, c share.Case) bool {
	for _, s := range sites {
		for _, x := range s.Backend.Exporters() {
			if s.Backend.Name() == c.Backend && x.Path.Name == c.Path {
				return x.Path.Copies
			}
		}
	}
	return false
}

// transports lists the ways in which a carrier's handle is to travel.
func transports(carrier share.Carrier, asked []string) []string {
	possible := []string{share.TransportBytes}
	if carrier&share.FD != 0 {
		possible = []string{share.TransportSCMRights, share.TransportPidfd}
	}
	if len(asked) == 0 || slices.Contains(asked, "default") {
		return possible[:1]
	}
	if slices.Contains(asked, "all") {
		return possible
	}
	var out []string
	for _, t := range possible {
		if slices.Contains(asked, t) {
			out = append(out, t)
		}
	}
	return out
}

// hostAllocators are the allocators of GPUs whose memory is the host's.
var hostAllocators = []string{"pinned", "vmm-host"}

// refusal says why a case of a group can't be run here, "" if nothing speaks against it.
func refusal(c share.Case, g *Group, copies bool, devices []share.DeviceInfo) string {
	switch {
	case c.Peers > 0 && copies:
		return fmt.Sprintf("%s shares no memory that peers could map", c.Path)
	case c.Peers > 0 && g.Producer.Backend != g.Consumer.Backend:
		return fmt.Sprintf("with peers each process exports its memory and imports the others', and %s and %s are not of one kind",
			share.ShortID(g.Producer.ID), share.ShortID(g.Consumer.ID))
	}
	return tooLarge(c, devicePair{g.Producer, g.Consumer}, copies, devices, g.Peers...)
}

// gpuGranule is what the memory of GPUs comes in, in bytes: cuMemCreate rounds up to it, a pool starts with it, and the other
// allocators cut small buffers out of blocks of it.
const gpuGranule = 2 << 20

// rounded is what n bytes of an allocator on a device may really take, in bytes.
func rounded(n int64, d share.DeviceInfo, allocator string) float64 {
	unit := int64(os.Getpagesize())
	switch {
	case d.Backend != "host" || allocator == "vmm-host":
		unit = gpuGranule
	case allocator == "memfd-huge":
		unit = gpuGranule // the usual size, should it not be known
		if page, err := strconv.ParseInt(d.Details["huge_page_bytes"], 10, 64); err == nil && page > 0 {
			unit = page
		}
	}
	return math.Ceil(float64(n)/float64(unit)) * float64(unit)
}

// tooLarge says why a case does not fit: both ends together may take half of what is free on any device. A case needs its
// buffer, the consumer's local copy, and what it keeps alive: of a path that copies, the consumer's copies too, and what
// they travel through on the host. With peers each process has a buffer more. Small buffers count as what they really take.
func tooLarge(c share.Case, pair devicePair, copies bool, devices []share.DeviceInfo, peers ...share.DeviceInfo) string {
	var host share.DeviceInfo
	if i := slices.IndexFunc(devices, func(d share.DeviceInfo) bool { return d.Backend == "host" }); i >= 0 {
		host = devices[i]
	}
	need, what := map[string]float64{}, "buffer, local copy and live mappings"
	takes := func(n int, bytes int64, d share.DeviceInfo, allocator string) {
		if slices.Contains(hostAllocators, allocator) {
			d = host
		}
		need[d.ID] += float64(n) * rounded(bytes, d, allocator)
	}
	takes(1+c.Live, c.Size+c.Offset, pair.producer, c.Allocator)
	takes(1, c.Size, pair.consumer, "")
	if copies {
		takes(1+c.Live, c.Size, pair.consumer, "")
		takes(1, c.Size, host, "")
	}
	if len(peers) > 0 {
		what = "buffer, local copy, live mappings and a buffer of each process"
		for _, d := range append([]share.DeviceInfo{pair.producer, pair.consumer}, peers...) {
			takes(1, c.Size+c.Offset, d, c.Allocator)
		}
	}
	for _, d := range devices {
		if d.FreeBytes > 0 && need[d.ID] > float64(d.FreeBytes)/2 {
			return fmt.Sprintf("does not fit: needs %s on %s (%s), and half of the %s that are free may be used",
				formatNeed(need[d.ID]), share.ShortID(d.ID), what, share.FormatSize(d.FreeBytes))
		}
	}
	return ""
}

// formatNeed writes bytes that may be more than a size can be.
func formatNeed(bytes float64) string {
	if bytes > share.MaxSize {
		return "more than " + share.FormatSize(share.MaxSize)
	}
	return share.FormatSize(int64(bytes))
}
