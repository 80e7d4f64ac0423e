package schedule

import "github.com/swcaffe/swcaffe/blob"

// storage is memory that several blobs may share, for values or for gradients, and the range of steps in which it is needed. Step i is
// Forward of layer i. Backward has two steps per layer, see BackSteps.
type storage struct {
	blob *blob.Blob // one of the blobs
	span
	touched bool
	// keep: the contents must outlast a run, or are read before anybody writes them.
	keep bool
}

// storages collects a net's storages of one kind, values or gradients.
type storages struct {
	list []*storage // in order of first use
	at   map[blob.Storage]*storage
	kind func(*blob.Blob) blob.Storage
}

func storagesOf(kind func(*blob.Blob) blob.Storage) *storages {
	return &storages{at: map[blob.Storage]*storage{}, kind: kind}
}

// of returns the storage of a blob.
func (s *storages) of(b *blob.Blob) *storage {
	st := s.at[s.kind(b)]
	if st == nil {
		st = &storage{blob: b}
		s.at[s.kind(b)] = st
		s.list = append(s.list, st)
	}
	return st
}

// write and read record that a step writes a blob's storage in full, or reads it.
func (s *storages) write(b *blob.Blob, step int) { s.of(b).touch(b, step) }

func (s *storages) read(b *blob.Blob, step int) {
	st := s.of(b)
	st.keep = st.keep || !st.touched
	st.touch(b, step)
}

func (s *storage) touch(b *blob.Blob, step int) {
	if !s.touched {
		s.touched, s.first = true, step
	}
	s.last, s.size = step, max(s.size, b.Count())
}

// BackSteps returns the steps of Backward of layer i: of the parameters' gradients, if it runs in parts, and of the bottoms' gradients or
// all. A net of n layers has 3n steps.
func (p *Plan) BackSteps(i int) (params, bottoms int) {
	bottoms = 3*len(p.Nodes) - 1 - 2*i
	return bottoms - 1, bottoms
}

// lifetimes returns the steps in which a net's values and gradients are needed in a run: Forward, then Backward unless ForwardOnly. Some
// storage is kept: tops of layers without bottoms, since some are filled only once; the net's outputs; blobs requested by name; and
// gradients of weights that are tops, which the solver reads after Backward.
func (p *Plan) lifetimes() (data, diffs *storages) {
	data, diffs = storagesOf((*blob.Blob).DataStorage), storagesOf((*blob.Blob).DiffStorage)
	for i, d := range p.Nodes {
		p.Tasks[i].forwardLifetimes(data, diffs, i)
		for k, t := range d.Tops {
			if len(d.Bottoms) == 0 || d.Loss[k] != 0 {
				data.of(t).keep = true
			}
		}
	}
	for i := len(p.Nodes) - 1; i >= 0 && !p.ForwardOnly; i-- {
		if d := p.Nodes[i]; d.NeedsBackward {
			params, bottoms := p.BackSteps(i)
			p.Tasks[i].backwardLifetimes(d, data, diffs, params, bottoms)
		}
	}
	for id := range p.Kept {
		data.of(p.Blobs[id]).keep = true
		diffs.of(p.Blobs[id]).keep = true
	}
	for _, id := range p.Outputs {
		data.of(p.Blobs[id]).keep = true
	}
	for _, d := range p.Nodes {
		for _, w := range d.Params() {
			diffs.of(w).keep = true
		}
	}
	return data, diffs
}

// forwardLifetimes records the reads and writes of a task's Forward.
func (t *Task) forwardLifetimes(data, diffs *storages, step int) {
	for j, b := range t.Bottoms {
		data.read(b, step)
		if t.traits.Traces.Has(j) {
			diffs.write(b, step)
		}
	}
	for _, b := range t.Tops {
		data.write(b, step)
	}
	for _, b := range t.traits.Keeps {
		data.write(b, step)
	}
}

// backwardLifetimes records the reads and writes of Backward at the position of node d.
func (t *Task) backwardLifetimes(d *Node, data, diffs *storages, params, step int) {
	for k, top := range d.Tops {
		if d.starts(k) {
			diffs.write(top, params)
		}
	}
	if t.parted == nil {
		params = step
	}
	for _, b := range t.traits.Keeps {
		data.read(b, step)
	}
	for _, top := range t.Tops {
		diffs.read(top, step)
		if !t.traits.Unread.Tops {
			data.read(top, step)
		}
	}
	for j, b := range t.Bottoms {
		if !t.traits.Unread.Bottoms.Has(j) {
			data.read(b, params)
		}
		if t.Propagate[j] {
			diffs.write(b, step)
		}
	}
}

// scratches returns the kernels' scratch in each step.
func (p *Plan) scratches() []Stretch {
	list := make([]Stretch, 3*len(p.Nodes))
	for i, d := range p.Nodes {
		s := p.Tasks[i].traits.Scratch
		list[i].Size = s.Forward
		if d.NeedsBackward && !p.ForwardOnly {
			params, bottoms := p.BackSteps(i)
			list[params].Size, list[bottoms].Size = s.Params, s.Bottoms
		}
	}
	return list
}
