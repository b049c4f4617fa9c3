package bench

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

func lockThread() { runtime.LockOSThread() }

// Numbers that package syscall has not.
const (
	sysCloseRange     = 436 // the same on all architectures
	closeRangeCloexec = 1 << 2
)

// keepDescriptors makes every descriptor beside the standard ones close-on-exec, so that workers do not get those that
// this process inherited without knowing.
func keepDescriptors() {
	if _, _, errno := syscall.Syscall(sysCloseRange, 3, math.MaxUint32, closeRangeCloexec); errno == 0 {
		return
	}
	// Before Linux 5.11.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

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
