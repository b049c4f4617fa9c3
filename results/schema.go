package results

import (
	"encoding/json"
	"fmt"
	"time"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// SchemaVersion is the version of the journal that this package writes. Readers accept older versions and unknown
// fields. Raise it when the meaning of a field changes; a new optional field needs no new version.
const SchemaVersion = 1

// Units of metrics.
const (
	Nanoseconds    = "ns"
	BytesPerSecond = "B/s"
)

// Header is the journal's first line: everything about a run that is the same for all its cases.
type Header struct {
	Schema      int                `json:"schema"`
	Tool        string             `json:"tool"`    // "gpushare-bench"
	Version     string             `json:"version"` // of the tool
	Run         string             `json:"run"`     // name of the run, by default its directory's
	Host        string             `json:"host"`
	Started     time.Time          `json:"started"`
	Args        []string           `json:"args"` // the command line, without the program's name
	Seed        uint64             `json:"seed"`
	Planned     int                `json:"planned"`            // cases in the plan, times Repeats
	Repeats     int                `json:"repeats"`            // fresh pairs of processes that each case is measured in
	Emulated    string             `json:"emulated,omitempty"` // name of the emulated machine; real runs have none
	Backend     string             `json:"backend"`            // as taken: "host", "cuda"
	BackendWhy  string             `json:"backend_why,omitempty"`
	Devices     []share.DeviceInfo `json:"devices"`
	Links       []share.Link       `json:"links,omitempty"`
	Details     map[string]string  `json:"details,omitempty"`     // driver version, kernel module and the like
	Environment json.RawMessage    `json:"environment,omitempty"` // sysinfo.Environment
	Settings    Settings           `json:"settings"`
	Overhead    Overhead           `json:"timed_call_overhead"`
}

// DeviceName is a device's name on screen: "cpu", or "GPU 3" by its index.
func (h *Header) DeviceName(id string) string {
	for i := range h.Devices {
		if d := &h.Devices[i]; d.ID == id && d.Backend != "host" {
			return fmt.Sprintf("GPU %d", d.Index)
		}
	}
	return share.ShortID(id)
}

// Settings are the options that decide what a number means.
type Settings struct {
	Precision   float64  `json:"precision"` // half-width of the median's interval over the median
	MinSamples  int      `json:"min_samples"`
	MaxSamples  int      `json:"max_samples"`
	MaxTimeNs   int64    `json:"max_time_ns"` // per case
	TimeLimitNs int64    `json:"time_limit_ns"`
	Verify      bool     `json:"verify"`
	Kernels     []string `json:"kernels"`
	Threads     int      `json:"threads,omitempty"`
}

// Overhead is what an empty timed call reads, in nanoseconds. It is recorded and never subtracted.
type Overhead struct {
	Samples int     `json:"samples"`
	Min     float64 `json:"min_ns"`
	Median  float64 `json:"median_ns"`
	P99     float64 `json:"p99_ns"`
}

// Metric is one measured quantity of a case with all its samples in time order.
type Metric struct {
	Name       string           `json:"name"`            // "export", "map/cuMemMap", "setup", "kernel/read"
	Unit       string           `json:"unit"`            // Nanoseconds or BytesPerSecond
	Samples    []float64        `json:"samples"`         // steady state: the first cycle is not among them
	First      *float64         `json:"first,omitempty"` // the first cycle
	StopReason stats.StopReason `json:"stop_reason,omitempty"`
}

// HigherIsBetter reports the direction of the metric: rates are better high, times low.
func (m Metric) HigherIsBetter() bool { return m.Unit == BytesPerSecond }

// Warning is a finding about a case that a person can act on. Codes are explained in the documentation.
type Warning struct {
	Code   string `json:"code"`             // "drift", "correlated", "throttled", …
	Metric string `json:"metric,omitempty"` // the metric concerned; empty: the case
	Text   string `json:"text"`             // one sentence with the figures
}

// Joined is what it took one process to join those of a case with peers that were there before it: it maps the buffer of
// each, and each maps its buffer. Times are nanoseconds.
type Joined struct {
	Wall   int64 `json:"wall_ns"`   // on the joining process's clock, from the first message to the last answer
	Export int64 `json:"export_ns"` // sums of the timed calls by phase, of the joining process and of the others
	Import int64 `json:"import_ns"`
	Map    int64 `json:"map_ns"`
}

// CaseResult is one journal line: a finished case.
type CaseResult struct {
	Case       share.Case         `json:"case"`
	Repeat     int                `json:"repeat,omitempty"` // 0 … Header.Repeats-1: which pair of processes
	Order      int                `json:"order"`            // position in which it was measured
	Link       string             `json:"link,omitempty"`   // link class of the pair
	Allocated  int64              `json:"allocated_bytes,omitempty"`
	Exporter   string             `json:"exporter,omitempty"` // name of the dma-buf's exporter, where it can be read
	Status     share.Status       `json:"status"`
	Reason     string             `json:"reason,omitempty"` // why the status is not ok: call, answer, hint
	Phase      string             `json:"phase,omitempty"`  // phase in which it ended, for timeout, failed, partial
	Mismatch   *share.Mismatch    `json:"mismatch,omitempty"`
	Metrics    []Metric           `json:"metrics,omitempty"`
	Joined     []Joined           `json:"joined,omitempty"`  // of a case with peers: the consumer, then each peer
	IdleNs     []float64          `json:"idle_ns,omitempty"` // how long the receiver had waited when the handle was sent, per cycle
	Warnings   []Warning          `json:"warnings,omitempty"`
	Before     *share.DeviceState `json:"before,omitempty"` // consumer's device before and after the case
	After      *share.DeviceState `json:"after,omitempty"`
	Started    time.Time          `json:"started"`
	DurationNs int64              `json:"duration_ns"`
}

// End is the journal's last line.
type End struct {
	Outcome    string    `json:"outcome"` // "complete", "interrupted", "time-limit", "failed"
	ExitStatus int       `json:"exit_status"`
	Finished   time.Time `json:"finished"`
	Measured   int       `json:"measured"` // cases in the journal
}

// Run is a journal as read.
type Run struct {
	Header  Header
	Cases   []CaseResult
	End     *End     // nil: the run did not end in order
	Dropped []string // what could not be read, one line each, with file and line number
}
