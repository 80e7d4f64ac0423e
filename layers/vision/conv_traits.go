package vision

import "github.com/swcaffe/swcaffe/layers"

// Traits implements Planned. The weights' gradient needs the bottoms. Only convolutions on the CPE path can do work of their neighbours;
// deconvolutions run their kernels in the opposite direction.
func (l *convolution) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!l.ParamGrad(0)), Tops: true}, Parted: l.parted()}
	if l.MPE() || l.conv == nil {
		return t
	}
	t.Scratch = l.scratch()
	t.Turns.Times, t.Turns.Values = l.conv.Turns()
	if l.transposed {
		return t
	}
	in, out := l.conv.Blocks()
	t.Layout = layers.Blocking{Bottoms: in, Tops: out, Gains: in || out}
	t.Grads.Adds = l.conv.AddsInputGrad()
	t.Thin.Reads[0], t.Thin.Reads[1] = l.conv.Strides()
	t.Joins = layers.Joins{ReLU: true, ReLUGrad: true, Finish: l.Blockable()}
	return t
}

// Arrange implements Planned. It sets the layout to blocks before it makes images thin, and makes images whole again before it sets the
// layout to planes.
func (l *convolution) Arrange(a layers.Arranged) error {
	l.arranged, l.finish = a, nil
	clear(l.joinedGrads)
	if a.Finish != nil {
		l.finish = a.Finish.Finish
	}
	if l.conv == nil {
		return nil
	}
	thin := a.In.Thin != [2]int{}
	if !thin {
		if err := l.conv.SetThin(false); err != nil {
			return err
		}
	}
	if err := l.layOut(a.In.Blocks, a.Out.Blocks); err != nil || !thin {
		return err
	}
	return l.conv.SetThin(true)
}

// layOut sets the layouts of bottoms and tops: channels in blocks if true, else planes.
func (l *convolution) layOut(bottoms, tops bool) error {
	if l.blocked == [2]bool{bottoms, tops} {
		return nil
	}
	l.blocked = [2]bool{bottoms, tops}
	if err := l.conv.SetBlocks(bottoms, tops); err != nil || !l.bias {
		return err
	}
	return l.prepareBiasGrad()
}
