package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Arranged is what a plan has chosen for a layer. The zero value is a layer by itself, whose images are laid out by planes.
type Arranged struct {
	In, Out Layout // of all bottoms, of all tops: values and gradients
	AddGrad bool   // Backward adds to the gradient of its bottom
	// TopLost: a later layer overwrites the top before Backward. Caffe's layers then read what is there, or another blob.
	TopLost bool

	ReLU     bool         // Forward also does that of a ReLU layer in place on the top (Joins.ReLU)
	ReLUGrad Bottoms      // bottoms on which a ReLU layer runs in place, whose Backward this layer does too (Joins.ReLUGrad)
	Finish   Finisher     // of the layer behind, whose Forward this layer does too (Joins.Finish), if not nil
	Others   []*blob.Blob // the bottoms of that layer behind its first
}

// Layout says how images lie: by planes, as Caffe's do, or with their channels in blocks (shape.BlockLanes).
type Layout struct {
	Blocks bool
	// Thin, if not zero, are vertical and horizontal strides: only pixels that they meet exist, at the front of each plane (shape.Thin). What
	// stands behind them is undefined.
	Thin [2]int
}

// Blocks is the layout of images with channels in blocks, if on.
func Blocks(on bool) Layout { return Layout{Blocks: on} }

// Blocking says which layouts a layer can read and write.
type Blocking struct {
	Bottoms, Tops bool // may lie in blocks
	Alike         bool // tops lie as bottoms do
	Gains         bool // blocks save work
}

// Turns are conversions between planes and blocks of channels that a layer makes in an iteration, and how many values they move.
type Turns struct{ Times, Values int }

// Thinning says which pixels of images in blocks of channels are needed.
type Thinning struct {
	// Reads are strides: the layer reads only pixels of its bottom that they meet, and only these get a gradient. Zero, or ones, means all.
	Reads [2]int
	// Makes: the layer can make fewer pixels of its top than all.
	Makes bool
}

// Joiner is implemented by layers that do work of their neighbours (Joins), if only at some shapes or with some kernels. The net asks
// after each pass, and otherwise runs the neighbour.
type Joiner interface {
	// JoinedForward reports whether the last Forward was also that of the layer behind.
	JoinedForward() bool
	// JoinedBackward reports whether the last Backward was also that of the ReLU layer on a bottom.
	JoinedBackward(bottom int) bool
}

// PartedBackward is implemented by layers whose Backward may be BackwardParams and then BackwardBottoms: first the gradients of the
// parameters, then those of the bottoms, which no longer reads the bottoms' values. The net calls them if Traits.Parted.
type PartedBackward interface {
	BackwardParams(top, bottom []*blob.Blob) error
	BackwardBottoms(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error
}

// Arrange arranges a layer, if it is Planned. It returns an error if its Traits do not offer the layouts.
func Arrange(l Layer, a Arranged) error {
	p, ok := l.(Planned)
	if !ok {
		return Blocking{}.Check(a)
	}
	if err := p.Traits().Layout.Check(a); err != nil {
		return err
	}
	return p.Arrange(a)
}

// Check returns an error if a layer that can do no more than this is asked for a layout.
func (b Blocking) Check(a Arranged) error {
	bottoms, tops := a.In.Blocks, a.Out.Blocks
	if bottoms && !b.Bottoms || tops && !b.Tops || b.Alike && bottoms != tops {
		return fmt.Errorf("blocks of channels are asked for (bottoms: %t, tops: %t) of a layer that can do %+v", bottoms, tops, b)
	}
	return nil
}

// Arrange implements Planned: nothing changes.
func (b *Base) Arrange(Arranged) error { return nil }

// Alike is the Blocking of layers whose bottoms and tops lie the same way, either one.
var Alike = Blocking{Bottoms: true, Tops: true, Alike: true}

// Blockable reports whether the layer computes where images may lie in blocks: on the CPE path of a native machine.
func (b *Base) Blockable() bool { return !b.MPE() && shape.HasBlocks(b.Device.Machine) }

// AnyLayout is the Blocking of a layer that works element by element, so that the place of a value makes no difference.
func (b *Base) AnyLayout() Blocking {
	if !b.Blockable() {
		return Blocking{}
	}
	return Alike
}

// InBlocks is the Blocking of a layer that works channel by channel on an outer x channels x inner array, for a blob of axes axes.
func (b *Base) InBlocks(axes int, dims [3]int) Blocking {
	if !b.Blockable() || axes != 4 || dims[1] == 0 || dims[1]%shape.BlockLanes != 0 {
		return Blocking{}
	}
	return Alike
}
