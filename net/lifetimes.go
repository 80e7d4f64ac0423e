package net

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// storage is what blobs that share values, or gradients, have in common, and the steps of a run in which it is needed.
// Forward of layer i is step i; Backward of it is two steps, see Net.backSteps.
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

// backSteps are the steps of Backward of layer i: that of the parameters' gradients, if it runs in parts (layers.PartedBackward), and that of
// the bottoms' or of all. A net of n layers has 3n steps.
func (n *Net) backSteps(i int) (params, bottoms int) {
	bottoms = 3*len(n.nodes) - 1 - 2*i
	return bottoms - 1, bottoms
}

// lifetimes returns when the values and the gradients of a net's blobs are needed in a run: Forward, then Backward unless the net
// is for inference alone. What layers without bottoms make is kept, since some fill it only once; so are the net's
// outputs, what was asked for by name, and gradients of weights that are tops, which the solver reads after Backward.
func (n *Net) lifetimes() (data, diffs *storages) {
	data, diffs = storagesOf((*blob.Blob).DataStorage), storagesOf((*blob.Blob).DiffStorage)
	for i, d := range n.nodes {
		for j, b := range d.task.bottoms {
			data.read(b, i)
			if d.task.traces(j) {
				diffs.write(b, i)
			}
		}
		for _, t := range d.task.tops {
			data.write(t, i)
		}
		for _, b := range d.task.remembers() {
			data.write(b, i)
		}
		for k, t := range d.tops {
			if len(d.bottoms) == 0 || d.lossWeights[k] != 0 {
				data.of(t).keep = true
			}
		}
	}
	for i := len(n.nodes) - 1; i >= 0 && !n.opt.ForwardOnly; i-- {
		if d := n.nodes[i]; d.needBackward {
			params, bottoms := n.backSteps(i)
			d.backwardLifetimes(data, diffs, params, bottoms)
		}
	}
	for id := range n.kept {
		data.of(n.blobs[id]).keep = true
		diffs.of(n.blobs[id]).keep = true
	}
	for _, id := range n.outputs {
		data.of(n.blobs[id]).keep = true
	}
	for _, d := range n.nodes {
		for _, w := range d.Params() {
			diffs.of(w).keep = true
		}
	}
	return data, diffs
}

// backwardLifetimes notes what Backward at a node's place reads and writes in its steps.
func (d *node) backwardLifetimes(data, diffs *storages, params, step int) {
	for k, t := range d.tops {
		if d.startsGradient(k) {
			diffs.write(t, params)
		}
	}
	if d.task.parted == nil {
		params = step
	}
	for _, b := range d.task.remembers() {
		data.read(b, step)
	}
	for _, t := range d.task.tops {
		diffs.read(t, step)
		if readsTops(d.task.Layer) {
			data.read(t, step)
		}
	}
	for j, b := range d.task.bottoms {
		if readsBottom(d.task.Layer, j) {
			data.read(b, params)
		}
		if d.task.propagate[j] {
			diffs.write(b, step)
		}
	}
}

// readsBottom reports whether Backward of a layer reads the values of bottom j.
func readsBottom(l layers.Layer, j int) bool {
	if r, ok := l.(layers.BackwardReader); ok {
		if bottoms, _ := r.BackwardReads(); !bottoms {
			return false
		}
	}
	r, ok := l.(layers.BottomReader)
	return !ok || r.BackwardReadsBottom(j)
}

// readsTops reports whether it reads those of its tops.
func readsTops(l layers.Layer) bool {
	r, ok := l.(layers.BackwardReader)
	if !ok {
		return true
	}
	_, tops := r.BackwardReads()
	return tops
}

// remembers returns the blobs in which Forward of a task leaves values for its Backward.
func (t *task) remembers() []*blob.Blob {
	if r, ok := t.Layer.(layers.Rememberer); ok {
		return r.Remembers()
	}
	return nil
}

// traces reports whether Forward of a task writes the gradient of a bottom.
func (t *task) traces(bottom int) bool {
	g, ok := t.Layer.(layers.GradTracer)
	return ok && g.TracesGrad(bottom)
}

// scratches returns how much memory for kernels' scratch each step takes.
func (n *Net) scratches() []stretch {
	list := make([]stretch, 3*len(n.nodes))
	for i, d := range n.nodes {
		s, ok := d.task.Layer.(layers.Scratcher)
		if !ok {
			continue
		}
		forward, forParams, forBottoms := s.Scratch()
		list[i].size = forward
		if d.needBackward && !n.opt.ForwardOnly {
			params, bottoms := n.backSteps(i)
			list[params].size, list[bottoms].size = forParams, forBottoms
		}
	}
	return list
}
