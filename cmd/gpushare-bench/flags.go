package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gpushare-bench/bench"
	"gpushare-bench/share"
)

// sizesValue is a flag that takes a list of sizes and ranges.
type sizesValue struct {
	sizes *[]int64
	text  string
}

func (v *sizesValue) String() string { return v.text }
func (v *sizesValue) Type() string   { return "sizes" }
func (v *sizesValue) Set(s string) error {
	sizes, err := share.ParseSizes(s)
	if err != nil {
		return err
	}
	*v.sizes, v.text = sizes, s
	return nil
}

// sizeValue is a flag that takes one size; 0 is allowed.
type sizeValue struct{ size *int64 }

func (v *sizeValue) String() string {
	if v.size == nil {
		return ""
	}
	return strconv.FormatInt(*v.size, 10)
}
func (v *sizeValue) Type() string { return "size" }
func (v *sizeValue) Set(s string) error {
	if s == "0" {
		*v.size = 0
		return nil
	}
	n, err := share.ParseSize(s)
	*v.size = n
	return err
}

// percentValue is a flag that takes a share: "2%" or "0.02".
type percentValue struct{ p *float64 }

func (v *percentValue) String() string {
	if v.p == nil {
		return ""
	}
	return strconv.FormatFloat(100**v.p, 'g', -1, 64) + "%"
}
func (v *percentValue) Type() string { return "percent" }
func (v *percentValue) Set(s string) error {
	p, err := parsePercent(s)
	if err == nil && !(p > 0 && p < 1) {
		err = fmt.Errorf("this is %g%%; want more than 0%% and less than 100%%, such as 2%%", 100*p)
	}
	*v.p = p
	return err
}

// parsePercent reads "2%", "2.5 %" or the share itself, "0.02".
func parsePercent(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errors.New("no percentage; want one such as 2%")
	}
	if percent {
		f /= 100
	}
	return f, nil
}

// intsValue is a flag that takes a list of whole numbers.
type intsValue struct{ list *[]int }

func (v *intsValue) String() string {
	if v.list == nil {
		return ""
	}
	return strings.Join(decimals(*v.list), ",")
}
func (v *intsValue) Type() string { return "list" }
func (v *intsValue) Set(s string) error {
	*v.list = nil
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%q is no whole number; want one such as 64, or a list", part)
		}
		*v.list = append(*v.list, n)
	}
	slices.Sort(*v.list)
	*v.list = slices.Compact(*v.list)
	return nil
}

// peersValue is a flag that takes a list of whole numbers and the word all.
type peersValue struct{ list *[]int }

func (v *peersValue) String() string {
	if v.list == nil {
		return ""
	}
	texts := decimals(*v.list)
	for i, n := range *v.list {
		if n == bench.AllPeers {
			texts[i] = "all"
		}
	}
	return strings.Join(texts, ",")
}
func (v *peersValue) Type() string { return "list" }
func (v *peersValue) Set(s string) error {
	*v.list = nil
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.ParseUint(part, 10, 31)
		switch {
		case part == "all":
			*v.list = append(*v.list, bench.AllPeers)
		case err != nil:
			return fmt.Errorf("%q is no number of processes; want one such as 2, all, or a list", part)
		default:
			*v.list = append(*v.list, int(n))
		}
	}
	slices.Sort(*v.list)
	*v.list = slices.Compact(*v.list)
	return nil
}

func decimals(list []int) []string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}

// sweepFlags is what sweep was asked for.
type sweepFlags struct {
	bench.Config
	backend  string
	kernels  []string
	out      string
	resume   string
	dryRun   bool
	noVerify bool
	progress string
	json     string
	export   []string
	seedSet  bool
	limitSet bool

	maxTimeSet bool
	sizes      []int64 // as given; Config.Sizes has the defaults filled in
}

// hostSizes and gpuSizes are swept when no size is asked for.
var (
	hostSizes = []int64{4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}
	gpuSizes  = []int64{2 << 20, 16 << 20, 128 << 20, 1 << 30}
)

