package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gpushare-bench/share"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List paths, allocators, kernels and transports",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.list() },
	}
}

// transportSummaries says in a line how each transport works.
var transportSummaries = [][2]string{
	{share.TransportSCMRights, "the descriptor travels in an SCM_RIGHTS message over a SOCK_SEQPACKET socket pair"},
	{share.TransportPidfd, "its number travels, the consumer fetches it with pidfd_getfd"},
	{share.TransportBytes, "the handle is opaque bytes in a message"},
}

// list prints every row of every backend.
func (a *app) list() error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PATHS\tcarrier\tallocators that could work\t")
	for _, b := range backends {
		for _, x := range b.Exporters() {
			fmt.Fprintf(w, "  %s (%s)\t%s\t%s\t\n", x.Path.Name, b.Name(), x.Path.Carrier, strings.Join(x.Allocators, " "))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	section := func(title string, rows [][2]string) error {
		fmt.Fprintf(a.stdout, "\n%s\n", title)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, r := range rows {
			fmt.Fprintf(w, "  %s\t%s\n", r[0], r[1])
		}
		return w.Flush()
	}
	var paths, allocs, kernels [][2]string
	for _, b := range backends {
		for _, x := range b.Exporters() {
			row := [2]string{x.Path.Name, x.Path.Summary}
			if !slices.Contains(paths, row) {
				paths = append(paths, row)
			}
		}
		for _, al := range b.Allocators() {
			allocs = append(allocs, [2]string{al.Name, al.Summary})
		}
	}
	for _, k := range share.Kernels() {
		kernels = append(kernels, [2]string{string(k), k.Summary()})
	}
	for _, s := range []struct {
		title string
		rows  [][2]string
	}{{"WHAT EACH PATH DOES", paths}, {"ALLOCATORS", allocs}, {"KERNELS", kernels}, {"TRANSPORTS", transportSummaries}} {
		if err := section(s.title, s.rows); err != nil {
			return err
		}
	}
	return nil
}
