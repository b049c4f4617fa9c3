package fdpass

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// yamaScope is the setting of the Yama security module (Documentation/admin-guide/LSM/Yama.rst).
const yamaScope = "/proc/sys/kernel/yama/ptrace_scope"

// gates is what a process can find out about why it may not take descriptors out of another one.
type gates struct {
	scope     int    // Yama's ptrace_scope; -1 without Yama
	filtered  bool   // a seccomp filter is in force in this process
	otherUser bool   // the other process belongs to another user
	namespace string // "same", "other", or "" when it cannot be read
}

// readGates looks at the gates between this process and pid.
func readGates(pid int) gates {
	g := gates{scope: -1}
	if b, err := os.ReadFile(yamaScope); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			g.scope = n
		}
	}
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(b)) {
			if mode, ok := strings.CutPrefix(line, "Seccomp:"); ok {
				g.filtered = strings.TrimSpace(mode) == "2"
			}
		}
	}
	var st unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d", pid), &st) == nil {
		g.otherUser = int(st.Uid) != os.Geteuid()
	}
	mine, err := os.Readlink("/proc/self/ns/pid")
	theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err == nil && err2 == nil {
		g.namespace = "other"
		if mine == theirs {
			g.namespace = "same"
		}
	}
	return g
}

// refusal words the failure of a pidfd call: what was tried, what the system answered, which gate that may be.
func refusal(call, what string, errno unix.Errno, g gates) error {
	reason, refused := explain(call, errno, g)
	switch {
	case refused:
		return fmt.Errorf("%s(%s): %w: %w: %s", call, what, ErrRefused, errno, reason)
	case reason != "":
		return fmt.Errorf("%s(%s): %w: %s", call, what, errno, reason)
	}
	return fmt.Errorf("%s(%s): %w", call, what, errno)
}

// explain names the gate behind errno, and whether it is the machine that refuses rather than this run that went wrong.
func explain(call string, errno unix.Errno, g gates) (reason string, refused bool) {
	switch errno {
	case unix.ENOSYS:
		since := map[string]string{"pidfd_open": "5.3", "pidfd_getfd": "5.6"}[call]
		if g.filtered {
			return "the kernel is older than Linux " + since + ", or this container's seccomp filter hides the call", true
		}
		return "the kernel is older than Linux " + since, true
	case unix.EPERM, unix.EACCES:
		var closed []string
		if call == "pidfd_getfd" {
			switch g.scope {
			case 1:
				closed = append(closed, "Yama's kernel.yama.ptrace_scope is 1 and the other process has not allowed this one (PR_SET_PTRACER)")
			case 2:
				closed = append(closed, "Yama's kernel.yama.ptrace_scope is 2: only with CAP_SYS_PTRACE")
			case 3:
				closed = append(closed, "Yama's kernel.yama.ptrace_scope is 3: not until the machine is started again")
			}
			if g.otherUser {
				closed = append(closed, "the other process belongs to another user")
			}
			if g.namespace == "other" {
				closed = append(closed, "the other process is in another PID namespace")
			}
		}
		if g.filtered {
			closed = append(closed, "this container's seccomp filter may forbid the call")
		}
		if len(closed) == 0 {
			return "a security module, or the other process is not dumpable (prctl PR_SET_DUMPABLE)", true
		}
		return strings.Join(closed, "; "), true
	case unix.ESRCH:
		return "the process has ended, or its number is one of another PID namespace", g.namespace == "other"
	case unix.EBADF:
		return "the other process has no such descriptor open", false
	case unix.EMFILE:
		return "this process has reached its limit on open files (ulimit -n)", false
	}
	return "", false
}
