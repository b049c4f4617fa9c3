package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gpushare-bench/bench/worker"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// peerCounts lists how many peers are to take part for a pair, each number once.
func peerCounts(asked []int, pair devicePair, devices []share.DeviceInfo) []int {
	if len(asked) == 0 {
		return []int{0}
	}
	var counts []int
	for _, n := range asked {
		if n == AllPeers {
			n = 0
			for _, d := range devices {
				if d.Backend != "host" && d.ID != pair.producer.ID && d.ID != pair.consumer.ID {
					n++
				}
			}
			n = min(n, maxPeers)
		}
		counts = append(counts, n)
	}
	slices.Sort(counts)
	return slices.Compact(counts)
}

// peerDevices says where peers are: on the GPUs behind the pair's own in the driver's order, going round, then on the
// pair's own, then from the beginning; on the host where the pair is there.
func peerDevices(n int, pair devicePair, devices []share.DeviceInfo) []share.DeviceInfo {
	if n == 0 {
		return nil
	}
	var gpus []share.DeviceInfo
	for _, d := range devices {
		if d.Backend == pair.producer.Backend {
			gpus = append(gpus, d)
		}
	}
	slices.SortStableFunc(gpus, func(a, b share.DeviceInfo) int { return a.Index - b.Index })
	own := func(d share.DeviceInfo) bool { return d.ID == pair.producer.ID || d.ID == pair.consumer.ID }
	last := 0
	for i, d := range gpus {
		if own(d) {
			last = i
		}
	}
	var free, taken []share.DeviceInfo
	for i := range gpus {
		if d := gpus[(last+1+i)%len(gpus)]; own(d) {
			taken = append(taken, d)
		} else {
			free = append(free, d)
		}
	}
	order := append(free, taken...)
	peers := make([]share.DeviceInfo, n)
	for i := range peers {
		peers[i] = order[i%len(order)]
	}
	return peers
}

// placeOf names a device for people: "GPU 3", "cpu".
func placeOf(d share.DeviceInfo) string {
	if d.Backend == "host" {
		return d.ID
	}
	return fmt.Sprintf("GPU %d", d.Index)
}

// mesh has every process of a case obtain a buffer and map those of all others, one process joining after the other. The
// error is ctx's.
func (m *measurement) mesh(ctx context.Context) (o outcome, err error) {
	all := len(m.ends.members())
	if o, _, err = m.step(ctx, all, worker.Mesh{Step: worker.MeshAllocate}); err != nil || !o.fine() {
		return o, err
	}
	for joining := 1; joining < all; joining++ {
		o, joined, err := m.step(ctx, joining+1, worker.Mesh{Step: worker.MeshJoin, Joining: joining})
		if err != nil || !o.fine() {
			return o, err
		}
		m.res.Joined = append(m.res.Joined, joined)
	}
	if m.r.Config.Verify {
		o, _, err = m.step(ctx, all, worker.Mesh{Step: worker.MeshVerify})
	}
	return o, err
}

// part gives up what mesh made, as far as it came, the mappings before the buffers. The error is ctx's.
func (m *measurement) part(ctx context.Context) (o outcome, err error) {
	all := len(m.ends.members())
	o, _, err = m.step(ctx, all, worker.Mesh{Step: worker.MeshUnmap})
	if err != nil || o.respawn() {
		return o, err
	}
	released, _, err := m.step(ctx, all, worker.Mesh{Step: worker.MeshRelease})
	if o.fine() {
		o = released
	}
	return o, err
}

// step has the first n members do one step of the mesh, and adds up what they say of it. The error is ctx's.
func (m *measurement) step(ctx context.Context, n int, q worker.Mesh) (o outcome, sum results.Joined, err error) {
	q.Batch = worker.Batch{Case: m.planned.Case, RunSeed: m.r.Config.Seed, CaseIndex: m.planned.Index, Verify: m.r.Config.Verify}
	limit := bound{m.r.Config.CaseTimeout, "--case-timeout"}
	reps, errs := m.ends.ask(ctx, limit.time, slices.Repeat([]*worker.Request{{Mesh: &q}}, n)...)
	if ctx.Err() != nil && errors.Join(errs...) != nil {
		return o, sum, ctx.Err()
	}
	for i, p := range m.ends.members()[:n] {
		var problem *worker.Problem
		switch {
		case errs[i] != nil:
			o.lost(p, errs[i], limit)
			continue
		case reps[i].Error != nil:
			problem = reps[i].Error
		case reps[i].Meshed == nil:
			problem = &worker.Problem{Text: "no answer about the mesh in the reply"}
		default:
			res := reps[i].Meshed
			problem = res.Problem
			sum.Wall = max(sum.Wall, res.Wall)
			sum.Export += res.Export
			sum.Import += res.Import
			sum.Map += res.Map
			if res.Mismatch != nil {
				m.res.Mismatch = res.Mismatch
			}
		}
		// One that gave up because of another says nothing about why.
		if problem != nil && (o.mesh == nil || o.mesh.Peer && !problem.Peer) {
			o.mesh, o.member = problem, p.role
		}
	}
	return o, sum, nil
}
