package sysinfo

import (
	"fmt"
	"strconv"
)

// Capability is the number of a capability (capabilities(7)).
type Capability uint

// The capabilities that decide about sharing memory between processes.
const (
	CapDACOverride Capability = 1  // opens any device node
	CapIPCLock     Capability = 14 // locks memory beyond RLIMIT_MEMLOCK
	CapSysPtrace   Capability = 19 // pidfd_getfd of any process
	CapSysAdmin    Capability = 21 // most of the rest
	CapSysNice     Capability = 23 // moves pages and raises priorities
	CapSysResource Capability = 24 // raises limits
)

// capabilityNames is in the order of linux/capability.h.
var capabilityNames = [...]string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
	"CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_IPC_OWNER",
	"CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE", "CAP_SYS_PACCT",
	"CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE", "CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL",
	"CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF", "CAP_CHECKPOINT_RESTORE",
}

// String returns the name in linux/capability.h, such as CAP_IPC_LOCK, or
// CAP_<number> for one that is newer than this package.
func (c Capability) String() string {
	if int(c) < len(capabilityNames) {
		return capabilityNames[c]
	}
	return "CAP_" + strconv.Itoa(int(c))
}

// CapabilitySet is a set of capabilities, one bit each. As text, and so in
// JSON, it is the 16 hexadecimal digits of proc/self/status.
type CapabilitySet uint64

// Has reports whether the set contains c.
func (s CapabilitySet) Has(c Capability) bool { return c < 64 && s>>c&1 == 1 }

// Names returns the names of the capabilities in the set, by number.
func (s CapabilitySet) Names() []string {
	var names []string
	for c := range Capability(64) {
		if s.Has(c) {
			names = append(names, c.String())
		}
	}
	return names
}

// MarshalText implements encoding.TextMarshaler.
func (s CapabilitySet) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x", uint64(s)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *CapabilitySet) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("capability set %q: not hexadecimal", b)
	}
	*s = CapabilitySet(n)
	return nil
}
