package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
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

// placement says where in the arena a blob's values or gradients stand.
type placement struct {
	diff       bool
	blob       *blob.Blob
	from, size int
	last       int // the step after which it is not needed
}

// in moves what is placed to its place in memory.
func (p *placement) in(memory []float32) {
	memory = memory[p.from : p.from+p.size]
	if p.diff {
		p.blob.PlaceDiff(memory)
		return
	}
	p.blob.PlaceData(memory)
}

// planMemory decides where in the arena what the net does not keep will stand. Nothing moves yet.
func (n *Net) planMemory() {
	n.placements, n.placedIn, n.scratch = nil, nil, nil
	for _, d := range n.nodes {
		d.task.part()
	}
	if !n.opt.Economise || !n.opt.Device.Machine.Values() {
		return
	}
	placements, scratch, total := n.placeAll()
	if n.arena = n.opt.Arena; n.arena == nil {
		n.arena = &Arena{}
	}
	n.placements, n.scratch = placements, scratch
	n.arena.reserve(total)
}

// stretch is a piece of the arena.
type stretch struct{ from, size int }

// of returns the stretch of the arena's memory.
func (s stretch) of(memory []float32) []float32 { return memory[s.from:][:s.size:s.size] }

// placeAll returns a place, at the start of a cache line, for every storage that the net does not keep and for the kernels' scratch of
// each step, and how long the arena must be.
func (n *Net) placeAll() (placements []placement, scratch []stretch, total int) {
	data, diffs := n.lifetimes()
	var spans []span
	for k, kind := range []*storages{data, diffs} {
		for _, s := range kind.list {
			if s.keep || !s.touched || s.size == 0 {
				continue
			}
			placements = append(placements, placement{diff: k == 1, blob: s.blob, size: s.size, last: s.last})
			spans = append(spans, span{cpe.WholeLines(s.size), s.first, s.last})
		}
	}
	scratch = n.scratches()
	for step, s := range scratch {
		spans = append(spans, span{cpe.WholeLines(s.size), step, step})
	}
	offsets, total := pack(spans)
	for i := range placements {
		placements[i].from = offsets[i]
	}
	for i := range scratch {
		scratch[i].from = offsets[len(placements)+i]
	}
	return placements, scratch, total
}

// useArena moves the blobs to their places, if they do not stand there.
func (n *Net) useArena() {
	if len(n.placements) == 0 || len(n.arena.memory) == 0 || n.placedIn == &n.arena.memory[0] {
		return
	}
	n.placedIn = &n.arena.memory[0]
	for i := range n.placements {
		p := &n.placements[i]
		if p.blob.Count() > p.size { // it has grown since, and has storage of its own
			continue
		}
		p.in(n.arena.memory)
	}
}

// withScratch runs a step while kernels have its scratch in the arena.
func (n *Net) withScratch(step int, run func() error) (err error) {
	defer pages.Catch(&err)
	if step >= len(n.scratch) || n.scratch[step].size == 0 {
		return run()
	}
	m := n.opt.Device.Machine
	m.Lend(n.scratch[step].of(n.arena.memory))
	defer m.Lend(nil)
	return run()
}

// forwardOnly reports whether a blob's values were needed in Forward alone, so that others may stand in their place after it.
func (n *Net) forwardOnly(b *blob.Blob) bool {
	return slices.ContainsFunc(n.placements, func(p placement) bool {
		return !p.diff && p.last < len(n.nodes)-1 && p.blob.SharesData(b)
	})
}

// keep gives a blob storage of its own, with what it holds now, and leaves it out of later plans.
func (n *Net) keep(id int) {
	if !n.opt.Economise || n.kept[id] {
		return
	}
	n.kept[id] = true
	b := n.blobs[id]
	blocked := n.inBlocks(b)
	together := n.between(id) || n.gradMoved(b) || slices.Contains(n.finished, b) || blocked
	if together {
		n.separate()
	}
	b.Own()
	if blocked {
		bringToPlanes(b)
	}
	n.placements = slices.DeleteFunc(n.placements, func(p placement) bool { return p.blob.SharesData(b) || p.blob.SharesDiff(b) })
	if together {
		n.fuse()
		n.chooseLayouts()
		n.planMemory()
	}
}
