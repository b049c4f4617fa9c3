package share

import (
	"fmt"
	"strings"
)

// Transports: how a handle travels.
const (
	TransportSCMRights = "scm-rights" // descriptor in an SCM_RIGHTS message over a SOCK_SEQPACKET socket pair
	TransportPidfd     = "pidfd"      // number in a message, descriptor fetched with pidfd_getfd
	TransportBytes     = "bytes"      // opaque bytes in a message, no descriptor
)

// Receivers: how the consumer waits for the handle.
const (
	ReceiverPolling = "polling" // spins on a non-blocking receive
	ReceiverBlocked = "blocked" // sleeps in the receive
)

// Cache states in which kernels run.
const (
	CacheCold = "cold" // a scratch buffer larger than the last-level cache is written before each sample
	CacheWarm = "warm"
)

// Case is the key of everything that is measured: of the journal, of resume and of compare. It is comparable.
type Case struct {
	Backend   string `json:"backend"` // "cuda" if either end is a GPU, else "host"
	Path      string `json:"path"`
	Allocator string `json:"allocator"`
	Producer  string `json:"producer"` // device ID
	Consumer  string `json:"consumer"`
	Transport string `json:"transport"`
	Receiver  string `json:"receiver"`
	Cache     string `json:"cache"`
	Size      int64  `json:"size_bytes"`        // bytes shared, as requested
	Offset    int64  `json:"offset,omitempty"`  // start of the shared range in the allocation, bytes
	Live      int    `json:"live,omitempty"`    // mappings of other buffers kept while measuring
	Variant   string `json:"variant,omitempty"` // what else tells this case apart ("isolate=pid,ipc")
	Peers     int    `json:"peers,omitempty"`   // other processes that, with producer and consumer, have mapped each other's buffers meanwhile
}

// String names the case for people: "memfd/memfd cpu→cpu scm-rights polling cold 4 KiB".
func (c Case) String() string {
	s := fmt.Sprintf("%s/%s %s→%s %s %s %s %s", c.Path, c.Allocator, ShortID(c.Producer), ShortID(c.Consumer),
		c.Transport, c.Receiver, c.Cache, FormatSize(c.Size))
	if c.Offset != 0 {
		s += " +" + FormatSize(c.Offset)
	}
	if c.Live != 0 {
		s += fmt.Sprintf(" live %d", c.Live)
	}
	if c.Peers != 0 {
		s += fmt.Sprintf(" peers %d", c.Peers)
	}
	if c.Variant != "" {
		s += " " + c.Variant
	}
	return s
}

// ShortID abbreviates a GPU's UUID to its first group: "GPU-1a2b3c4d". Other IDs are returned as they are.
func ShortID(id string) string {
	if strings.HasPrefix(id, "GPU-") || strings.HasPrefix(id, "MIG-") {
		if i := strings.IndexByte(id[4:], '-'); i > 0 {
			return id[:4+i]
		}
	}
	return id
}

// Status is the outcome of a case.
type Status string

// The statuses.
const (
	StatusOK          Status = "ok"          // everything was measured and the bytes were right
	StatusPartial     Status = "partial"     // the producer's half was measured, the system declined the consumer's
	StatusUnsupported Status = "unsupported" // the system declined the producer's half, or the case can't exist here
	StatusFailed      Status = "failed"      // an error after a good trial, or one that is no refusal
	StatusTimeout     Status = "timeout"     // a call or kernel did not return in time
	StatusCorrupt     Status = "corrupt"     // verification found bytes that are not the pattern
	StatusInterrupted Status = "interrupted" // the run was stopped during the case
)

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{StatusOK, StatusPartial, StatusUnsupported, StatusFailed, StatusTimeout, StatusCorrupt, StatusInterrupted}
}

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool {
	for _, v := range Statuses() {
		if s == v {
			return true
		}
	}
	return false
}
