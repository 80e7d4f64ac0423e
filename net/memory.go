package net

import (
	"runtime/debug"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
)

// Arena is memory for the blobs of nets. Nets that never run at the same time, such as a solver's training and test nets, may share one. It
// is as long as the longest net needs.
type Arena struct {
	memory  []float32
	counted int // values that a budget has
}

// reserve makes the arena at least n values long.
func (a *Arena) reserve(n int) {
	if len(a.memory) < n {
		a.memory = pages.Floats(n)
	}
}

// memory is a net's part in an arena.
type memory struct {
	arena    *Arena
	placedIn *float32  // the start of the memory that the blobs were moved to
	tidied   sync.Once // what planning and reading have left was given back, by this net or by one that has its weights
}

// manyWeights is the number of values of weights from which on a net is worth a tidy.
const manyWeights = 1 << 21

// tidy gives back what planning and the reading of weights have left in Go's heap, before the first Forward of a net for inference with many weights. Such
// a net needs little more memory than its weights take. Nets that share weights do so once: it stops all goroutines, and a server has many such nets.
func (n *Net) tidy() {
	if !n.opt.ForwardOnly {
		return
	}
	of := n
	if n.opt.WeightsOf != nil {
		of = n.opt.WeightsOf
	}
	of.tidied.Do(func() {
		values := 0
		for _, w := range of.learnable {
			values += w.Blob.Count()
		}
		if values >= manyWeights && n.opt.Device.Machine.Values() {
			debug.FreeOSMemory()
		}
	})
}

// useMemory reserves room for the plan's blobs. It moves nothing yet.
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

// checkWeights adds the weights from entry first of Learnable on, with their gradients and histories, to the budget.
func (n *Net) checkWeights(first int) error {
	if !n.opt.Device.Machine.Values() {
		return nil
	}
	values := 0.
	for _, w := range n.learnable[first:] {
		copies := max(0, n.opt.WeightCopies)
		if w.LRMult == 0 {
			copies = min(1, copies)
		}
		values += float64(copies) * float64(w.Blob.Count())
	}
	return n.opt.Budget.Take(values)
}

// checkAhead adds the batches that a layer reads ahead to the budget.
func (n *Net) checkAhead(d *node) error {
	if w, ok := d.Layer.(layers.DataWaiter); ok && n.opt.Device.Machine.Values() {
		return n.opt.Budget.Take(w.DataAhead())
	}
	return nil
}

// checkMemory adds the growth of the arena to the budget.
func (n *Net) checkMemory() error {
	if n.arena == nil || len(n.arena.memory) <= n.arena.counted {
		return nil
	}
	grown := len(n.arena.memory) - n.arena.counted
	n.arena.counted = len(n.arena.memory)
	return n.opt.Budget.Take(float64(grown))
}

// useArena moves the blobs to their places, unless they are there already.
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

// withScratch runs a step with the kernels' scratch in the arena.
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

// keep gives a blob storage of its own, with its present values, and excludes it from later plans.
func (n *Net) keep(id int) {
	if !n.opt.Economise || n.graph.Kept[id] {
		return
	}
	b := n.graph.Blobs[id]
	blocked, held := n.plan.InBlocks(b), n.plan.Holds(id)
	n.graph.Kept[id] = true
	if n.plan.Widen(b); held {
		n.plan.Release()
	}
	b.Own()
	if blocked {
		bringToPlanes(b, !n.opt.ForwardOnly)
	}
	if n.plan.Drop(b); held {
		n.makePlan()
	}
}

// replan makes a new plan after a change to the plan's inputs.
func (n *Net) replan() {
	n.plan.Release()
	n.makePlan()
}

// makePlan plans again. No layers are fused at that point.
func (n *Net) makePlan() {
	if err := n.schedule(); err != nil {
		panic("net: planning again failed: " + err.Error())
	}
}

// bringToPlanes converts a blob's values, and its gradients if there are some, from blocks to planes.
func bringToPlanes(b *blob.Blob, gradients bool) {
	turn := func(values []float32) {
		shape.FromBlocks(values, slices.Clone(values), b.CountRange(0, 2), b.CountFrom(2))
	}
	if turn(b.Data()); gradients {
		turn(b.Diff())
	}
}

// Economise turns Options.Economise on or off between runs. Visible blobs keep the memory of their values; all others have undefined values
// until the next run. While Economise is off, a net built with ForwardOnly can run Backward.
func (n *Net) Economise(on bool) error {
	if on == n.graph.Economise {
		return nil
	}
	n.plan.Release()
	if !on {
		n.leaveArena()
	}
	n.opt.Economise, n.graph.Economise = on, on
	n.graph.ForwardOnly = n.opt.ForwardOnly && on
	return n.schedule()
}

// Economises reports whether Options.Economise is on now.
func (n *Net) Economises() bool { return n.graph.Economise }

// leaveArena gives new storage to the blobs that a plan may have moved to the arena.
func (n *Net) leaveArena() {
	values, gradients := map[blob.Storage]bool{}, map[blob.Storage]bool{}
	for id, b := range n.graph.Blobs {
		if n.Visible(id) {
			values[b.DataStorage()] = true
		}
		if n.graph.Kept[id] {
			gradients[b.DiffStorage()] = true
		}
	}
	for _, d := range n.nodes {
		for _, w := range d.Params() { // may be the top of a Parameter layer
			gradients[w.DiffStorage()] = true
		}
	}
	for _, b := range n.graph.Blobs {
		if !values[b.DataStorage()] {
			b.ForgetData()
		}
		if !gradients[b.DiffStorage()] {
			b.ForgetDiff()
		}
	}
}

// Visible reports whether the values of blob id of BlobNames outlast a run. If the net economises, these are the outputs, the tops of
// layers without bottoms, tops with a loss weight, and blobs requested by name.
func (n *Net) Visible(id int) bool {
	if !n.graph.Economise || n.graph.Kept[id] || slices.Contains(n.graph.Outputs, id) {
		return true
	}
	return slices.ContainsFunc(n.nodes, func(d *node) bool {
		k := slices.Index(d.TopIDs, id)
		return k >= 0 && (len(d.Bottoms) == 0 || d.Loss[k] != 0)
	})
}
