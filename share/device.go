package share

import "context"

// Region is a range of addresses that a device can work on.
type Region struct {
	Addr  uintptr // device or host virtual address
	Bytes int64
	First uint64 // index, in the pattern, of the region's first 8-byte word
}

// Buffer is the producer's memory. Its methods are called by one goroutine.
type Buffer interface {
	Whole() Region         // the allocation as requested, offset included; First is 0
	Region() Region        // the range that is shared
	Allocated() int64      // bytes really taken, rounded up to the granularity
	Release(t *Tape) error // gives everything up, recorded under Release; called once
}

// Mapping is the consumer's view of a shared buffer.
type Mapping interface {
	Region() Region
	Unmap(t *Tape) error // gives everything up, recorded under Unmap; called once
}

// Accessor is implemented by mappings and buffers whose CPU accesses must be bracketed (DMA_BUF_IOCTL_SYNC).
type Accessor interface {
	BeginAccess(t *Tape) error // before the first access
	EndAccess(t *Tape) error   // after the last
}

// Origin is implemented by mappings and buffers that know who exported their memory (exp_name in
// /proc/self/fdinfo, Documentation/driver-api/dma-buf.rst).
type Origin interface{ ExporterName() string }

// Rounder is implemented by buffers that may share more than was asked for, because their memory or path takes only certain
// sizes and places.
type Rounder interface {
	// Rounded says, after the export, how much is shared in place of what, and by which rule; "" where it is just that.
	Rounded() string
}

// Viewer is implemented by devices of which a process may see some only (CUDA_VISIBLE_DEVICES).
type Viewer interface {
	// Sees returns nil if this process can see the device with the ID, and otherwise an error that says what it sees.
	Sees(id string) error
}

// Mismatch says what a verification found. A zero Bytes is a clean result.
type Mismatch struct {
	Bytes int64 `json:"bytes"`        // bytes in 8-byte words that differ from the pattern
	First int64 `json:"first_offset"` // offset in the region of the first such word
	Last  int64 `json:"last_offset"`  // offset of the last
}

// Elapsed is the outcome of one kernel sample.
type Elapsed struct {
	Nanoseconds float64 // time of all the work of the sample
	Bytes       int64   // payload moved in that time, counted once; 0 for chase
	Traffic     int64   // bytes of memory traffic (copy: read + written); 0 when the same as Bytes
	Loads       int64   // dependent loads of chase; 0 otherwise
	Launches    int     // kernel launches or passes in the sample
}

// Options are what a worker tells a device when it opens it.
type Options struct {
	Cold      bool  `json:"cold"`       // write a scratch buffer larger than the last-level cache before each kernel sample
	Threads   int   `json:"threads"`    // CPU threads for host kernels; 0: all cores of the local NUMA node
	GateLimit int64 `json:"gate_limit"` // nanoseconds after which a gate kernel gives up; 0: the backend's default
	// Tape is told of the calls that opening makes, by Starting; none is a sample. nil: nobody asks.
	Tape *Tape `json:"-"`
	// Peer is the ID of the device at the other end; "" where that is of another backend or not known.
	Peer string `json:"peer,omitempty"`
}

// Device is an opened device inside a worker. All methods are called on the worker's locked thread.
type Device interface {
	// Fill writes words r.First, r.First+1, … of the pattern of seed (see Word) over the region and waits until they are
	// in memory. A tail of less than 8 bytes gets the first bytes, little-endian, of its word.
	Fill(r Region, seed uint64) error
	// Verify compares the region with the same words, every one, by the device's own loads.
	Verify(r Region, seed uint64) (Mismatch, error)
	// Peek copies bytes at offset of the region to dst: evidence about a mismatch.
	Peek(r Region, offset int64, dst []byte) error
	// Poke overwrites bytes at offset of the region: only fault injection does.
	Poke(r Region, offset int64, src []byte) error
	// Touch accesses the region once a page, recorded under FirstTouch.
	Touch(t *Tape, r Region) error
	// Kernels lists the kernels this device can run.
	Kernels() []Kernel
	// RunKernel does one sample of work on the region.
	RunKernel(k Kernel, r Region) (Elapsed, error)
	// State reads clocks, temperature and the like; absent readings are nil.
	State() DeviceState
	Close() error
}

// DeviceState is what can be read about a device beside a measurement. A nil field could not be read.
type DeviceState struct {
	SMClockHz     *int64   `json:"sm_clock_hz,omitempty"`
	MemoryClockHz *int64   `json:"memory_clock_hz,omitempty"`
	TemperatureC  *int64   `json:"temperature_c,omitempty"`
	PowerMilliW   *int64   `json:"power_mw,omitempty"`
	Throttle      []string `json:"throttle,omitempty"` // NVML's reasons, empty when none was active
	FreeBytes     *int64   `json:"free_bytes,omitempty"`
	OtherPIDs     []int    `json:"other_pids,omitempty"` // other processes computing on the device
}

// DeviceInfo describes a device for the plan, the header and the reader.
type DeviceInfo struct {
	ID          string            `json:"id"`      // "cpu", or a GPU's UUID: what crosses process boundaries and names pairs in files
	Backend     string            `json:"backend"` // "host" or "cuda"
	Index       int               `json:"index"`   // position in the driver's order; for the screen and the command line only
	Name        string            `json:"name"`    // "NVIDIA H200"
	PCI         string            `json:"pci,omitempty"`
	NUMANode    *int              `json:"numa_node,omitempty"`
	CPUs        []int             `json:"cpus,omitempty"`             // cores near the device
	MemoryBytes int64             `json:"memory_bytes,omitempty"`     // total
	FreeBytes   int64             `json:"free_bytes,omitempty"`       // free for this process when the run began; 0 not known
	PeakBytes   float64           `json:"peak_bytes_per_s,omitempty"` // physical peak of the memory; 0 not known
	CacheBytes  int64             `json:"cache_bytes,omitempty"`      // last-level cache
	Details     map[string]string `json:"details,omitempty"`          // whatever else the header should keep
}

// Link describes an ordered pair of devices.
type Link struct {
	Producer string `json:"producer"` // device ID
	Consumer string `json:"consumer"`
	Class    string `json:"class"`          // "same", "NV18", "PIX", "PXB", "PHB", "NODE", "SYS", "cpu"; "" not known
	Peer     *bool  `json:"peer,omitempty"` // the driver says the consumer can address the producer's memory
}

// Inventory is what a backend finds on this machine.
type Inventory struct {
	Devices  []DeviceInfo      `json:"devices"`
	Links    []Link            `json:"links,omitempty"`
	Details  map[string]string `json:"details,omitempty"`  // driver version, kernel module …
	Emulated string            `json:"emulated,omitempty"` // name of the emulated machine; "" on real hardware
}

// Backend is a family of devices with its rows.
type Backend interface {
	Name() string // "host", "cuda"
	// Describe finds the devices. An error matching ErrUnsupported says in a sentence why the backend can't be used here.
	Describe(context.Context) (Inventory, error)
	Allocators() []Allocator
	Exporters() []Exporter
	Importers() []Importer
	// Open opens the device with the given ID on the calling thread.
	Open(ctx context.Context, id string, o Options) (Device, error)
}
