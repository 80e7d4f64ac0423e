package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Arena is memory that blobs of nets stand in. Nets of which one runs while the others rest, a solver's training net and its
// test nets, may share one: it is as long as the longest needs.
type Arena struct{ memory []float32 }

// reserve makes the arena at least n values long.
func (a *Arena) reserve(n int) {
	if len(a.memory) < n {
		a.memory = pages.Floats(n)
	}
}

// memory is where a net's blobs stand that its plan has placed.
type memory struct {
	arena    *Arena
	placedIn *float32 // the start of the memory that they were moved to
}

// useMemory has room for what the plan places. Nothing moves yet.
func (n *Net) useMemory() {
	n.placedIn = nil
	if !n.opt.Economise || !n.opt.Device.Machine.Values() {
		return
	}
	if n.arena = n.opt.Arena; n.arena == nil {
		n.arena = &Arena{}
	}
	n.arena.reserve(n.plan.Memory.Total)
}

// useArena moves the blobs to their places, if they do not stand there.
func (n *Net) useArena() {
	places := n.plan.Memory.Places
	if len(places) == 0 || len(n.arena.memory) == 0 || n.placedIn == &n.arena.memory[0] {
		return
	}
	n.placedIn = &n.arena.memory[0]
	for i := range places {
		places[i].In(n.arena.memory)
	}
}

// withScratch runs a step while kernels have its scratch in the arena.
func (n *Net) withScratch(step int, run func() error) (err error) {
	defer pages.Catch(&err)
	if step >= len(n.plan.Memory.Scratch) {
		return run()
	}
	scratch := n.plan.Memory.Scratch[step].Of(n.arena.memory)
	if scratch == nil {
		return run()
	}
	m := n.opt.Device.Machine
	m.Lend(scratch)
	defer m.Lend(nil)
	return run()
}

// keep gives a blob storage of its own, with what it holds now, and leaves it out of later plans.
func (n *Net) keep(id int) {
	if !n.opt.Economise || n.graph.Kept[id] {
		return
	}
	b := n.graph.Blobs[id]
	blocked, held := n.plan.InBlocks(b), n.plan.Holds(id)
	n.graph.Kept[id] = true
	if held {
		n.plan.Release()
	}
	b.Own()
	if blocked {
		bringToPlanes(b)
	}
	if n.plan.Drop(b); held {
		n.makePlan()
	}
}

// replan plans anew, after what the plan was made for has changed.
func (n *Net) replan() {
	n.plan.Release()
	n.makePlan()
}

// makePlan plans a net that has been planned before, whose layers stand by themselves.
func (n *Net) makePlan() {
	if err := n.schedule(); err != nil {
		panic("net: a net that was planned cannot be planned any more: " + err.Error())
	}
}

// bringToPlanes converts what a blob holds.
func bringToPlanes(b *blob.Blob) {
	for _, values := range [][]float32{b.Data(), b.Diff()} {
		shape.FromBlocks(values, slices.Clone(values), b.CountRange(0, 2), b.CountFrom(2))
	}
}
