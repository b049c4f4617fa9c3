package share

import (
	"errors"
	"fmt"
)

// ErrUnsupported matches every [Unsupported] error: the system declined, conclusively.
var ErrUnsupported = errors.New("unsupported")

// Unsupported says that the system declined something, in its own words. A backend returns it from a half when the
// answer means "not here"; after a good trial the same answer is a failure.
type Unsupported struct {
	Op     string // what was refused: "cuImportExternalMemory(DMABUF_FD, 2 MiB)" or "open /dev/udmabuf"
	Answer error  // the system's own words, a cuda.Error or an errno; may be nil
	Hint   string // what to do, or what contradicts the answer; may be empty
}

// Error gives the operation, the answer and the hint in one line.
func (u *Unsupported) Error() string {
	s := u.Op
	if u.Answer != nil {
		s = fmt.Sprintf("%s: %v", u.Op, u.Answer)
	}
	if u.Hint != "" {
		s += "; " + u.Hint
	}
	return s
}

// Is reports true for ErrUnsupported.
func (u *Unsupported) Is(target error) bool { return target == ErrUnsupported }

// Unwrap returns the system's answer.
func (u *Unsupported) Unwrap() error { return u.Answer }
