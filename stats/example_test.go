package stats_test

import (
	"fmt"

	"gpushare-bench/stats"
)

// Times in nanoseconds, in the order measured.
var (
	before = []float64{5010, 5032, 4990, 5004, 5041, 4987, 5020, 4998, 5013, 5007}
	after  = []float64{5523, 5490, 5511, 5478, 5544, 5502, 5486, 5530, 5497, 5515}
)

func ExampleSummarize() {
	s, err := stats.Summarize(before)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("median %.1f ns, %.1f %% interval %v to %v\n", s.Median, 100*s.CI.Level, s.CI.Low, s.CI.High)
	fmt.Printf("p99 of %d samples: %v\n", s.N, s.P99)
	// Output:
	// median 5008.5 ns, 97.9 % interval 4990 to 5032
	// p99 of 10 samples: NaN
}

func ExampleCompare() {
	c, err := stats.Compare(before, after)
	if err != nil {
		fmt.Println(err)
		return
	}
	// In a family of comparisons, adjust all their p-values with Holm first.
	adjusted := stats.Holm([]float64{c.P, 0.4, 0.03})
	fmt.Printf("×%.3f, %.3f to %.3f, p = %.2g\n", c.Ratio, c.CI.Low, c.CI.High, adjusted[0])
	fmt.Println(stats.Judge(c.CI, adjusted[0], 0.05, stats.LowerIsBetter))
	// Output:
	// ×1.099, 1.095 to 1.103, p = 3.2e-05
	// slower
}

func ExampleRule() {
	rule := stats.Rule{Precision: 0.02, MinSamples: 30, MaxSamples: 1000}
	var samples []float64
	for rule.Decide(samples) == stats.More {
		for next := rule.Next(len(samples)); len(samples) < next; {
			samples = append(samples, before[len(samples)%len(before)]) // measure
		}
	}
	fmt.Println(len(samples), rule.Decide(samples))
	// Output:
	// 30 precision
}
