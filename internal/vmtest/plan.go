package vmtest

// PlanFile is where process 1 of the virtual machine finds its Plan, as JSON.
const PlanFile = "/plan.json"

// PortName is the name of the virtio serial port that takes the answer.
const PortName = "vmtest.answer"

// Names of the answer's own entries in the tar stream. Files that the program
// left have their absolute path without the leading slash.
const (
	StatusEntry = "status.json"
	StdoutEntry = "stdout"
	StderrEntry = "stderr"
)

// Plan is what process 1 does: insert Modules in order, run Argv with Env and
// send back the regular files under Collect.
type Plan struct {
	Modules []string // absolute paths of uncompressed modules, dependencies first
	Argv    []string
	Env     []string // KEY=value
	Collect string   // absolute path of a directory that need not exist; empty: none
}

// Status is the last entry of an answer: where it is, the answer is whole.
type Status struct {
	ExitStatus int    // of the program; 128 plus the signal when a signal ended it
	Kernel     string // release, as uname -r has it
	Fault      string // what process 1 could not do; then the program has not run
}
