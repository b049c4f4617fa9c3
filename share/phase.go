package share

import "fmt"

// Phase is a stage of one sharing cycle. Phases are attributes of spans: a path has the phases its calls were
// recorded under and no others.
type Phase uint8

// The phases of a cycle, in the order in which they happen.
const (
	NoPhase    Phase = iota // calls that belong to no phase are not samples
	Allocate                // the producer obtains the buffer
	Export                  // the producer turns the buffer into a handle
	Transfer                // the handle travels: receive stamp minus send stamp on one clock
	Import                  // the consumer turns the handle into an object of its own
	Map                     // the consumer gets an address for it
	FirstTouch              // the consumer touches the mapping for the first time, once a page
	Unmap                   // the consumer gives up address, object and descriptor
	Release                 // the producer gives up descriptor and buffer
	phaseCount
)

var phaseNames = [phaseCount]string{"", "allocate", "export", "transfer", "import", "map", "first_touch", "unmap", "release"}

// Phases lists all phases in the order in which they happen.
func Phases() []Phase {
	return []Phase{Allocate, Export, Transfer, Import, Map, FirstTouch, Unmap, Release}
}

// String gives the name used in files: "allocate", "export", … NoPhase is "".
func (p Phase) String() string {
	if p < phaseCount {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// Setup is the name of the computed metric export + transfer + import + map of one cycle: what it costs until the
// consumer holds an address.
const Setup = "setup"

// InSetup reports whether the phase is a part of setup.
func (p Phase) InSetup() bool { return p == Export || p == Transfer || p == Import || p == Map }

// Kernel is work on the shared buffer by the consumer.
type Kernel string

// The kernels.
const (
	KernelRead       Kernel = "read"        // load every byte once
	KernelWrite      Kernel = "write"       // store every byte once
	KernelCopy       Kernel = "copy"        // load from the shared buffer, store to local memory
	KernelCopyTo     Kernel = "copy-to"     // load from local memory, store to the shared buffer
	KernelMemcpy     Kernel = "memcpy"      // copy engine, shared to local
	KernelMemcpyTo   Kernel = "memcpy-to"   // copy engine, local to shared
	KernelMemcpyBoth Kernel = "memcpy-both" // copy engine, both at once: half the buffer each way
	KernelChase      Kernel = "chase"       // dependent loads: latency, in nanoseconds a load
)

// Kernels lists all kernels in the order in which they run.
func Kernels() []Kernel {
	return []Kernel{KernelRead, KernelWrite, KernelCopy, KernelCopyTo, KernelMemcpy, KernelMemcpyTo, KernelMemcpyBoth, KernelChase}
}

// DefaultKernels lists the kernels that run when none is named, in the same order. Every device has them; the others are
// for the link between two GPUs, and only GPUs have them.
func DefaultKernels() []Kernel {
	return []Kernel{KernelRead, KernelWrite, KernelCopy, KernelMemcpy, KernelChase}
}

// Summary says in one line what the kernel does.
func (k Kernel) Summary() string {
	switch k {
	case KernelRead:
		return "load every byte of the shared buffer once; payload bandwidth"
	case KernelWrite:
		return "store every byte of the shared buffer once; payload bandwidth"
	case KernelCopy:
		return "copy the shared buffer to the consumer's local memory with loads and stores; payload counted once"
	case KernelCopyTo:
		return "the same from local memory to the shared buffer (GPU only, run when named)"
	case KernelMemcpy:
		return "copy the shared buffer to the consumer's local memory with the copy engine (GPU) or memcpy; payload counted once"
	case KernelMemcpyTo:
		return "the same from local memory to the shared buffer (GPU only, run when named)"
	case KernelMemcpyBoth:
		return "copy engine both ways at once, half the buffer each; payload of both (GPU only, run when named)"
	case KernelChase:
		return "dependent loads over the shared buffer in random order; nanoseconds a load"
	}
	return ""
}
