package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Task is what runs at one place in a net's order: the layer that stands there, or a fused one that computes it and layers behind it.
type Task struct {
	Layer         layers.Layer
	Bottoms, Tops []*blob.Blob
	Propagate     []bool
	Nodes         []*Node // whose layers it computes; none: a task before it does
	Arranged      layers.Arranged

	traits   layers.Traits         // of Layer, as it is arranged
	parted   layers.PartedBackward // Layer, if Backward runs in parts
	forward  layers.Joiner         // the layer before, if it may do Forward
	backward layers.Joiner         // the layer behind, if it may do Backward
	bottom   int                   // of that layer, which is the top here
}

// Empty reports whether nothing runs here.
func (t *Task) Empty() bool { return len(t.Nodes) == 0 }

// Parted reports whether Backward runs in two parts.
func (t *Task) Parted() bool { return t.parted != nil }

// Part lets Backward run in two parts, if there are any.
func (t *Task) Part() bool {
	parted, ok := t.Layer.(layers.PartedBackward)
	t.parted = parted
	return ok
}

// Joined counts the directions in which a neighbour may do the task's work.
func (t *Task) Joined() int {
	joined := 0
	for _, by := range []layers.Joiner{t.forward, t.backward} {
		if by != nil {
			joined++
		}
	}
	return joined
}

// Reshape gives the tops their shapes.
func (t *Task) Reshape() error {
	if t.Empty() {
		return nil
	}
	return t.Layer.Reshape(t.Bottoms, t.Tops)
}

// Forward reshapes and runs the layer, unless the one before has done so.
func (t *Task) Forward() error {
	if err := t.Reshape(); err != nil || t.Empty() || t.forward != nil && t.forward.JoinedForward() {
		return err
	}
	return t.Layer.Forward(t.Bottoms, t.Tops)
}

// BackwardParams is the first part of Backward, where it has parts.
func (t *Task) BackwardParams() error {
	if t.parted == nil {
		return nil
	}
	return t.parted.BackwardParams(t.Tops, t.Bottoms)
}

// Backward is the second part, or all; nothing, if the layer behind has done it.
func (t *Task) Backward() error {
	switch {
	case t.Empty() || t.backward != nil && t.backward.JoinedBackward(t.bottom):
		return nil
	case t.parted != nil:
		return t.parted.BackwardBottoms(t.Tops, t.Propagate, t.Bottoms)
	}
	return t.Layer.Backward(t.Tops, t.Propagate, t.Bottoms)
}

// alone returns the task of a node by itself.
func alone(d *Node) *Task {
	return &Task{Layer: d.Layer, Bottoms: d.Bottoms, Tops: d.Tops, Propagate: d.Propagate, Nodes: []*Node{d}, Arranged: d.Alone, traits: layers.TraitsOf(d.Layer)}
}

// last is the last node that the task computes.
func (t *Task) last() *Node { return t.Nodes[len(t.Nodes)-1] }

// runsBackward reports whether Backward runs something at node d's place.
func (t *Task) runsBackward(d *Node) bool { return d.NeedsBackward && !t.Empty() }

// propagatesAll reports whether all bottoms get a gradient.
func (t *Task) propagatesAll() bool { return !slices.Contains(t.Propagate, false) }

// names are those of the layers that the task computes.
func (t *Task) names() []string {
	var names []string
	for _, d := range t.Nodes {
		names = append(names, d.Name)
	}
	return names
}

// passedOn lists the bottoms whose gradients may stand where the top's does.
func (t *Task) passedOn() (bottoms []*blob.Blob) {
	for j, b := range t.Bottoms {
		if t.traits.Grads.Passes.Has(j) {
			bottoms = append(bottoms, b)
		}
	}
	return bottoms
}
