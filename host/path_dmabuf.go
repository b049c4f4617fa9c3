package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// dmabuf shares a dma-buf (Documentation/driver-api/dma-buf.rst): a descriptor that devices can import and that the CPU
// maps, with its accesses bracketed.
var dmabuf = share.Path{Name: "dma-buf", Carrier: share.FD, Summary: "kernel dma-buf; the consumer maps its descriptor and brackets its accesses"}

// dmabufSource is a buffer that can become a dma-buf: one type for each allocator of the path.
type dmabufSource interface {
	share.Buffer
	share.Origin
	handle(fd int) share.Handle
	export(*share.Tape) (int, error) // the descriptor belongs to the caller
	remember(fd int)
}

var dmabufExporter = share.ExporterOf(dmabuf, []string{"udmabuf", "dma-heap", "drm-dumb"}, 0, func(t *share.Tape, b dmabufSource) (share.Handle, error) {
	fd, err := b.export(t)
	if err != nil {
		return share.NoHandle(), err
	}
	b.remember(fd)
	return b.handle(fd), nil
})

var dmabufImporter = share.ImporterOf(dmabuf, func(t *share.Tape, d *device, h share.Handle) (*dmabufMapping, error) {
	// Some exporters ignore the offset given to mmap and show their first page there: DRM's shmem helper in Linux 6.12.
	m, err := importFD(t, d, h, d.pageSize, true, func(fd int) string {
		if name := exporterName(fd); name != "" {
			return fmt.Sprintf("the exporter, %q, does not let the CPU map its memory", name)
		}
		return "the exporter does not let the CPU map its memory"
	})
	if err != nil {
		return nil, fmt.Errorf("import dma-buf: %w", err)
	}
	return &dmabufMapping{*m, access{d.calls, &d.args, m.fd}, origin{m.fd, true}}, nil
})

// dmabufMapping is the consumer's view of a dma-buf.
type dmabufMapping struct {
	mapping
	access
	origin
}

// access brackets the CPU's accesses to a dma-buf, so that caches are flushed and invalidated where the exporter's device
// needs it.
type access struct {
	calls *calls
	args  *ioctlArgs
	fd    int
}

// Flags of DMA_BUF_IOCTL_SYNC.
const (
	syncReadWrite = 3
	syncStart     = 0
	syncEnd       = 4
)

// BeginAccess precedes reads and writes by the CPU.
func (a access) BeginAccess(t *share.Tape) error { return a.sync(t, syncStart|syncReadWrite) }

// EndAccess follows them.
func (a access) EndAccess(t *share.Tape) error { return a.sync(t, syncEnd|syncReadWrite) }

func (a access) sync(t *share.Tape, flags uint64) error {
	for {
		a.args.sync.flags = flags
		err := a.calls.ioctl(t, "ioctl(DMA_BUF_IOCTL_SYNC)", a.fd, dmaBufSync, unsafe.Pointer(&a.args.sync))
		switch {
		case err == nil, errors.Is(err, unix.ENOTTY) && emulated(a.fd):
			return nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN): // these ask for another try
			return fmt.Errorf("ioctl(DMA_BUF_IOCTL_SYNC): %w", err)
		}
	}
}

// emulated reports whether a descriptor is a dma-buf of the emulated CUDA driver that the tests have: a memfd, which the
// kernel keeps coherent and which has no DMA_BUF_IOCTL_SYNC. Its name tells; nothing else is named so.
func emulated(fd int) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil && strings.HasPrefix(name, "/memfd:gpushare-emulated:")
}

// origin is a dma-buf's descriptor, to be asked for its exporter.
type origin struct {
	dmabufFD int
	known    bool // false before the export
}

// ExporterName is exp_name in /proc/self/fdinfo: "udmabuf", "system", "drm" …; "" before a buffer's export and after the
// descriptor was closed.
func (o *origin) ExporterName() string {
	if !o.known {
		return ""
	}
	return exporterName(o.dmabufFD)
}

func (o *origin) remember(fd int) { o.dmabufFD, o.known = fd, true }

// exporterName reads who exported a dma-buf; "" if the kernel does not say.
func exporterName(fd int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return ""
	}
	return exporterIn(string(text))
}

// exporterIn finds exp_name in the text of a dma-buf's fdinfo.
func exporterIn(text string) string {
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "exp_name:"); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
