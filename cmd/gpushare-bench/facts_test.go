package main

import (
	"testing"

	"gpushare-bench/sysinfo"
)

func TestNamespaces(t *testing.T) {
	ns := func(kind string, initial *bool) sysinfo.Namespace {
		return sysinfo.Namespace{Kind: kind, Initial: initial}
	}
	for _, c := range []struct {
		all  []sysinfo.Namespace
		want string
	}{
		{nil, ""},
		{[]sysinfo.Namespace{ns("mnt", new(true)), ns("net", new(true))}, ""},
		{[]sysinfo.Namespace{ns("mnt", nil), ns("net", nil), ns("pid", new(true))}, "mnt, net: not known whether the host's"},
		{[]sysinfo.Namespace{ns("ipc", new(false)), ns("mnt", nil), ns("pid", new(false))}, "not the host's: ipc, pid; mnt: not known whether the host's"},
	} {
		if got := namespaces(c.all); got != c.want {
			t.Errorf("%v: %q, want %q", c.all, got, c.want)
		}
	}
}
