package schedule

import "github.com/swcaffe/swcaffe/blob"

// storage is what blobs that share values, or gradients, have in common, and the steps of a run in which it is needed.
// Forward of layer i is step i; Backward of it is two steps, see BackSteps.
type storage struct {
	blob *blob.Blob // one of them
	span
	touched bool
	// keep: it holds what has to outlast a run, or what nobody writes before it is read.
	keep bool
}

// storages finds the storages of one kind in a net.
type storages struct {
	list []*storage // in the order in which they are met
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

// write and read note that a blob's storage is written, wholly, or read in a step.
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

// BackSteps are the steps of Backward of layer i: that of the parameters' gradients, if it runs in parts, and that of the bottoms' or of all. A net
// of n layers has 3n steps.
func (p *Plan) BackSteps(i int) (params, bottoms int) {
	bottoms = 3*len(p.Nodes) - 1 - 2*i
	return bottoms - 1, bottoms
}

// lifetimes returns when the values and the gradients of a net's blobs are needed in a run: Forward, then Backward unless the net
// is for inference alone. Tops of layers without bottoms are kept, since some are filled only once; so are the net's
// outputs, what was asked for by name, and gradients of weights that are tops, which the solver reads after Backward.
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

// forwardLifetimes notes what Forward of a task reads and writes in its step.
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

// backwardLifetimes notes what Backward of the task at node d's place reads and writes in its steps.
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

// scratches returns how much memory kernels need in each step besides.
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
