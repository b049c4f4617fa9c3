package plots

import (
	"slices"
	"testing"

	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
)

// TestMatricesShowWhatIsShared wants no path that works on a copy to stand for the link between two devices, though it is
// the one that no pair refuses.
func TestMatricesShowWhatIsShared(t *testing.T) {
	run := resultstest.GPURun(3, "", 2<<20)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Case.Path != Baseline && c.Case.Producer == run.Header.Devices[1].ID {
			c.Status, c.Reason, c.Metrics = share.StatusUnsupported, "no peer access", nil
		}
	}
	d := NewData(run)
	for _, metric := range MatrixMetrics() {
		if !d.Views[0].Has(metric) {
			continue
		}
		ways := d.MatrixWays(metric)
		i := slices.IndexFunc(ways, func(m MatrixWay) bool { return m.Key.Path == Baseline })
		switch {
		case len(ways) == 0:
			t.Errorf("%s: no ways", metric)
		case metric == share.Setup && i != len(ways)-1:
			t.Errorf("%s: the baseline is at %d of %d", metric, i, len(ways))
		case metric != share.Setup && i >= 0:
			t.Errorf("%s: the baseline, whose kernels run on local memory, is among the ways", metric)
		}
	}
	var names []string
	for _, f := range Figures(run) {
		names = append(names, f.Name)
	}
	for _, want := range []string{"matrix-setup", "matrix-kernel-read", "matrix-kernel-write", "matrix-kernel-copy", "matrix-kernel-memcpy"} {
		if !slices.Contains(names, want) {
			t.Errorf("no picture %s among %v", want, names)
		}
	}
	if slices.Contains(names, "matrix-kernel-chase") {
		t.Error("a matrix of bandwidths has the latency of a load")
	}
}

func TestMatrixOfOneValueIsNone(t *testing.T) {
	run := resultstest.GPURun(2, "", 2<<20)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Case.Producer != run.Header.Devices[1].ID || c.Case.Consumer != run.Header.Devices[1].ID {
			c.Status, c.Reason, c.Metrics = share.StatusUnsupported, "no", nil
		}
	}
	if _, ok := NewData(run).MainMatrix(share.Setup); ok {
		t.Error("one pair has a matrix")
	}
	if _, ok := NewData(resultstest.GPURun(2, "", 2<<20)).MainMatrix(share.Setup); !ok {
		t.Error("four pairs have none")
	}
}

func TestReasonsThatDifferInDetailAreOne(t *testing.T) {
	run := resultstest.GPURun(3, "", 2<<20)
	for i := range run.Cases {
		if c := &run.Cases[i]; c.Case.Producer != c.Case.Consumer {
			c.Status, c.Metrics = share.StatusPartial, nil
			c.Reason = "cuMemSetAccess(address 0x7f" + string(rune('a'+i%6)) + ", by device " + string(rune('0'+i%9)) + "): CUDA_ERROR_INVALID_DEVICE (101)"
		}
	}
	d := NewData(run)
	ways := d.MatrixWays(share.Setup)
	m := d.Matrix(ways[0], 2<<20, share.Setup)
	if len(m.Reasons) != 1 || m.Cells[0][1].Reason != 1 || m.Cells[0][1].Status != share.StatusPartial {
		t.Errorf("reasons %q, cell %+v", m.Reasons, m.Cells[0][1])
	}
}
