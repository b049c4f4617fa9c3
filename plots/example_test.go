//go:build !race

package plots_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gpushare-bench/plots"
	"gpushare-bench/results"
)

// The journal is made up: its numbers are no measurements.
func ExampleWrite() {
	run, err := results.Load(filepath.Join("testdata", "run.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "plots")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	files, err := plots.Write(dir, run, []string{"png"})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// latency-setup.png
	// latency-phases.png
	// cycle-1mib.png
	// bandwidth-kernel-read.png
	// bandwidth-kernel-write.png
	// bandwidth-kernel-copy.png
	// latency-kernel-chase.png
	// distribution-setup.png
}
