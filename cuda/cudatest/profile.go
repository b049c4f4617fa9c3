package cudatest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed machines/*.json
var machines embed.FS

// A Profile describes a machine.
type Profile struct {
	Name        string            `json:"-"`
	About       string            `json:"about"`
	Driver      int               `json:"driver"`      // what cuDriverGetVersion says, 13000 for CUDA 13.0
	Package     string            `json:"package"`     // version of the driver package; empty: not known
	Init        string            `json:"init"`        // what cuInit answers; empty: CUDA_SUCCESS
	Granularity int64             `json:"granularity"` // of cuMemCreate, bytes
	NUMANodes   int               `json:"numaNodes"`
	DMABufMmap  bool              `json:"dmabufMmap"` // whether the CPU may map an exported dma-buf
	DMABufMemfd bool              `json:"-"`          // whether any memfd passes for a dma-buf of the kernel: see MemfdIsDMABuf
	Missing     []string          `json:"missing"`    // symbols that the driver lacks
	Attributes  map[string]int    `json:"attributes"` // of all devices, by name without CU_DEVICE_ATTRIBUTE_
	Answers     map[string]string `json:"answers"`    // "call" or "call/circumstance" to a result's name
	Devices     []Device          `json:"devices"`
	Peers       Peers             `json:"peers"`
	NVLinks     int               `json:"nvlinks"` // between any two devices, through switches
}

// A Device is one GPU of a machine.
type Device struct {
	Name       string         `json:"name"`
	UUID       string         `json:"uuid"`       // GPU-… or MIG-…
	PCI        string         `json:"pci"`        // domain:bus:device.function
	Memory     int64          `json:"memory"`     // bytes
	Speed      int            `json:"speed"`      // the fastest is first in CUDA's default order
	Attributes map[string]int `json:"attributes"` // over those of the machine
}

// Peers says which devices can use whose memory: all, or pairs of the positions
// of the device that accesses and the device that owns.
type Peers struct {
	All   bool
	Pairs [][2]int
}

// UnmarshalJSON reads "all" or a list of pairs.
func (p *Peers) UnmarshalJSON(b []byte) error {
	if string(b) == `"all"` {
		p.All = true
		return nil
	}
	return json.Unmarshal(b, &p.Pairs)
}

// Can reports whether the device at position from can use memory of the one at
// position to.
func (p Peers) Can(from, to int) bool {
	return from != to && (p.All || slices.Contains(p.Pairs, [2]int{from, to}))
}

// Names lists all machines.
func Names() []string {
	entries, err := machines.ReadDir("machines")
	if err != nil {
		panic(err) // an embedded folder that exists
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Load reads the description of a machine.
func Load(name string) (Profile, error) {
	text, err := machines.ReadFile("machines/" + name + ".json")
	if err != nil {
		return Profile{}, fmt.Errorf("there is no emulated machine %q; there are %s", name, strings.Join(Names(), ", "))
	}
	p := Profile{Name: name}
	if err := decode(text, &p); err != nil {
		return Profile{}, fmt.Errorf("machine %s: %w", name, err)
	}
	return p, nil
}

func decode(text []byte, p *Profile) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	return d.Decode(p)
}

// Answer is the name of the result of a call in a circumstance ("" for none),
// as the machine lists it; ok is false when it does not, which means success.
func (p Profile) Answer(call, circumstance string) (result string, ok bool) {
	if circumstance != "" {
		call += "/" + circumstance
	}
	result, ok = p.Answers[call]
	return result, ok
}

// Attribute is a device's attribute, by name without CU_DEVICE_ATTRIBUTE_.
func (p Profile) Attribute(device int, name string) (int, bool) {
	if v, ok := p.Devices[device].Attributes[name]; ok {
		return v, true
	}
	v, ok := p.Attributes[name]
	return v, ok
}

// config is the description in the form that the C library reads.
func (p Profile) config() (string, error) {
	var b strings.Builder
	line := func(key string, values ...any) {
		b.WriteString(key + " ")
		fmt.Fprintln(&b, values...)
	}
	line("machine", p.Name)
	line("driver", p.Driver)
	if p.Init != "" {
		line("init", p.Init)
	}
	line("granularity", p.Granularity)
	line("numa-nodes", p.NUMANodes)
	line("nvlinks", p.NVLinks)
	if p.Package != "" {
		line("package", p.Package)
	}
	if p.DMABufMemfd {
		line("dmabuf-memfd", 1)
	}
	if p.DMABufMmap {
		line("dmabuf-mmap", 1)
	}
	for _, what := range slices.Sorted(maps.Keys(p.Answers)) {
		line("answer", what, p.Answers[what])
	}
	for from := range p.Devices {
		for to := range p.Devices {
			if p.Peers.Can(from, to) {
				line("peer", from, to)
			}
		}
	}
	for _, d := range p.Devices {
		line("device")
		line("name", d.Name)
		line("uuid", d.UUID)
		line("pci", d.PCI)
		line("memory", d.Memory)
		line("speed", d.Speed)
		all := maps.Clone(p.Attributes)
		maps.Copy(all, d.Attributes)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			number, ok := attributes[name]
			if !ok {
				return "", fmt.Errorf("machine %s: unknown attribute %s", p.Name, name)
			}
			line("attribute", number, all[name])
		}
	}
	return b.String(), nil
}

// attributes has the numbers of CU_DEVICE_ATTRIBUTE_….
var attributes = map[string]int{
	"MAX_THREADS_PER_BLOCK":                         1,
	"MULTIPROCESSOR_COUNT":                          16,
	"INTEGRATED":                                    18,
	"COMPUTE_MODE":                                  20,
	"MEMORY_CLOCK_RATE":                             36,
	"GLOBAL_MEMORY_BUS_WIDTH":                       37,
	"L2_CACHE_SIZE":                                 38,
	"ASYNC_ENGINE_COUNT":                            40,
	"UNIFIED_ADDRESSING":                            41,
	"COMPUTE_CAPABILITY_MAJOR":                      75,
	"COMPUTE_CAPABILITY_MINOR":                      76,
	"PAGEABLE_MEMORY_ACCESS":                        88,
	"VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED":           102,
	"HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED":   103,
	"GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED":       110,
	"MEMORY_POOLS_SUPPORTED":                        115,
	"GPU_DIRECT_RDMA_SUPPORTED":                     116,
	"GPU_DIRECT_RDMA_WRITES_ORDERING":               118,
	"MEMPOOL_SUPPORTED_HANDLE_TYPES":                119,
	"CAN_USE_64_BIT_STREAM_MEM_OPS":                 122,
	"DMA_BUF_SUPPORTED":                             124,
	"IPC_EVENT_SUPPORTED":                           125,
	"HANDLE_TYPE_FABRIC_SUPPORTED":                  128,
	"MPS_ENABLED":                                   133,
	"HOST_NUMA_ID":                                  134,
	"HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 141,
	"HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED":      145,
	"HOST_ALLOC_DMA_BUF_SUPPORTED":                  146,
}
