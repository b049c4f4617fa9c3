package sharetest

import (
	"errors"
	"os"
	"testing"

	"gpushare-bench/share"
)

// NoSkipVariable is the environment variable that forbids skips where everything can be had: on the emulated driver and in
// the virtual machine. "1" forbids.
const NoSkipVariable = "GPUSHARE_NO_SKIP"

// MachineVariable is the environment variable that names the profile of the real machine a test runs on. The profile says
// what the machine grants, so a refusal of that is a failure.
const MachineVariable = "GPUSHARE_MACHINE"

// SkipIfUnsupported skips the test if err is a refusal that argues for itself: a [share.Unsupported] with an operation and
// the system's own answer. A skip is an assertion: the test fails if the refusal is bare, if granted says that this machine
// grants what was refused, if a machine is named but there is no granted to ask, and always if NoSkipVariable forbids
// skips. It does nothing if err is nil or no refusal. granted may be nil.
func SkipIfUnsupported(t testing.TB, err error, granted func(*share.Unsupported) bool) {
	t.Helper()
	if !errors.Is(err, share.ErrUnsupported) {
		return
	}
	var u *share.Unsupported
	switch {
	case !errors.As(err, &u):
		t.Fatalf("refused without saying what: %v", err)
	case u.Op == "" || u.Answer == nil && u.Hint == "":
		t.Fatalf("refused without saying what was asked and what the system answered: %v", err)
	case os.Getenv(NoSkipVariable) == "1":
		t.Fatalf("refused where skips are forbidden (%s=1): %v", NoSkipVariable, err)
	case granted != nil && granted(u):
		t.Fatalf("refused, but this machine is known to grant it: %v", err)
	case granted == nil && os.Getenv(MachineVariable) != "":
		t.Fatalf("refused on machine %s, and the test does not know what that grants: %v", os.Getenv(MachineVariable), err)
	}
	t.Skipf("refused: %v", err)
}
