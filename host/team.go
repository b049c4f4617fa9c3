package host

import (
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gpushare-bench/internal/dl"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// partUnit is what parts of a buffer are multiples of, in bytes.
const partUnit = 4096

// part is one thread's contiguous share of a job, and what came of it. It fills cache lines of its own.
type part struct {
	offset, bytes int64 // in the job's region
	end           int64 // stamp of the end of the last round
	sum           uint64
	mismatch      share.Mismatch
	err           error
	_             [64]byte
}

// job is work on a region by all threads of a team. It is a value that the team reuses: giving a job allocates nothing.
type job struct {
	work   func(j *job, p *part) // a function of the package, no closure
	region share.Region
	dst    uintptr // copy: where the region's first byte goes
	seed   uint64  // of the pattern
	stream bool    // stores bypass the caches
	evict  bool    // every round starts with the region, and dst, in no cache
	warm   bool    // the work is done once before the first round
	rounds int     // timed spans of the job; 0: it is untimed, done once
	passes int     // times that a round does the work
}

// team is a set of threads, each pinned to a core, that work together on one job at a time. Between jobs they sleep, so
// that they take no time from anything else that is measured.
type team struct {
	wake     []chan struct{} // one for each thread
	finished chan struct{}
	procs    int // GOMAXPROCS to go back to; 0: it was not changed

	job    job
	active int32
	parts  []part

	running atomic.Int32  // threads that have not ended the job
	arrived atomic.Int32  // threads at the barrier
	passed  atomic.Uint32 // barriers passed
	began   int64         // stamp of the release of the round
	total   int64         // nanoseconds of all rounds
}

// newTeam starts a thread on each of the cores.
func newTeam(cpus []int) (*team, error) {
	t := &team{finished: make(chan struct{}, 1), parts: make([]part, len(cpus))}
	// Threads that spin at a barrier each hold a processor of the Go scheduler; the caller needs one more.
	if want := len(cpus) + 2; runtime.GOMAXPROCS(0) < want {
		t.procs = runtime.GOMAXPROCS(want)
	}
	started := make(chan error)
	var first error
	for i, cpu := range cpus {
		wake := make(chan struct{}, 1)
		t.wake = append(t.wake, wake)
		go t.thread(&t.parts[i], cpu, started, wake)
		if err := <-started; err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		t.close()
		return nil, first
	}
	return t, nil
}

// thread is the life of one thread. It never unlocks, so that the pinned thread ends with it.
func (t *team) thread(p *part, cpu int, started chan<- error, wake <-chan struct{}) {
	runtime.LockOSThread()
	debug.SetPanicOnFault(true)
	var err error
	var set unix.CPUSet
	set.Set(cpu)
	if e := unix.SchedSetaffinity(0, &set); e != nil {
		err = fmt.Errorf("pin a thread to core %d: %w", cpu, e)
	}
	started <- err
	for range wake {
		t.rounds(p)
		if t.running.Add(-1) == 0 {
			t.finished <- struct{}{}
		}
	}
}

// rounds does one thread's part of the job, and adds up the time of the rounds: from the release of all threads to the end
// of the last one.
func (t *team) rounds(p *part) {
	j := &t.job
	if j.rounds == 0 { // untimed: nobody waits for anybody
		if j.evict {
			t.evictPart(p)
		} else {
			work(j, p)
		}
		return
	}
	if j.warm {
		work(j, p)
	}
	for range j.rounds {
		if j.evict {
			t.evictPart(p)
		}
		if t.arrive() {
			t.began = dl.Monotonic()
			t.passed.Add(1)
		}
		for range j.passes {
			work(j, p)
		}
		p.end = dl.Monotonic()
		if t.arrive() {
			last := t.began
			for i := range t.parts[:t.active] {
				last = max(last, t.parts[i].end)
			}
			t.total += last - t.began
			t.passed.Add(1)
		}
	}
}

// evictPart drops a part of the region, and of dst, from all caches.
func (t *team) evictPart(p *part) {
	flushLines(t.job.region.Addr+uintptr(p.offset), p.bytes)
	if t.job.dst != 0 {
		flushLines(t.job.dst+uintptr(p.offset), p.bytes)
	}
	fence()
}

// spins is how often a thread looks at the barrier before it offers its core to others: tens of microseconds. Threads that
// each have a core never get there, unless the work is out of balance.
const spins = 1 << 15

// arrive waits at the barrier until all threads of the job are there. The last one gets true and must release the others
// by adding to passed.
func (t *team) arrive() (last bool) {
	at := t.passed.Load()
	if t.arrived.Add(1) == t.active {
		t.arrived.Store(0)
		return true
	}
	for n := 0; t.passed.Load() == at; n++ {
		if n > spins {
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
	return false
}

// work does a part once. A memory fault ends up in the part.
func work(j *job, p *part) {
	defer catchFault(&p.err)
	j.work(j, p)
}

// do runs a job and returns the time of its rounds in nanoseconds. A job that is one part runs on the caller's thread.
func (t *team) do(j job) (int64, error) {
	t.job, t.total = j, 0
	t.split(j.region.Bytes)
	if t.active == 1 {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		t.rounds(&t.parts[0])
		return t.total, t.parts[0].err
	}
	t.running.Store(t.active)
	for _, wake := range t.wake[:t.active] {
		wake <- struct{}{}
	}
	<-t.finished
	for i := range t.parts[:t.active] {
		if err := t.parts[i].err; err != nil {
			return t.total, err
		}
	}
	return t.total, nil
}

// evict drops a job's region and destination from all caches, with all threads.
func (t *team) evict(j job) {
	j.evict, j.rounds = true, 0
	_, _ = t.do(j) // does no work that could fail
}

// split divides bytes into parts of whole units, one for each thread as far as there are units.
func (t *team) split(bytes int64) {
	units := max(1, (bytes+partUnit-1)/partUnit)
	n := min(int64(len(t.parts)), units)
	t.active = int32(n)
	offset := int64(0)
	for i := range t.parts[:n] {
		size := units / n
		if int64(i) < units%n {
			size++
		}
		size = min(size*partUnit, bytes-offset)
		t.parts[i] = part{offset: offset, bytes: size}
		offset += size
	}
}

// close ends the threads.
func (t *team) close() {
	for _, wake := range t.wake {
		close(wake)
	}
	if t.procs != 0 {
		runtime.GOMAXPROCS(t.procs)
	}
}

// allowedCPUs lists the cores that this process may use. The calling thread may have been pinned to one; any other thread
// tells what the process was started with.
func allowedCPUs() []int {
	answer := make(chan []int)
	go func() {
		// The caller's thread must not be the one that is asked.
		runtime.LockOSThread()
		var set unix.CPUSet
		var cpus []int
		if err := unix.SchedGetaffinity(0, &set); err == nil {
			for cpu := range 8 * len(set) * 8 {
				if set.IsSet(cpu) {
					cpus = append(cpus, cpu)
				}
			}
		}
		runtime.UnlockOSThread()
		answer <- cpus
	}()
	return <-answer
}

// defaultThreads is how many threads work on a buffer unless something else is asked for: one a core, fewer where a
// control group's quota would stop some of them in turn.
func defaultThreads(fsys fs.FS, local []int) int {
	n := len(local)
	if c, err := sysinfo.ReadCgroup(fsys); err == nil && c.CPUQuota != nil {
		n = min(n, int(math.Ceil(*c.CPUQuota)))
	}
	return max(1, n)
}