// register declares sweep's flags.
func (f *sweepFlags) register(fs *pflag.FlagSet) {
	f.Config = bench.Config{Precision: 0.02}
	fs.SortFlags = false
	fs.StringVar(&f.backend, "backend", "auto", "where the memory is: auto, host or cuda")
	fs.StringSliceVar(&f.Paths, "path", nil, "sharing paths, all by default; see list")
	fs.StringSliceVar(&f.Allocators, "allocator", nil, "what the producer's memory is made of, all by default; see list")
	fs.Var(&sizesValue{sizes: &f.sizes}, "size", "sizes and ranges, such as 4KiB:256MiB:x4 or 2MiB,1GiB (K, M, G are powers of 1024)")
	fs.StringSliceVar(&f.Pairs, "pair", nil, "producer:consumer, each cpu or a GPU's index, UUID or PCI address; or all, same, peer")
	fs.StringSliceVar(&f.Transports, "transport", nil, "how handles travel: scm-rights, pidfd, bytes, or all (default: the first that the path can use)")
	fs.StringSliceVar(&f.Receivers, "receiver", nil, "how the consumer waits for the handle: polling or blocked (default: polling with two or more cores)")
	fs.StringSliceVar(&f.Caches, "cache", []string{share.CacheCold}, "cache state before kernels: cold or warm")
	fs.StringSliceVar(&f.kernels, "kernel", nil, "work on the shared buffer: read, write, copy, memcpy, chase (these by default), on GPUs also copy-to, memcpy-to, memcpy-both (see list), or none")
	fs.IntVar(&f.Threads, "threads", 0, "CPU threads of host kernels (default: all cores of the local NUMA node)")
	fs.Var(&sizeValue{&f.Offset}, "offset", "share a range that starts this far inside each allocation")
	fs.Var(&intsValue{&f.Live}, "live", "keep this many other buffers mapped while measuring; a list sweeps it")
	fs.Var(&peersValue{&f.Peers}, "peers", "have this many other processes, on the next GPUs, and the pair map each other's buffers while measuring; all: one a GPU; a list sweeps it")
	fs.Var(&percentValue{&f.Precision}, "precision", "stop a case when the 95 % interval of every median is within this share of it")
	fs.IntVar(&f.MinSamples, "min-samples", 30, "cycles before a case may stop as precise")
	fs.IntVar(&f.MaxSamples, "max-samples", 1000, "cycles after which a case stops")
	fs.DurationVar(&f.MaxTime, "max-time", 4*time.Second, "time for one case; unless given, three times as long where it takes that to reach --min-samples")
	fs.DurationVar(&f.TimeLimit, "time-limit", bench.DefaultTimeLimit, "time for the whole run, shared out fairly; what does not fit is not measured; 0: none; many pairs, cache states, numbers of peers and repeats have a longer default")
	fs.DurationVar(&f.CaseTimeout, "case-timeout", time.Minute, "kill a case whose batch of cycles takes longer")
	fs.IntVar(&f.Repeats, "repeat", 1, "measure the plan in this many fresh pairs of processes")
	fs.Uint64Var(&f.Seed, "seed", 0, "order of the cases and content of the buffers (default: from the clock)")
	fs.StringVar(&f.out, "out", "", "directory for the results, new or empty (default: gpushare-runs/<UTC time>-<host>)")
	fs.StringVar(&f.resume, "resume", "", "finish the run in this directory")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print the plan and measure nothing")
	fs.BoolVar(&f.noVerify, "no-verify", false, "do not check the bytes of every cycle")
	fs.StringVar(&f.progress, "progress", "auto", "auto, plain (a line a case) or none")
	fs.StringVar(&f.json, "json", "", "write the summary as JSON to this file, - for standard output")
	fs.StringSliceVar(&f.export, "export", nil, "further formats: benchfmt (for benchstat)")
	fs.BoolVar(&f.ExportedBefore, "exported-before", false, "export each buffer once, untimed, before the timed export: what the first export costs more")
	fs.BoolVar(&f.SameProcess, "same-process", false, "run both ends in one process, for comparison with two")
	fs.StringSliceVar(&f.Isolate, "isolate", nil, "namespaces of its own for each worker: pid, ipc, user, mnt, net, uts")
	fs.StringArrayVar(&f.ProducerEnv, "producer-env", nil, "NAME=VALUE for the producer only, such as CUDA_VISIBLE_DEVICES=2,3")
	fs.StringArrayVar(&f.ConsumerEnv, "consumer-env", nil, "NAME=VALUE for the consumer only")
}

