package worker

import (
	"fmt"

	"gpushare-bench/share"
)

// corruptError says that verification found bytes that are not the pattern: how many, where, and in which way.
type corruptError struct {
	who      string // which end looked
	mismatch share.Mismatch
	bytes    int64 // of the region
	kind     share.Corruption
	detail   int64
}

func (c *corruptError) Error() string {
	return fmt.Sprintf("%s: %d of %d bytes are wrong, in the 8-byte words from offset %d to offset %d; %s",
		c.who, c.mismatch.Bytes, c.bytes, c.mismatch.First, c.mismatch.Last, c.kind.Describe(c.detail))
}
