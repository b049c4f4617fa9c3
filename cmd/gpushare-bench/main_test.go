package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// Environment variables of these tests. Their names begin with GPUSHARE_, so that the runner hands them to its workers.
const (
	programVariable = "GPUSHARE_TEST_PROGRAM" // set: the test binary is gpushare-bench
	logVariable     = "GPUSHARE_TEST_LOG"     // file to which every worker appends its role
	scriptVariable  = sharetest.ScriptVariable
	scriptedBackend = "GPUSHARE_TEST_SCRIPTED" // set: memory and time are sharetest's
	sizeVariable    = "GPUSHARE_TEST_FSIZE"    // the runner's limit of file sizes, in bytes
	drawVariable    = "GPUSHARE_TEST_DRAW"     // set: pictures and page are made; other runs of these tests do without
	stallVariable   = "GPUSHARE_TEST_STALL"    // set: reading a journal never ends
	slowVariable    = "GPUSHARE_TEST_SLOW"     // set: allocating takes 5 µs more
	flipVariable    = "GPUSHARE_TEST_FLIP"     // role of the end that finds one byte flipped in its second cycle
)

var update = flag.Bool("update", false, "write the golden texts of the scripts anew")

// The test binary is the program, and its own worker, when the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv(programVariable) == "" {
		for _, s := range endingSignals {
			if signal.Ignored(s) { // as in the background of a shell: programs would inherit that, and ignore what the tests send
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
		os.Exit(m.Run())
	}
	limit(syscall.RLIMIT_FSIZE, sizeVariable, len(os.Args) < 2 || os.Args[1] != "worker")
	if path := os.Getenv(logVariable); path != "" && len(os.Args) > 1 && os.Args[1] == "worker" {
		logStart(path)
	}
	if os.Getenv(drawVariable) == "" {
		drawPlots = func(dir string, _ *results.Run, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o755) }
		writePage = func(w io.Writer, _ []*results.Run) error { _, err := io.WriteString(w, "no page\n"); return err }
	}
	if os.Getenv(stallVariable) != "" {
		loadJournal = func(string) (*results.Run, error) {
			if err := os.WriteFile(os.Getenv(sharetest.HungVariable), nil, 0o600); err != nil {
				return nil, err
			}
			time.Sleep(time.Hour)
			return nil, nil
		}
	}
	if os.Getenv(scriptedBackend) != "" {
		backends = []share.Backend{backends[0], sharetest.Backend{}}
	}
	if os.Getenv(slowVariable) != "" {
		for i, b := range backends {
			backends[i] = slowBackend{b}
		}
	}
	if role := os.Getenv(flipVariable); role != "" && role == os.Getenv("GPUSHARE_ROLE") {
		for i, b := range backends {
			backends[i] = flippingBackend{b}
		}
	}
	main()
}

// logStart notes that a worker was started.
func logStart(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getenv("GPUSHARE_ROLE"), os.Getpid())
	}
	if err != nil {
		panic(err)
	}
	f.Close()
}

// limit sets a resource limit to the number in an environment variable, or takes it away again.
func limit(resource int, variable string, set bool) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	n, err := strconv.ParseUint(text, 10, 64)
	var l syscall.Rlimit
	if err == nil {
		err = syscall.Getrlimit(resource, &l)
	}
	l.Cur = l.Max
	if set {
		l.Cur = n
	}
	if err == nil {
		err = syscall.Setrlimit(resource, &l)
	}
	if err != nil {
		panic(err)
	}
}

// slowBackend takes longer to allocate, by its records.
type slowBackend struct{ share.Backend }

func (b slowBackend) Allocators() []share.Allocator {
	rows := b.Backend.Allocators()
	for i := range rows {
		alloc := rows[i].Alloc
		rows[i].Alloc = func(t *share.Tape, d share.Device, r share.Request) (share.Buffer, error) {
			t.Record("slow", 0, 5000, true)
			return alloc(t, d, r)
		}
	}
	return rows
}

// flippingBackend hands out devices that flip one byte before the second verification.
type flippingBackend struct{ share.Backend }

type flippingDevice struct {
	share.Device
	verified int
}

func (b flippingBackend) Open(ctx context.Context, id string, o share.Options) (share.Device, error) {
	d, err := b.Backend.Open(ctx, id, o)
	return &flippingDevice{Device: d}, err
}

func (b flippingBackend) Allocators() []share.Allocator {
	rows := b.Backend.Allocators()
	for i := range rows {
		alloc := rows[i].Alloc
		rows[i].Alloc = func(t *share.Tape, d share.Device, r share.Request) (share.Buffer, error) {
			return alloc(t, d.(*flippingDevice).Device, r)
		}
	}
	return rows
}

func (b flippingBackend) Importers() []share.Importer {
	rows := b.Backend.Importers()
	for i := range rows {
		imp := rows[i].Import
		rows[i].Import = func(t *share.Tape, d share.Device, h share.Handle) (share.Mapping, error) {
			return imp(t, d.(*flippingDevice).Device, h)
		}
	}
	return rows
}

func (d *flippingDevice) Verify(r share.Region, seed uint64) (share.Mismatch, error) {
	d.verified++
	if d.verified == 2 {
		b := make([]byte, 1)
		if err := d.Peek(r, 1000, b); err != nil {
			return share.Mismatch{}, err
		}
		b[0] ^= 0x40
		if err := d.Poke(r, 1000, b); err != nil {
			return share.Mismatch{}, err
		}
	}
	return d.Device.Verify(r, seed)
}
