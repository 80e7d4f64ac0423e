package vision

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/depthwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// followed is a 1x1 convolution and the depthwise convolution behind it in a net for inference (depthwise.Behind).
type followed struct {
	layers.Base
	first, second *convolution
	kernel        *depthwise.Behind // nil: they run one after the other
	of            [2]*plan.Conv     // what the kernel was made for
	ended         bool              // the two were arranged otherwise
	between       [1]*blob.Blob     // has values only without a kernel
}

// Follow implements layers.Follower.
func (l *convolution) Follow(before layers.Layer) layers.Layer {
	first, ok := before.(*convolution)
	if !ok || !first.follows() || !l.follows() {
		return nil
	}
	both := &followed{Base: layers.Base{Param: first.Param, Device: first.Device}, first: first, second: l}
	if both.prepare(); both.kernel == nil {
		return nil
	}
	both.between[0] = l.Device.NewBlob(first.topShape...)
	return both
}

// follows reports whether the layer is a convolution in fp32 of images on the CPE path.
func (l *convolution) follows() bool {
	return !l.MPE() && l.conv != nil && !l.transposed && l.scales == nil && l.axis == 1 && l.spatial == 2
}

// prepare makes the kernel for the present shapes, unless there is one.
func (l *followed) prepare() {
	if now := [2]*plan.Conv{l.first.conv, l.second.conv}; now != l.of && !l.ended {
		l.of, l.kernel = now, now[0].Behind(now[1])
	}
}

func (l *followed) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *followed) Reshape(bottom, top []*blob.Blob) error {
	if err := l.first.Reshape(bottom, l.between[:]); err != nil {
		return err
	}
	if err := l.second.Reshape(l.between[:], top); err != nil {
		return err
	}
	l.prepare()
	return nil
}

// Traits implements Planned.
func (l *followed) Traits() layers.Traits {
	t := layers.Traits{Layout: layers.Blocking{Bottoms: true, Tops: true}}
	if l.kernel != nil {
		t.Scratch.Forward = l.kernel.Scratch()
	}
	return t
}

// Arrange implements Planned.
func (l *followed) Arrange(layers.Arranged) error {
	l.kernel, l.ended = nil, true
	return nil
}

// Algorithm implements Algorithmic.
func (l *followed) Algorithm(d shape.Direction, joint bool) shape.Algorithm {
	if l.kernel == nil {
		return l.first.Algorithm(d, joint)
	}
	return "depthwise-behind"
}

func (l *followed) Forward(bottom, top []*blob.Blob) error {
	if l.kernel == nil {
		if err := l.first.Forward(bottom, l.between[:]); err != nil {
			return err
		}
		return l.second.Forward(l.between[:], top)
	}
	k := l.kernel.Keeper()
	first, err := l.first.arrays(k)
	defer l.first.fixed.Settle(k)
	if err != nil {
		return err
	}
	second, err := l.second.arrays(nil)
	defer l.second.fixed.Settle(nil)
	if err != nil {
		return err
	}
	first.X, second.Y = bottom[0].Data(), top[0].Data()
	return l.kernel.Run(first, second)
}

// arrays returns the weights and the steps of Forward.
func (l *convolution) arrays(k op.Keeper) (a conv.Arrays, err error) {
	a.W, a.Bias, a.Fixed, err = l.operands(k)
	a.Floor, a.Finish = l.steps.Hold()
	return a, err
}

func (l *followed) Backward([]*blob.Blob, []bool, []*blob.Blob) error {
	return errors.New("layers are computed together for inference alone, but gradients are requested")
}
