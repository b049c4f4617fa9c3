package share

import "fmt"

// Carrier says what a handle is made of.
type Carrier uint8

// The carriers. A memory pool needs both: the pool travels as a descriptor, the pointer as bytes.
const (
	FD       Carrier = 1 << iota // a file descriptor
	Key                          // opaque bytes
	FDAndKey = FD | Key
)

// String gives "fd", "bytes" or "fd+bytes".
func (c Carrier) String() string {
	switch c {
	case FD:
		return "fd"
	case Key:
		return "bytes"
	case FDAndKey:
		return "fd+bytes"
	}
	return fmt.Sprintf("carrier(%d)", uint8(c))
}

// Path is a way for two processes to share a buffer, independent of who offers it.
type Path struct {
	Name    string  // "cumemmap"
	Carrier Carrier // what travels
	Copies  bool    // the consumer works on a copy: its writes don't reach the producer (staged)
	Summary string  // one line for list and documentation
}

// Request is what an allocator is asked for.
type Request struct {
	Bytes   int64  // bytes that will be shared, at least 1; the allocator rounds up to its granularity
	Offset  int64  // bytes before the shared range inside the allocation; 0 shares from the base
	Handles uint32 // handle types the exporter will ask for (Exporter.Handles)
}

// Allocator is one kind of memory that a producer can share. The rows of a backend are listed in one variable.
type Allocator struct {
	Name, Summary string
	// Alloc obtains a buffer; its timed calls are recorded under Allocate. On error nothing stays allocated.
	Alloc func(*Tape, Device, Request) (Buffer, error)
}

// Exporter is the producer's half of a path.
type Exporter struct {
	Path       Path
	Allocators []string // names that could possibly work; the system decides
	Handles    uint32   // handle types that must be requested when allocating (cuMemCreate, pools)
	// Export makes a handle; its timed calls are recorded under Export. A descriptor in the handle belongs to the
	// caller, who closes it (Release/close) after the consumer answered.
	Export func(*Tape, Buffer) (Handle, error)
}

// Importer is the consumer's half of a path.
type Importer struct {
	Path Path
	// Import turns the handle into a mapping under Import and Map. It owns the handle's descriptor: closed or consumed
	// when it returns, whether it succeeds or not, unless the mapping keeps it until Unmap.
	Import func(*Tape, Device, Handle) (Mapping, error)
}

// AllocatorOf builds a row from a function on a backend's own types: the one type assertion is here.
func AllocatorOf[D Device, B Buffer](name, summary string, alloc func(*Tape, D, Request) (B, error)) Allocator {
	return Allocator{Name: name, Summary: summary, Alloc: func(t *Tape, dev Device, r Request) (Buffer, error) {
		d, ok := dev.(D)
		if !ok {
			return nil, fmt.Errorf("allocator %s was given a device of another backend (%T)", name, dev)
		}
		b, err := alloc(t, d, r)
		if err != nil {
			return nil, err
		}
		return b, nil
	}}
}

// ExporterOf builds a row from a function on a backend's own buffer type.
func ExporterOf[B Buffer](p Path, allocators []string, handles uint32, export func(*Tape, B) (Handle, error)) Exporter {
	return Exporter{Path: p, Allocators: allocators, Handles: handles, Export: func(t *Tape, buf Buffer) (Handle, error) {
		b, ok := buf.(B)
		if !ok {
			return NoHandle(), fmt.Errorf("path %s was given a buffer of another backend (%T)", p.Name, buf)
		}
		return export(t, b)
	}}
}

// ImporterOf builds a row from a function on a backend's own device and mapping types.
func ImporterOf[D Device, M Mapping](p Path, imp func(*Tape, D, Handle) (M, error)) Importer {
	return Importer{Path: p, Import: func(t *Tape, dev Device, h Handle) (Mapping, error) {
		d, ok := dev.(D)
		if !ok {
			return nil, fmt.Errorf("path %s was given a device of another backend (%T)", p.Name, dev)
		}
		m, err := imp(t, d, h)
		if err != nil {
			return nil, err
		}
		return m, nil
	}}
}
