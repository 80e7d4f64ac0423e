package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Task is the work at one position in a net's order: the layer there, or a fused layer that also computes layers after it.
type Task struct {
	Layer         layers.Layer
	Bottoms, Tops []*blob.Blob
	Propagate     []bool
	Nodes         []*Node // nodes that Layer computes; empty if an earlier task computes this position's layer
	Arranged      layers.Arranged

	traits layers.Traits         // of Layer in its present arrangement
	parted layers.PartedBackward // Layer, if Backward runs in parts
	done   bool                  // an earlier task computes Forward
	undone bool                  // the next task computes Backward
}

// Empty reports whether another task computes this position's layer.
func (t *Task) Empty() bool { return len(t.Nodes) == 0 }

// Parted reports whether Backward runs in two parts.
func (t *Task) Parted() bool { return t.parted != nil }

// Part lets Backward run in two parts if the layer supports it.
func (t *Task) Part() bool {
	parted, ok := t.Layer.(layers.PartedBackward)
	t.parted = parted
	return ok
}

// Joined returns the number of directions in which another task does the task's work.
func (t *Task) Joined() int {
	joined := 0
	for _, by := range []bool{t.done, t.undone} {
		if by {
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

// Forward reshapes and runs the layer, unless an earlier task computes it. A net reshapes its layers before it runs, so that shapes which do not fit here depend on values, as behind a Filter.
func (t *Task) Forward() error {
	if err := t.Reshape(); err != nil {
		return &layers.ValueError{Err: err}
	}
	if t.Empty() || t.done {
		return nil
	}
	return t.Layer.Forward(t.Bottoms, t.Tops)
}

// BackwardParams runs the first part of Backward, if it has parts.
func (t *Task) BackwardParams() error {
	if t.parted == nil {
		return nil
	}
	return t.parted.BackwardParams(t.Tops, t.Bottoms)
}

// Backward runs the second part of Backward, or all of it. It does nothing if the next task computes it.
func (t *Task) Backward() error {
	switch {
	case t.Empty() || t.undone:
		return nil
	case t.parted != nil:
		return t.parted.BackwardBottoms(t.Tops, t.Propagate, t.Bottoms)
	}
	return t.Layer.Backward(t.Tops, t.Propagate, t.Bottoms)
}

// alone returns the task of a node without fusion.
func alone(d *Node) *Task {
	return &Task{Layer: d.Layer, Bottoms: d.Bottoms, Tops: d.Tops, Propagate: d.Propagate, Nodes: []*Node{d}, Arranged: d.Alone, traits: layers.TraitsOf(d.Layer)}
}

// last returns the last node that the task computes.
func (t *Task) last() *Node { return t.Nodes[len(t.Nodes)-1] }

// runsBackward reports whether Backward has work at the position of node d.
func (t *Task) runsBackward(d *Node) bool { return d.NeedsBackward && !t.Empty() }

// propagatesAll reports whether all bottoms get a gradient.
func (t *Task) propagatesAll() bool { return !slices.Contains(t.Propagate, false) }

// names returns the names of the layers that the task computes.
func (t *Task) names() []string {
	var names []string
	for _, d := range t.Nodes {
		names = append(names, d.Name)
	}
	return names
}

// passedOn lists the bottoms whose gradients may share the top's storage.
func (t *Task) passedOn() (bottoms []*blob.Blob) {
	for j, b := range t.Bottoms {
		if t.traits.Grads.Passes.Has(j) {
			bottoms = append(bottoms, b)
		}
	}
	return bottoms
}
