package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

type deviceRow struct{ Name, ID, Model, Memory, Peak, Cache, Details string }

// mostFacts bounds the lines of the environment.
const mostFacts = 200

// methodOf are the anchors in the method of what is said about a run.
var methodOf = map[string]string{"processes": sectionAnchor + "one-cycle", "export": sectionAnchor + "one-cycle", "stopping rule": sectionAnchor + "statistics",
	"timing": sectionAnchor + "the-clock", "intervals": sectionAnchor + "statistics", "verification": sectionAnchor + "verification",
	"host kernels": sectionAnchor + "kernels"}

// environment adds what the header says about machine and method.
func (r *pageRun) environment(run *results.Run) {
	h := &run.Header
	orDash := func(n int64, format func(int64) string) string {
		if n <= 0 {
			return "–"
		}
		return format(n)
	}
	for _, d := range h.Devices {
		row := deviceRow{Name: "CPU", ID: clean(d.ID), Model: clean(d.Name), Memory: orDash(d.MemoryBytes, share.FormatSize),
			Cache: orDash(d.CacheBytes, share.FormatSize), Peak: "–"}
		if d.Backend != "host" {
			row.Name = fmt.Sprintf("GPU %d", d.Index)
		}
		if d.PeakBytes > 0 {
			row.Peak = results.FormatQuantity(d.PeakBytes, results.BytesPerSecond)
		}
		for _, k := range sortedKeys(d.Details) {
			row.Details += clean(fmt.Sprintf("%s %s; ", k, d.Details[k]))
		}
		r.Devices = append(r.Devices, row)
	}
	add := func(to *[]fact, key, value string) {
		if value != "" {
			*to = append(*to, fact{clean(key), clean(value), methodOf[key]})
		}
	}
	for _, k := range sortedKeys(h.Details) {
		add(&r.Environment, k, h.Details[k])
	}
	var v any
	if err := json.Unmarshal(h.Environment, &v); err == nil {
		flatten("", v, func(key, value string) {
			if len(r.Environment) < mostFacts {
				add(&r.Environment, key, value)
			}
		})
	}
	s := h.Settings
	add(&r.Method, "version", h.Tool+" "+h.Version)
	add(&r.Method, "backend", h.Backend+because(h.BackendWhy))
	add(&r.Method, "processes", processes(run))
	if hasVariant(run, exportedBefore) {
		add(&r.Method, "export", "each buffer was exported once before, untimed (--exported-before): the times are of a second export")
	}
	add(&r.Method, "stopping rule", fmt.Sprintf("until the 95 %% interval of the median is within ±%.3g %%, with %d to %d samples and at most %s a case", 100*s.Precision,
		s.MinSamples, s.MaxSamples, results.FormatQuantity(float64(s.MaxTimeNs), results.Nanoseconds)))
	add(&r.Method, "timing", fmt.Sprintf("each call between two readings of CLOCK_MONOTONIC beside it; an empty call reads %.3g ns (median of %d), which is not subtracted",
		h.Overhead.Median, h.Overhead.Samples))
	add(&r.Method, "intervals", "exact, from order statistics, allowing for correlation of consecutive samples; the first cycle is a result of its own")
	verify := "every byte checked by the consumer and, after it wrote back, by the producer, outside of the timed regions"
	if !s.Verify {
		verify = "OFF: no byte was checked"
	}
	add(&r.Method, "verification", verify)
	if s.Threads > 0 {
		add(&r.Method, "host kernels", plural(s.Threads, "thread"))
	}
	add(&r.Method, "seed", fmt.Sprint(h.Seed))
}

// Parts of a case's variant.
const (
	sameProcess    = "same-process"
	exportedBefore = "exported-before"
)

// hasVariant reports whether any case has the part in its variant.
func hasVariant(run *results.Run, part string) bool {
	return slices.ContainsFunc(run.Cases, func(c results.CaseResult) bool { return slices.Contains(strings.Split(c.Case.Variant, ";"), part) })
}

// processes says where producer and consumer ran.
func processes(run *results.Run) string {
	s, of := "a producer and a consumer, always two processes", "pairs of them"
	if hasVariant(run, sameProcess) {
		s, of = "producer and consumer in ONE process (--same-process): what two processes cost is not in the figures", "processes"
	}
	if slices.ContainsFunc(run.Cases, func(c results.CaseResult) bool { return c.Case.Peers > 0 }) {
		s += ", and as many more as a case has peers"
	}
	if run.Header.Repeats > 1 {
		s += fmt.Sprintf("; the whole plan in %d fresh %s", run.Header.Repeats, of)
	}
	return s
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// flatten gives every scalar of decoded JSON with its key.
func flatten(key string, v any, found func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			name := k
			if key != "" {
				name = key + "." + k
			}
			flatten(name, v[k], found)
		}
	case []any:
		for i, e := range v {
			flatten(fmt.Sprintf("%s[%d]", key, i), e, found)
		}
	case nil:
	case float64:
		found(key, fmt.Sprintf("%.15g", v))
	default:
		found(key, fmt.Sprint(v))
	}
}
