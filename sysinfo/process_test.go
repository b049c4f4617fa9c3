package sysinfo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
)

func TestReadProcess(t *testing.T) {
	p, err := ReadProcess(sample(t, "container-v2"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "seccomp", p.Seccomp, new(SeccompFilter))
	check(t, "no new privileges", p.NoNewPrivs, new(true))
	check(t, "ptrace scope without Yama", p.PtraceScope, (*int)(nil))
	check(t, "capabilities", p.Capabilities.Names(), []string{
		"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
		"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SYS_CHROOT", "CAP_MKNOD", "CAP_AUDIT_WRITE", "CAP_SETFCAP"})
	check(t, "IPC_LOCK", p.Capabilities.Has(CapIPCLock), false)

	p, err = ReadProcess(files(map[string]string{"proc/self/status": "Name:\tx\nUid:\t1 2 3 4\nGid:\t5 6 7 8\nCapEff:\tzz\n"}))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "a kernel without seccomp", p.Seccomp, (*SeccompMode)(nil))
	check(t, "malformed capabilities", p.Capabilities, (*CapabilitySet)(nil))
	check(t, "effective credentials", p.Credentials, &Credentials{UID: 2, GID: 6})

	if _, err := ReadProcess(files(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without status: %v", err)
	}
}

func TestCapabilityNames(t *testing.T) {
	for c, want := range map[Capability]string{
		CapDACOverride: "CAP_DAC_OVERRIDE", CapIPCLock: "CAP_IPC_LOCK", CapSysPtrace: "CAP_SYS_PTRACE", CapSysAdmin: "CAP_SYS_ADMIN",
		CapSysNice: "CAP_SYS_NICE", CapSysResource: "CAP_SYS_RESOURCE", 40: "CAP_CHECKPOINT_RESTORE", 41: "CAP_41",
	} {
		check(t, "name", c.String(), want)
	}
	if CapabilitySet(^uint64(0)).Has(64) {
		t.Error("a set of 64 has capability 64")
	}
}

func TestSeccompModeText(t *testing.T) {
	for _, mode := range []SeccompMode{SeccompDisabled, SeccompStrict, SeccompFilter, 7} {
		b, err := json.Marshal(mode)
		if err != nil {
			t.Fatal(err)
		}
		var back SeccompMode
		if err := json.Unmarshal(b, &back); err != nil || back != mode {
			t.Errorf("%s became %v, %v", b, back, err)
		}
	}
	if new(SeccompMode).UnmarshalText([]byte("loose")) == nil {
		t.Error("a mode called loose was accepted")
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t1 2 \nCapEff:\t000001ffffffffff\n")
	f.Fuzz(func(t *testing.T, s string) {
		if c := credentials(parseStatus(s)); c != nil && len(c.Groups) > len(s) {
			t.Errorf("%d groups", len(c.Groups))
		}
	})
}
