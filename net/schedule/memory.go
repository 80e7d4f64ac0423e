package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
)

// Memory lists the places of blobs and of kernels' scratch in an arena.
type Memory struct {
	Places  []Place
	Scratch []Stretch // by step of a run: first Forward, then numbered as by BackSteps
	Total   int       // the arena's length
}

// Place is the place of a blob's values or gradient in the arena.
type Place struct {
	Blob       *blob.Blob
	Diff       bool
	From, Size int
	last       int // the last step in which it is needed
}

// In moves the blob's values or gradient to its place in memory. A blob that has grown since the plan keeps storage of its own.
func (p *Place) In(memory []float32) {
	if p.Blob.Count() > p.Size {
		return
	}
	memory = memory[p.From : p.From+p.Size]
	if p.Diff {
		p.Blob.PlaceDiff(memory)
		return
	}
	p.Blob.PlaceData(memory)
}

// Stretch is a range of the arena.
type Stretch struct{ From, Size int }

// Of returns the stretch as a slice of memory, or nil if it is empty.
func (s Stretch) Of(memory []float32) []float32 {
	if s.Size == 0 {
		return nil
	}
	return memory[s.From:][:s.Size:s.Size]
}

// placeMemory places all blobs that the net need not keep in one arena, unless the machine moves no values.
func placeMemory(p *Plan) error {
	if !p.Device.Machine.Values() {
		return nil
	}
	p.Memory = p.PlaceAll()
	apart := 0
	for _, at := range p.Memory.Places {
		apart += at.Size
	}
	for _, s := range p.Memory.Scratch {
		apart += s.Size
	}
	p.note("memory", nil, "%d values and gradients and the kernels' scratch share an arena of %d numbers; without sharing they take %d", len(p.Memory.Places), p.Memory.Total, apart)
	return nil
}

// PlaceAll returns a place, aligned to cache lines, for every storage that the net need not keep and for the kernels' scratch in each step.
func (p *Plan) PlaceAll() (m Memory) {
	data, diffs := p.lifetimes()
	pieces := p.joinPieces(data)
	var spans []span
	for k, kind := range []*storages{data, diffs} {
		for _, s := range kind.list {
			if s.keep || !s.touched || s.size == 0 {
				continue
			}
			m.Places = append(m.Places, Place{Blob: s.blob, Diff: k == 1, Size: s.size, last: s.last})
			spans = append(spans, span{cpe.WholeLines(s.size), s.first, s.last})
		}
	}
	m.Scratch = p.scratches()
	for step, s := range m.Scratch {
		spans = append(spans, span{cpe.WholeLines(s.Size), step, step})
	}
	offsets, total := pack(spans)
	if spec := p.Device.Machine.Spec(); p.ForwardOnly && spec.CoreGroups > 1 {
		if at, n := centre(spans, len(m.Places)); float64(n) <= mostCentred*float64(total) {
			offsets, total = at, n
		}
	}
	from := map[blob.Storage]int{}
	for i := range m.Places {
		m.Places[i].From = offsets[i]
		if !m.Places[i].Diff {
			from[m.Places[i].Blob.DataStorage()] = offsets[i]
		}
	}
	for i := range m.Scratch {
		m.Scratch[i].From = offsets[len(m.Places)+i]
	}
	m.Total = total
	for _, s := range pieces {
		root := p.root(s.blob.DataStorage())
		m.Places = append(m.Places, Place{Blob: s.blob, From: from[root.of] + root.at, Size: s.size, last: s.last})
	}
	return m
}

// Drop removes a blob from the arena, since it has storage of its own from now on.
func (p *Plan) Drop(b *blob.Blob) {
	p.Memory.Places = slices.DeleteFunc(p.Memory.Places, func(at Place) bool { return at.Blob.SharesData(b) || at.Blob.SharesDiff(b) })
}

// OnlyForward reports whether a blob's values are needed in Forward only, so that their place may be reused afterwards.
func (p *Plan) OnlyForward(b *blob.Blob) bool {
	return slices.ContainsFunc(p.Memory.Places, func(at Place) bool {
		return !at.Diff && at.last < len(p.Nodes)-1 && at.Blob.SharesData(b)
	})
}
