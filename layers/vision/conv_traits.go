package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// Traits implements Planned. The weights' gradient needs the bottoms. On the CPE path the layer can do work of its neighbours. Deconvolutions
// run their kernels in the opposite direction, and do the next layers' work in a pass of their own.
func (l *convolution) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!l.ParamGrad(0)), Tops: true}, Parted: l.parted()}
	if l.MPE() || l.conv == nil {
		return t
	}
	t.Scratch = l.scratch()
	t.Turns.Times, t.Turns.Values = l.conv.Turns()
	t.Joins.Finish = l.Blockable() && l.axis == 1
	if l.transposed {
		t.Apart = op.Among(l.steps.Last())
		return t
	}
	in, out := l.conv.Blocks()
	t.Layout = layers.Blocking{Bottoms: in, Tops: out, Gains: in || out}
	t.Grads.Adds = l.conv.Does(shape.InputGradient, op.Add)
	t.Thin.Reads[0], t.Thin.Reads[1] = l.conv.Strides()
	t.Joins.ReLUGrad = l.Blockable()
	if !l.steps.Empty() {
		t.Apart = l.conv.RefusesStep(shape.Forward, l.steps.Last())
	}
	if l.arranged.Inference {
		t.Rounds.Bottoms, t.Rounds.Tops = l.conv.Rounds()
		t.Rounds.Others = l.arranged.Out.Blocks && t.Apart == nil
	}
	if l.Blockable() && l.axis == 1 && l.scales == nil {
		t.Joins.Fold = l.out
	}
	return t
}

// only returns the direction that runs in a net for inference, nil if all do. A deconvolution runs its kernels in the opposite direction.
func (l *convolution) only(inference bool) []shape.Direction {
	switch {
	case !inference:
		return nil
	case l.transposed:
		return []shape.Direction{shape.InputGradient}
	}
	return []shape.Direction{shape.Forward}
}

func layoutOf(l layers.Layout) shape.Layout {
	if l.Rounded {
		return shape.RoundedBlocks
	}
	return shape.InBlocks(l.Blocks)
}

// Arrange implements Planned.
func (l *convolution) Arrange(a layers.Arranged) error {
	l.arranged = a
	l.steps.Arrange(a.Steps)
	if l.conv == nil {
		return nil
	}
	images, results := layoutOf(a.In), layoutOf(a.Out)
	if a.In.Thin != [2]int{} {
		images = shape.FrontBlocks
	}
	if err := l.conv.Arrange(images, results, l.only(a.Inference)); err != nil {
		return err
	}
	before := l.blocked
	if l.blocked = [2]bool{a.In.Blocks, a.Out.Blocks}; l.blocked == before || !l.bias {
		return nil
	}
	return l.prepareBiasGrad()
}
