package plots

import (
	"bytes"
	"errors"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Rasterised text and lines differ a little between architectures: a pixel differs when a channel is off by more than
// channelTolerance of 255, a picture when more than pixelTolerance of its pixels do.
const (
	channelTolerance = 48
	pixelTolerance   = 0.002
)

// golden compares a figure with its picture in testdata. On a difference the picture is left beside the golden one.
func golden(t *testing.T, name string, f Figure) {
	t.Helper()
	var b bytes.Buffer
	if err := f.encodePNG(&b, 72); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".png")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if part := difference(t, b.Bytes(), want); part > pixelTolerance {
		actual := path + ".actual"
		if err := os.WriteFile(actual, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%.2f %% of the pixels of %s differ from %s", 100*part, actual, path)
	}
}

// difference returns the fraction of pixels that differ, 1 for pictures of different sizes.
func difference(t *testing.T, got, want []byte) float64 {
	t.Helper()
	decode := func(raw []byte) image.Image {
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	a, b := decode(got), decode(want)
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			if apartBy(r1, r2) || apartBy(g1, g2) || apartBy(b1, b2) {
				n++
			}
		}
	}
	return float64(n) / float64(a.Bounds().Dx()*a.Bounds().Dy())
}

func apartBy(a, b uint32) bool {
	d := int(a>>8) - int(b>>8)
	return d > channelTolerance || d < -channelTolerance
}

func TestDifferenceSeesALine(t *testing.T) {
	oneThread(t)
	draw := func(run *results.Run) []byte {
		var b bytes.Buffer
		if err := Figures(run)[0].encodePNG(&b, 72); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	run := resultstest.HostRun(resultstest.Powers(4096, 4, 5)...)
	a := draw(run)
	if d := difference(t, a, draw(run)); d != 0 {
		t.Errorf("the same picture differs from itself by %v", d)
	}
	run.Cases = run.Cases[:5] // without the second way
	if d := difference(t, a, draw(run)); d <= pixelTolerance {
		t.Errorf("a missing curve makes a difference of %v only", d)
	}
}

func TestGoldenPictures(t *testing.T) {
	oneThread(t)
	few, all := resultstest.Powers(2<<20, 32, 3), resultstest.Powers(4096, 2, 20)
	for _, p := range []struct {
		name    string
		figures []Figure
		want    map[string]string // name of the figure: name of the golden file
	}{
		{"two ways", Figures(journal(t)), map[string]string{"latency-setup": "setup-2-ways", "latency-phases": "phases-2-ways",
			"cycle-1mib": "cycle-2-ways", "distribution-setup": "distribution-2-ways"}},
		{"one size", Figures(resultstest.HostRun(1 << 21)), map[string]string{"latency-setup": "setup-1-size", "latency-phases": "phases-1-size"}},
		{"twenty sizes", Figures(resultstest.GPURun(1, "", all...)), map[string]string{"latency-setup": "setup-20-sizes", "latency-phases": "phases-20-sizes",
			"break-even": "break-even-20-sizes", "bandwidth-kernel-read": "read-20-sizes"}},
		{"eight GPUs, emulated", Figures(resultstest.GPURun(8, "h200-580", few...)), map[string]string{"matrix-kernel-read": "matrix-8x8",
			"bandwidth-kernel-read-gpu0-gpu1-nv18": "read-remote", "cycle-2mib-gpu0-gpu0-samegpu": "cycle-8-ways",
			"distribution-setup-gpu0-gpu0-samegpu": "distribution-8-ways"}},
		{"twelve ways, odd statuses and names", Figures(resultstest.OddRun()), map[string]string{"latency-setup": "setup-odd", "cycle-2mib": "cycle-odd"}},
		{"comparison", ComparisonFigures(comparison(t)), map[string]string{"ratio-times": "ratio-times", "ratio-kernels": "ratio-kernels", "both-setup": "both-setup"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			for _, f := range p.figures {
				if name, ok := p.want[f.Name]; ok {
					golden(t, name, f)
					delete(p.want, f.Name)
				}
			}
			for name := range p.want {
				t.Errorf("no figure %s", name)
			}
		})
	}
}

// journal returns the run of testdata/run.jsonl, which the example draws too.
func journal(t *testing.T) *results.Run {
	t.Helper()
	path := filepath.Join("testdata", "run.jsonl")
	if *update {
		run := resultstest.HostRun(resultstest.Powers(4096, 4, 9)...)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		j, err := results.Create(path, run.Header)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range run.Cases {
			if err := j.Append(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(j.Finish(*run.End), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run, err := results.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
