package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// poolCalls are the functions that a shareable pool needs.
var poolCalls = []string{"cuMemPoolCreate", "cuMemPoolDestroy", "cuMemAllocFromPoolAsync", "cuMemFreeAsync"}

// allocPool is memory from a pool that was made to be shared. Every cycle makes its own pool: the steps tell what a
// program that keeps one pool for many buffers saves.
var allocPool = allocator{
	name: "pool", summary: "memory from a shareable pool (cuMemPoolCreate, cuMemAllocFromPoolAsync)", needs: poolCalls,
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		pool, err := d.th.MemPoolCreate(cuda.PoolProps{Location: cuda.AtDevice(d.dev), Handles: cuda.HandleType(r.Handles)})
		if err != nil {
			return nil, err
		}
		p, err := d.th.MemAllocFromPoolAsync(wholePages(r), pool, d.stream)
		if err != nil {
			return nil, errors.Join(err, d.quiet.MemPoolDestroy(pool))
		}
		free := func(*share.Tape) error {
			return errors.Join(d.th.MemFreeAsync(p, d.stream), d.th.StreamSynchronize(d.stream), d.th.MemPoolDestroy(pool))
		}
		if err := d.th.StreamSynchronize(d.stream); err != nil {
			return nil, errors.Join(err, free(t))
		}
		b, err := d.plain(r, p, free)
		if b != nil {
			b.pool = pool
		}
		return b, err
	},
}