// complete fills in defaults that depend on the machine and the backend, and checks everything. It is called twice: to
// refuse bad values before anything is started, and again when the backend is known.
func (f *sweepFlags) complete(backend string, cores int) error {
	f.Verify = !f.noVerify
	f.Sizes = f.sizes
	if len(f.Sizes) == 0 {
		f.Sizes = hostSizes
		if backend == "cuda" {
			f.Sizes = gpuSizes
		}
	}
	if len(f.Receivers) == 0 {
		f.Receivers = []string{share.ReceiverPolling}
		if cores < 2 {
			f.Receivers = []string{share.ReceiverBlocked}
		}
	}
	if len(f.kernels) == 0 {
		f.Kernels = share.DefaultKernels()
	} else if !slices.Equal(f.kernels, []string{"none"}) {
		f.Kernels = nil
		for _, k := range f.kernels {
			f.Kernels = append(f.Kernels, share.Kernel(k))
		}
	}
	if !f.maxTimeSet {
		f.FloorTime = 3 * f.MaxTime
	}
	if !f.seedSet {
		f.Seed = uint64(time.Now().UnixNano())
	}
	return errors.Join(f.Validate(), checkKernels(backend, f.Kernels))
}

// checkKernels refuses kernels that no device of the backend has.
func checkKernels(backend string, kernels []share.Kernel) error {
	for _, k := range kernels {
		if backend == "host" && slices.Contains(share.Kernels(), k) && !slices.Contains(share.DefaultKernels(), k) {
			return bench.Usagef("--kernel %s: only GPUs have it, and the backend is host", k)
		}
	}
	return nil
}

// checkAll refuses what can be seen to be wrong before anything is started.
func (f *sweepFlags) checkAll(cores int) error {
	var noRoom error
	if f.out == "" && f.resume == "" && !f.dryRun {
		noRoom = checkRunsDir()
	}
	return errors.Join(f.complete(f.backend, cores), bench.CheckNames(&f.Config, backends), noRoom, checkOutputs(f.out, f.json),
		checkNoJournal("--json", f.json, f.resume), f.checkThreads(cores))
}

// checkThreads refuses more threads than this process may use cores: each has one of its own.
func (f *sweepFlags) checkThreads(cores int) error {
	if f.Threads > cores {
		return bench.Usagef("--threads %d: each has a core of its own, and this process may use %d of them", f.Threads, cores)
	}
	return nil
}

// checkWords refuses words that are none of a flag's.
func (f *sweepFlags) checkWords() error {
	for _, x := range []struct {
		flag, value string
		words       []string
	}{
		{"--backend", f.backend, []string{"auto", "host", "cuda"}},
		{"--progress", f.progress, []string{"auto", "plain", "none"}},
	} {
		if !slices.Contains(x.words, x.value) {
			return bench.Usagef("%s %q: not one of %s", x.flag, x.value, strings.Join(x.words, ", "))
		}
	}
	return checkExport(f.export)
}

func checkExport(formats []string) error {
	for _, e := range formats {
		if e != "benchfmt" {
			return bench.Usagef("--export %q: not one of benchfmt", e)
		}
	}
	return nil
}

// resumeFlags may be given with --resume; all others are taken from the run.
var resumeFlags = []string{"resume", "time-limit", "progress", "json", "dry-run", "export", "producer-env", "consumer-env"}

// checkResumeFlags refuses flags that a run that is finished already has.
func checkResumeFlags(fs *pflag.FlagSet) error {
	if !fs.Changed("resume") {
		return nil
	}
	var extra []string
	fs.Visit(func(fl *pflag.Flag) {
		if !slices.Contains(resumeFlags, fl.Name) {
			extra = append(extra, "--"+fl.Name)
		}
	})
	if len(extra) > 0 {
		return bench.Usagef("--resume finishes a run where and as it was begun: leave out %s (only --%s may be given with it)",
			strings.Join(extra, ", "), strings.Join(resumeFlags[1:], ", --"))
	}
	return nil
}
