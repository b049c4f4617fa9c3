package bench

import (
	"runtime"
	"syscall"
)

func lockThread() { runtime.LockOSThread() }

var cloneFlags = map[string]uintptr{
	"pid": syscall.CLONE_NEWPID, "ipc": syscall.CLONE_NEWIPC, "user": syscall.CLONE_NEWUSER,
	"mnt": syscall.CLONE_NEWNS, "net": syscall.CLONE_NEWNET, "uts": syscall.CLONE_NEWUTS,
}

// sysProcAttr makes a worker die with the thread that started it, and gives it the namespaces asked for.
func sysProcAttr(isolate []string) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	for _, ns := range isolate {
		a.Cloneflags |= cloneFlags[ns]
	}
	if a.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: syscall.Getuid(), HostID: syscall.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: syscall.Getgid(), HostID: syscall.Getgid(), Size: 1}}
	}
	return a
}
