package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gpushare-bench/share"
)

// ProtocolVersion is raised when a message changes its meaning. Runner and workers are the same binary, so a difference
// means that something else answers.
const ProtocolVersion = 1

// MaxMessage bounds a control message, in bytes.
const MaxMessage = 64 << 20

// ErrMessage is matched by errors about malformed control messages.
var ErrMessage = errors.New("bad control message")

// Roles of a worker.
const (
	RoleProducer = "producer"
	RoleConsumer = "consumer"
	RolePeer     = "peer"  // takes part in meshes only
	RoleProbe    = "probe" // describes the backends and ends
)

// Request is a message from the runner. Exactly one pointer is set.
type Request struct {
	Describe *Describe `json:"describe,omitempty"`
	Open     *Open     `json:"open,omitempty"`
	Batch    *Batch    `json:"batch,omitempty"`
	Mesh     *Mesh     `json:"mesh,omitempty"`
}

// Describe asks for the inventory of the named backend.
type Describe struct {
	Backend string `json:"backend"`
}

// Open says which device this worker works with, for its whole life.
type Open struct {
	Role    string        `json:"role"`
	Backend string        `json:"backend"`
	Device  string        `json:"device"` // ID
	Options share.Options `json:"options"`
	CPUs    []int         `json:"cpus,omitempty"`     // cores the measuring thread may be pinned to
	PeerPID int           `json:"peer_pid,omitempty"` // the other worker as seen by the runner
	Number  int           `json:"number,omitempty"`   // which member of a mesh this worker is
	Members []int         `json:"members,omitempty"`  // all members' processes as seen by the runner, 0: no number here; empty: no mesh
}

// Batch asks for consecutive cycles of one case. Both workers get the same batch.
type Batch struct {
	Case       share.Case     `json:"case"`
	RunSeed    uint64         `json:"run_seed"`
	CaseIndex  int            `json:"case_index"` // position in the plan: part of the pattern's seed
	First      int            `json:"first"`      // number of the first cycle
	Cycles     int            `json:"cycles"`
	Kernels    []share.Kernel `json:"kernels"`
	Verify     bool           `json:"verify"`
	Before     bool           `json:"exported_before"` // export every buffer once, untimed, before the timed export
	ExportOnly bool           `json:"export_only"`     // the import was refused: measure the phases before it
}

// Reply is a worker's answer to a request.
type Reply struct {
	Version   int              `json:"version"`
	Error     *Problem         `json:"error,omitempty"` // the request as a whole failed
	Inventory *share.Inventory `json:"inventory,omitempty"`
	Overhead  *Overhead        `json:"overhead,omitempty"` // beside Inventory
	Opened    *Opened          `json:"opened,omitempty"`
	Result    *Result          `json:"result,omitempty"`
	Meshed    *Meshed          `json:"meshed,omitempty"`
}

// Opened is the answer to Open.
type Opened struct {
	Blind string `json:"blind,omitempty"` // why the other end's device can't be seen from here; "" if it can
}

// Overhead is what an empty timed call reads, in nanoseconds.
type Overhead struct {
	Samples int   `json:"samples"`
	Median  int64 `json:"median_ns"`
	P99     int64 `json:"p99_ns"`
	Min     int64 `json:"min_ns"`
}

// Problem is an error that crosses a process boundary.
type Problem struct {
	Text    string `json:"text"`
	Refused bool   `json:"refused,omitempty"` // matched share.ErrUnsupported
	Phase   string `json:"phase,omitempty"`   // phase in which it happened
	Peer    bool   `json:"peer,omitempty"`    // the other end gave up; its own reply says why
	Corrupt bool   `json:"corrupt,omitempty"` // verification found a mismatch
	Limit   bool   `json:"limit,omitempty"`   // what the case keeps alive beside the measured mapping did not fit
}

// Error returns the text.
func (p *Problem) Error() string { return p.Text }

// Is makes errors.Is(p, share.ErrUnsupported) true for refusals.
func (p *Problem) Is(target error) bool { return target == share.ErrUnsupported && p.Refused }

// Result is one end's record of a batch.
type Result struct {
	Calls     []string          `json:"calls"`             // names that spans refer to
	Cycles    []Cycle           `json:"cycles"`            // finished cycles
	Partial   *Cycle            `json:"partial,omitempty"` // the cycle in which Problem happened, as far as it got
	Problem   *Problem          `json:"problem,omitempty"` // why the batch ended early
	Mismatch  *share.Mismatch   `json:"mismatch,omitempty"`
	Allocated int64             `json:"allocated"` // bytes really taken by the last buffer
	Exporter  string            `json:"exporter,omitempty"`
	Rounded   string            `json:"rounded,omitempty"` // how much was shared in place of what was asked for, and why
	Live      int               `json:"live"`              // mappings held beside the measured one
	Before    share.DeviceState `json:"before"`
	After     share.DeviceState `json:"after"`
}

// Cycle is one end's record of a cycle. Stamps are nanoseconds on CLOCK_MONOTONIC; 0 is absent.
type Cycle struct {
	Spans    []int64  `json:"spans"`              // phase, call, start, end and 1 for OK, five numbers a span
	Sent     int64    `json:"sent,omitempty"`     // producer: just before the handle was sent
	Waiting  int64    `json:"waiting,omitempty"`  // consumer: began to wait for the handle
	Received int64    `json:"received,omitempty"` // consumer: handle in hand
	Kernels  []Sample `json:"kernels,omitempty"`
}

// Sample is one kernel sample.
type Sample struct {
	Kernel  share.Kernel  `json:"kernel"`
	Elapsed share.Elapsed `json:"elapsed"`
}

// WriteMessage writes v with its length in front, 4 bytes big-endian.
func WriteMessage(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode control message: %w", err)
	}
	if len(body) > MaxMessage {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrMessage, len(body), MaxMessage)
	}
	buf := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	_, err = w.Write(append(buf, body...))
	return err
}

// ReadMessage reads a message into v. It returns io.EOF when the other end has closed the socket between two messages.
func ReadMessage(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxMessage {
		return fmt.Errorf("%w: a length of %d bytes", ErrMessage, n)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return err
	}
	if len(body) != int(n) {
		return io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %v", ErrMessage, err)
	}
	return nil
}
