package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"gpushare-bench/share"
)

// pin binds the calling thread to one of the cores: the producer to the first, the consumer to the second, so that the
// two do not take turns on one core. The thread stays unpinned where there are fewer than two cores to choose from or the
// system refuses: that costs precision and nothing else.
func pin(cpus []int, role string) {
	if len(cpus) < 2 {
		return
	}
	cpu := cpus[0]
	if role == RoleConsumer {
		cpu = cpus[1]
	}
	var mask [128]uint64 // 8192 cores
	if cpu < 0 || cpu >= 64*len(mask) {
		return
	}
	mask[cpu/64] = 1 << (cpu % 64)
	// sched_setaffinity(0): this thread only.
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
}

// startPoller makes the Go runtime take its poller's descriptors now. It takes them with the first timer, and ends the
// process if there are none left by then.
func startPoller() { time.AfterFunc(time.Hour, func() {}).Stop() }

// spare is how many threads are kept ready.
const spare = 4

// spareThreads makes the runtime start a few threads now, which stay for when it needs some. It ends the process if it
// needs one and there is no more room for its stack, which a case may be about.
func spareThreads() {
	var started, ended sync.WaitGroup
	started.Add(spare)
	release := make(chan struct{})
	for range spare {
		ended.Go(func() {
			runtime.LockOSThread() // a thread each, while none has been released
			defer runtime.UnlockOSThread()
			started.Done()
			<-release
		})
	}
	started.Wait()
	close(release)
	ended.Wait()
}

// nameProcess names the process for ps and top as argv[0] does. By the link that it was started from it would be "exe".
func nameProcess() { _ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0) }

// mapWhere maps the progress word that the runner shares.
func mapWhere(fd int) (*share.Where, error) {
	mem, err := syscall.Mmap(fd, 0, share.WhereSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the progress word: %w", err)
	}
	return share.NewWhere(mem), nil
}

// collection counts the batches that are going on in this process; garbage is collected only between them.
var collection struct {
	sync.Mutex
	batches int
	percent int
}

// stopCollecting collects garbage now and then not again until resume is called for every call of stopCollecting.
func stopCollecting() (resume func()) {
	runtime.GC()
	c := &collection
	c.Lock()
	defer c.Unlock()
	if c.batches == 0 {
		c.percent = debug.SetGCPercent(-1)
	}
	c.batches++
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.batches--; c.batches == 0 {
			debug.SetGCPercent(c.percent)
		}
	}
}
