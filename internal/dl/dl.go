package dl

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ErrNotFound is in the chain of [Open]'s error when none of the names could be loaded.
var ErrNotFound = errors.New("library cannot be loaded")

// ErrNoSymbol is in the chain of [Library.Symbol]'s error when the library lacks the symbol.
var ErrNoSymbol = errors.New("symbol not found")

// errClosed is returned by methods of a Library after Close.
var errClosed = errors.New("library is closed")

// A Library is a loaded shared object.
type Library struct {
	handle uintptr
	path   string
}

// Open loads the first of names that dlopen(3) accepts, with all symbols
// resolved at once (RTLD_NOW) and not offered to other libraries (RTLD_LOCAL).
// A name without a slash is searched as dlopen does: LD_LIBRARY_PATH, the
// loader's cache, the system directories. The error has every name with the
// loader's answer, and [ErrNotFound] in its chain.
func Open(names ...string) (*Library, error) {
	// The loader keeps the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var answers []string
	for _, name := range names {
		if name == "" {
			// dlopen would answer with the program itself.
			answers = append(answers, "empty library name")
			continue
		}
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &Library{handle: handle, path: loadedFrom(handle, name)}, nil
		}
		answer := err.Error()
		if !strings.Contains(answer, name) {
			answer = name + ": " + answer
		}
		answers = append(answers, answer)
	}
	return nil, fmt.Errorf("open library %s: %w: %s",
		strings.Join(names, ", "), ErrNotFound, strings.Join(answers, "; "))
}

// Libc loads the C library, which the program is linked with anyway. It is
// where the addresses of clock_gettime, sendmsg, recvmsg, mmap or ioctl come from.
func Libc() (*Library, error) { return Open("libc.so.6") }

// Path returns the file that the library was loaded from, or the name it was
// opened by where the loader does not tell.
func (l *Library) Path() string { return l.path }

// Symbol returns the address of a function or variable. A missing symbol is an
// error with [ErrNoSymbol] in its chain: older versions of a library lack some.
func (l *Library) Symbol(name string) (uintptr, error) {
	if l.handle == 0 {
		return 0, fmt.Errorf("look up %s in %s: %w", name, l.path, errClosed)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	addr, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("look up %s in %s: %w: %s", name, l.path, ErrNoSymbol, err)
	}
	return addr, nil
}

// Close drops this reference to the library. Its functions must not be called
// afterwards. A second Close does nothing.
func (l *Library) Close() error {
	if l.handle == 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle := l.handle
	l.handle = 0
	if err := purego.Dlclose(handle); err != nil {
		return fmt.Errorf("close %s: %w", l.path, err)
	}
	return nil
}

// loadedFrom asks the loader for the file behind handle (dlinfo(3),
// RTLD_DI_LINKMAP); name is the answer when it does not tell.
func loadedFrom(handle uintptr, name string) string {
	dlinfo, err := purego.Dlsym(purego.RTLD_DEFAULT, "dlinfo")
	if err != nil {
		return name
	}
	const rtldDILinkmap = 2
	// struct link_map { ElfW(Addr) l_addr; char *l_name; … }
	linkMap := new(*struct{ addr, name uintptr })
	if int32(Call(dlinfo, handle, rtldDILinkmap, uintptr(unsafe.Pointer(linkMap)))) != 0 || *linkMap == nil {
		return name
	}
	if path := GoString((*linkMap).name); path != "" {
		return path
	}
	return name
}
