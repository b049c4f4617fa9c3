package main

import (
	"encoding/json"
	"io"
	"math"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// jsonSummary is what sweep --json writes: the run as a whole, and a row per case and metric whose fields are named like
// the columns of summary.csv. null is "not estimable".
type jsonSummary struct {
	Schema int            `json:"schema"` // 1; rises when the meaning of a field changes
	Header results.Header `json:"header"`
	End    *results.End   `json:"end"`
	Rows   []jsonRow      `json:"rows"`
}

// jsonRow is one case and metric.
type jsonRow struct {
	share.Case
	Link       string            `json:"link"`
	Allocated  int64             `json:"allocated_bytes,omitempty"`
	Status     share.Status      `json:"status"`
	Reason     string            `json:"reason,omitempty"`
	Metric     string            `json:"metric,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	N          int               `json:"n"`
	Median     number            `json:"median"`
	Low        number            `json:"ci_low"`
	High       number            `json:"ci_high"`
	Level      number            `json:"ci_level"`
	Mean       number            `json:"mean"`
	StdDev     number            `json:"stddev"`
	MAD        number            `json:"mad"`
	Min        number            `json:"min"`
	P5         number            `json:"p5"`
	P95        number            `json:"p95"`
	P99        number            `json:"p99"`
	Max        number            `json:"max"`
	First      *float64          `json:"first"`
	StopReason stats.StopReason  `json:"stop_reason,omitempty"`
	Warnings   []results.Warning `json:"warnings,omitempty"`
	Repeats    int               `json:"repeats"`
}

// number is null in JSON when it is not finite.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// writeJSON writes the summary of a run for programs.
func writeJSON(w io.Writer, run *results.Run) error {
	doc := jsonSummary{Schema: 1, Header: run.Header, End: run.End, Rows: []jsonRow{}}
	for _, r := range results.Summaries(run) {
		s := r.Stats
		doc.Rows = append(doc.Rows, jsonRow{Case: r.Case, Link: r.Link, Allocated: r.Allocated, Status: r.Status, Reason: r.Reason,
			Metric: r.Metric, Unit: r.Unit, N: s.N, Median: number(s.Median), Low: number(s.CI.Low), High: number(s.CI.High),
			Level: number(s.CI.Level), Mean: number(s.Mean), StdDev: number(s.StdDev), MAD: number(s.MAD), Min: number(s.Min),
			P5: number(s.P5), P95: number(s.P95), P99: number(s.P99), Max: number(s.Max), First: r.First,
			StopReason: r.StopReason, Warnings: r.Warnings, Repeats: r.Repeats})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
