package sysinfo

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Process is what the kernel lets this process do.
type Process struct {
	// Seccomp is the filter mode, from Seccomp of proc/self/status.
	Seccomp *SeccompMode `json:"seccomp,omitempty"`
	// NoNewPrivs is whether execve can no longer gain privileges, from
	// NoNewPrivs of proc/self/status.
	NoNewPrivs *bool `json:"no_new_privs,omitempty"`
	// Capabilities are the effective ones, from CapEff of proc/self/status.
	Capabilities *CapabilitySet `json:"cap_eff,omitempty"`
	// PtraceScope is Yama's restriction, from proc/sys/kernel/yama/ptrace_scope:
	// 0 none, 1 descendants only, 2 with CAP_SYS_PTRACE only, 3 never. Nil
	// where the kernel has no Yama, which means no restriction by it.
	PtraceScope *int `json:"ptrace_scope,omitempty"`
	// Credentials decide what the process may open; they are nil if
	// proc/self/status does not have them.
	Credentials *Credentials `json:"credentials,omitempty"`
}

// Credentials are the effective user and group and the supplementary groups,
// from Uid, Gid and Groups of proc/self/status, as seen in the user namespace
// of the process.
type Credentials struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"`
}

// SeccompMode is a process's seccomp mode (seccomp(2)).
type SeccompMode int

// The modes that proc/self/status shows.
const (
	SeccompDisabled SeccompMode = iota
	SeccompStrict
	SeccompFilter // system calls may be refused, as in most containers
)

// String returns disabled, strict or filter.
func (m SeccompMode) String() string {
	switch m {
	case SeccompDisabled:
		return "disabled"
	case SeccompStrict:
		return "strict"
	case SeccompFilter:
		return "filter"
	}
	return strconv.Itoa(int(m))
}

// MarshalText implements encoding.TextMarshaler with String's words.
func (m SeccompMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *SeccompMode) UnmarshalText(b []byte) error {
	for _, mode := range []SeccompMode{SeccompDisabled, SeccompStrict, SeccompFilter} {
		if mode.String() == string(b) {
			*m = mode
			return nil
		}
	}
	n, err := strconv.Atoi(string(b))
	if err != nil {
		return fmt.Errorf("seccomp mode %q: not disabled, strict or filter", b)
	}
	*m = SeccompMode(n)
	return nil
}

// ReadProcess reads proc/self/status and proc/sys/kernel/yama/ptrace_scope. It
// fails if proc/self/status is unreadable.
func ReadProcess(fsys fs.FS) (Process, error) {
	status, err := readStatus(fsys)
	if err != nil {
		return Process{}, err
	}
	var p Process
	if n, err := strconv.Atoi(status["Seccomp"]); err == nil {
		p.Seccomp = new(SeccompMode(n))
	}
	if n, err := strconv.Atoi(status["NoNewPrivs"]); err == nil {
		p.NoNewPrivs = new(n != 0)
	}
	if n, err := strconv.ParseUint(status["CapEff"], 16, 64); err == nil {
		p.Capabilities = new(CapabilitySet(n))
	}
	if n := number(fsys, "proc/sys/kernel/yama/ptrace_scope"); n != nil && *n < 1<<31 {
		p.PtraceScope = new(int(*n))
	}
	p.Credentials = credentials(status)
	return p, nil
}

func credentials(status map[string]string) *Credentials {
	uids, gids := ids(status["Uid"]), ids(status["Gid"])
	if len(uids) != 4 || len(gids) != 4 {
		return nil
	}
	// The second of real, effective, saved and file system identity.
	return &Credentials{UID: uids[1], GID: gids[1], Groups: ids(status["Groups"])}
}

func ids(s string) []uint32 {
	var list []uint32
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return nil
		}
		list = append(list, uint32(n))
	}
	return list
}

func readStatus(fsys fs.FS) (map[string]string, error) {
	s, err := readText(fsys, "proc/self/status")
	if err != nil {
		return nil, err
	}
	return parseStatus(s), nil
}

// parseStatus parses the "Name:\tvalue" lines of proc/self/status.
func parseStatus(s string) map[string]string {
	status := make(map[string]string)
	for line := range strings.Lines(s) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			status[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return status
}
