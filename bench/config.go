package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gpushare-bench/share"
)

// ErrUsage is matched by errors about what was asked for: nothing was measured.
var ErrUsage = errors.New("usage")

// usageError is an error whose text needs no prefix.
type usageError struct{ text string }

func (u *usageError) Error() string        { return u.text }
func (u *usageError) Is(target error) bool { return target == ErrUsage }

// Usagef makes an error that matches ErrUsage.
func Usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// Config is what was asked for. The zero value of a list means the default choice.
type Config struct {
	Paths      []string
	Allocators []string
	Sizes      []int64  // bytes, sorted
	Pairs      []string // "all", "same", "peer", "cpu:cpu", "0:1", "GPU-…:cpu"
	Transports []string // "default", "all" or names
	Receivers  []string
	Caches     []string
	Kernels    []share.Kernel
	Offset     int64 // bytes before the shared range in each allocation
	Live       []int // mappings kept alive beside the measured one; empty: none
	Peers      []int // other processes in a mesh with producer and consumer, AllPeers for one a GPU; empty: none

	Precision   float64       // target half-width of the median's 95 % interval over the median, 0 < p < 1
	MinSamples  int           // steady-state cycles before a case may stop as precise, at least 2
	MaxSamples  int           // steady-state cycles after which a case stops
	MaxTime     time.Duration // for one case; 0: a fair share of TimeLimit
	FloorTime   time.Duration // for a case that has fewer than MinSamples cycles by then, where TimeLimit allows it; 0: MaxTime
	TimeLimit   time.Duration // for the whole run; 0: none
	CaseTimeout time.Duration // a batch of cycles that takes longer is killed
	Repeats     int           // fresh pairs of processes, at least 1
	Seed        uint64
	Verify      bool
	Threads     int // CPU threads of host kernels; 0: all of the local NUMA node

	TrialOnly bool // one cycle a case: what works here, and why not the rest

	ExportedBefore bool     // each buffer is exported once, untimed, before the export that is timed
	SameProcess    bool     // both ends in one process, for comparison with two
	Isolate        []string // namespaces that each worker gets of its own: pid, ipc, user, mnt, net, uts
	ProducerEnv    []string // KEY=VALUE, for the producer only
	ConsumerEnv    []string
}

// AllPeers in Config.Peers stands for as many peers as there are GPUs beside those of the pair.
const AllPeers = -1

// maxPeers bounds Config.Peers: every two processes of a mesh have a socket pair of their own.
const maxPeers = 64

// maxSampleLimit bounds MaxSamples, so that a case's samples fit into memory and one journal line.
const maxSampleLimit = 1_000_000

// Validate refuses values that make no sense, all at once. Each line names the value, the rule and an example.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, Usagef(format, args...)) }
	if !(c.Precision > 0 && c.Precision < 1) {
		bad("--precision %g%%: must be more than 0%% and less than 100%%, such as 2%%", 100*c.Precision)
	}
	if c.MinSamples < 2 || c.MinSamples > maxSampleLimit {
		bad("--min-samples %d: must be from 2 to %d, such as 30", c.MinSamples, maxSampleLimit)
	}
	if c.MaxSamples < c.MinSamples || c.MaxSamples > maxSampleLimit {
		bad("--max-samples %d: must be from --min-samples (%d) to %d, such as 1000", c.MaxSamples, c.MinSamples, maxSampleLimit)
	}
	for _, d := range []struct {
		flag string
		d    time.Duration
	}{{"--max-time", c.MaxTime}, {"--time-limit", c.TimeLimit}} {
		if d.d < 0 {
			bad("%s %s: must not be negative, such as 5s", d.flag, d.d)
		}
	}
	if c.CaseTimeout < time.Second {
		bad("--case-timeout %s: must be at least 1s, such as 60s", c.CaseTimeout)
	}
	if c.Repeats < 1 || c.Repeats > 1000 {
		bad("--repeat %d: must be from 1 to 1000, such as 5", c.Repeats)
	}
	if c.Threads < 0 || c.Threads > 4096 {
		bad("--threads %d: must be from 0 (all cores of the local NUMA node) to 4096", c.Threads)
	}
	if c.Offset < 0 || c.Offset > share.MaxSize || c.Offset%8 != 0 {
		bad("--offset %d: must be a multiple of 8 bytes, such as 1MiB", c.Offset)
	}
	for _, n := range c.Live {
		if n < 0 || n > 1_000_000 {
			bad("--live %d: must be from 0 to 1000000, such as 64", n)
		}
	}
	for _, n := range c.Peers {
		if n != AllPeers && (n < 0 || n > maxPeers) {
			bad("--peers %d: must be from 0 to %d, or all, such as 2", n, maxPeers)
		}
	}
	if c.SameProcess && slices.ContainsFunc(c.Peers, func(n int) bool { return n != 0 }) {
		bad("--peers and --same-process exclude each other: peers are processes, each like one end")
	}
	for _, pair := range c.Pairs {
		if !slices.Contains(pairGroups, pair) {
			if _, _, err := ParsePair(pair); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if c.SameProcess && len(c.ConsumerEnv) > 0 {
		bad("--consumer-env and --same-process exclude each other: one process has one environment")
	}
	errs = append(errs,
		known("--transport", c.Transports, "default", "all", share.TransportSCMRights, share.TransportPidfd, share.TransportBytes),
		known("--receiver", c.Receivers, share.ReceiverPolling, share.ReceiverBlocked),
		known("--cache", c.Caches, share.CacheCold, share.CacheWarm),
		known("--isolate", c.Isolate, "pid", "ipc", "user", "mnt", "net", "uts"),
		known("--kernel", kernelNames(c.Kernels), kernelNames(share.Kernels())...))
	for _, env := range []struct {
		flag string
		list []string
	}{{"--producer-env", c.ProducerEnv}, {"--consumer-env", c.ConsumerEnv}} {
		for _, kv := range env.list {
			if k, _, ok := strings.Cut(kv, "="); !ok || k == "" || strings.ContainsRune(kv, 0) {
				bad("%s %q: want NAME=VALUE, such as CUDA_VISIBLE_DEVICES=3", env.flag, kv)
			}
		}
	}
	return errors.Join(errs...)
}

func kernelNames(ks []share.Kernel) []string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = string(k)
	}
	return names
}

// known refuses values that are not among the names, with the likeliest name as a suggestion.
func known(flag string, values []string, names ...string) error {
	var errs []error
	for _, v := range values {
		if slices.Contains(names, v) {
			continue
		}
		hint := ""
		if s := nearest(v, names); s != "" {
			hint = fmt.Sprintf(" Did you mean %q?", s)
		}
		errs = append(errs, Usagef("%s %q: not one of %s.%s", flag, v, strings.Join(names, ", "), hint))
	}
	return errors.Join(errs...)
}

// nearest returns the name with the smallest edit distance to v, or "" if none is near.
func nearest(v string, names []string) string {
	best, bestD := "", 1+len(v)/2
	for _, n := range names {
		if d := editDistance(v, n); d < bestD {
			best, bestD = n, d
		}
	}
	return best
}

// editDistance is the Damerau-Levenshtein distance of adjacent transpositions (optimal string alignment).
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
