package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gpushare-bench/bench"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// infoSize is the size of the trials: one cycle each at a size that every path takes.
const infoSize = 2 << 20

func (a *app) infoCommand() *cobra.Command {
	f := &sweepFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show this machine and what it can share, and why not the rest",
		Long: `Show what of this machine matters for sharing memory, and try every path with every
allocator and transport once, between two real processes: yes, or no and why.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.info(cmd.Context(), f, asJSON) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.backend, "backend", "auto", "where the memory is: auto, host or cuda")
	fs.StringSliceVar(&f.Pairs, "pair", nil, "producer:consumer pairs to try, as for sweep")
	fs.StringSliceVar(&f.Isolate, "isolate", nil, "namespaces of its own for each worker: pid, ipc, user, mnt, net, uts")
	fs.StringArrayVar(&f.ProducerEnv, "producer-env", nil, "NAME=VALUE for the producer only")
	fs.StringArrayVar(&f.ConsumerEnv, "consumer-env", nil, "NAME=VALUE for the consumer only")
	fs.BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// trial is one line of the capability matrix.
type trial struct {
	Path      string       `json:"path"`
	Allocator string       `json:"allocator"`
	Producer  string       `json:"producer"`
	Consumer  string       `json:"consumer"`
	Link      string       `json:"link,omitempty"`
	Transport string       `json:"transport"`
	Status    share.Status `json:"status"`
	Reason    string       `json:"reason,omitempty"`
}

// machineInfo is what info prints.
type machineInfo struct {
	Version     string              `json:"version"`
	Backend     string              `json:"backend"`
	Why         string              `json:"backend_why"`
	Emulated    string              `json:"emulated,omitempty"`
	Environment sysinfo.Environment `json:"environment"`
	Devices     []share.DeviceInfo  `json:"devices"`
	Links       []share.Link        `json:"links,omitempty"`
	Details     map[string]string   `json:"details,omitempty"`
	OverheadNs  int64               `json:"timed_call_overhead_median_ns"`
	Trials      []trial             `json:"trials"`
}

// info collects what is known about the machine and tries everything once.
func (a *app) info(ctx context.Context, f *sweepFlags, asJSON bool) error {
	f.progress = "none"
	if err := f.checkWords(); err != nil {
		return err
	}
	f.sizes, f.Transports, f.Caches = []int64{infoSize}, []string{"all"}, []string{share.CacheWarm}
	f.kernels, f.Precision, f.MinSamples, f.MaxSamples = []string{"none"}, 0.5, 2, 2
	f.CaseTimeout, f.Repeats, f.TrialOnly = 30*time.Second, 1, true
	l, err := launcher(f.Isolate)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := f.complete(f.backend, 1); err != nil {
		return err
	}
	choice, err := a.chooseBackend(ctx, l, f.backend)
	if err != nil {
		return err
	}
	plan, err := bench.NewPlan(&f.Config, choice.sites)
	if err != nil {
		return err
	}
	m := machineInfo{Version: version(), Backend: choice.name, Why: choice.why, Emulated: choice.emulated(),
		Environment: sysinfo.Collect(ctx, sysinfo.Host()),
		Devices:     plan.Devices, Links: plan.Links, Details: choice.details(), OverheadNs: choice.overhead.Median}
	found := map[share.Case]results.CaseResult{}
	r := &bench.Runner{Config: &f.Config, Plan: plan, Launcher: l, Record: func(c results.CaseResult) error {
		found[c.Case] = c
		return nil
	}}
	if _, err := r.Run(ctx); err != nil {
		return err
	}
	for _, p := range plan.Cases() {
		c := found[p.Case]
		m.Trials = append(m.Trials, trial{p.Case.Path, p.Case.Allocator, p.Case.Producer, p.Case.Consumer, p.Link, p.Case.Transport, c.Status, c.Reason})
	}
	if asJSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	return m.write(a.stdout)
}

// write prints the machine and the matrix for people.
func (m *machineInfo) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range m.facts() {
		fmt.Fprintf(w, "%s\t%s\n", row[0], printable(row[1]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nWHAT CAN BE SHARED (one cycle of %s each, tried just now)\n", share.FormatSize(infoSize))
	return m.writeTrials(out)
}

// name is how the screen names a device: its index, or "cpu".
func (m *machineInfo) name(id string) string {
	for _, d := range m.Devices {
		if d.ID == id && d.Backend != "host" {
			return fmt.Sprint(d.Index)
		}
	}
	return id
}
