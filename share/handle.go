package share

// MaxKey is the most opaque bytes that a handle can carry: a memory pool's pointer and a cuIpc handle need 64 each.
const MaxKey = 192

// Handle is what travels from producer to consumer. It is a value: making or sending one allocates nothing.
type Handle struct {
	FD        int          // a descriptor of the process that holds the handle; -1 without one
	KeyLen    int          // bytes used of Key
	Key       [MaxKey]byte // opaque bytes
	Bytes     int64        // bytes shared, as requested
	Offset    int64        // where the shared range starts in what the handle opens
	Start     int64        // where what the handle opens starts in the allocation; 0 but for a dma-buf of a part, and negative where page alignment makes that start before the allocation
	Allocated int64        // bytes of the allocation the handle opens, rounded to its granularity
}

// NoHandle is the handle of a refused export.
func NoHandle() Handle { return Handle{FD: -1} }

// SetKey copies the opaque bytes, at most MaxKey, into the handle.
func (h *Handle) SetKey(key []byte) { h.KeyLen = copy(h.Key[:], key) }

// First is the index, in the pattern, of the shared range's first 8-byte word.
func (h *Handle) First() uint64 { return uint64(h.Start+h.Offset) / 8 }

// KeyBytes returns the opaque bytes.
func (h *Handle) KeyBytes() []byte { return h.Key[:h.KeyLen] }
