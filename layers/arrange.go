package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Arranged is the plan's decision for one layer. The zero value means: not fused with neighbours, images in planes.
type Arranged struct {
	In, Out Layout // layouts of all bottoms and of all tops, values and gradients alike
	AddGrad bool   // Backward adds to the bottom's gradient and does not overwrite it
	// Inference: the net never runs Backward, and its weights seldom change. The layer may keep what it makes of them, such as packed weights.
	Inference bool
	// TopLost: a later layer overwrites the top's values before Backward. Like Caffe's layers, Backward must then work from the overwritten
	// values or from the bottom.
	TopLost bool

	// Whole: pieces whose memory is where Traits.Whole says stand in the whole, for the present shapes.
	Whole bool

	ReLUGrad Bottoms // bottoms with an in-place ReLU layer; Backward also applies that layer's Backward (Joins.ReLUGrad)
	Steps    []Step  // the next layers' Forward, in their order, which this layer also computes (Joins.Finish)
}

// Step is the Forward of a layer behind another one, applied to its results. Others are its bottoms but for those results.
type Step struct {
	Finisher
	Others []*blob.Blob
	// Rounded: Others are in rounded blocks. The Finisher is a Widener.
	Rounded bool
	Floor   bool // it is a plain ReLU
}

// Layout is the memory layout of images: planes, as in Caffe, or channels in blocks of 16 (shape.BlockLanes).
type Layout struct {
	Blocks bool
	// Rounded: the values, in blocks, are rounded to bfloat16 (shape.RoundedBlocks).
	Rounded bool
	// Thin holds vertical and horizontal strides. If set, a plane holds only the pixels at multiples of these strides, packed at its front
	// (shape.Thin). The rest of the plane is undefined.
	Thin [2]int
}

// Blocks returns the layout with channels in blocks if on is true, else with planes.
func Blocks(on bool) Layout { return Layout{Blocks: on} }

// Blocking lists the layouts a layer can read and write.
type Blocking struct {
	Bottoms, Tops bool // each may have channels in blocks
	Alike         bool // tops must have the layout of the bottoms
	Gains         bool // the layer is faster with blocks
}

// Turns counts the conversions between planes and blocks that a layer makes in one iteration, and the values they move.
type Turns struct{ Times, Values int }

// Thinning says which pixels of an image the layers need. It applies to images with channels in blocks.
type Thinning struct {
	// Reads holds strides: the layer reads only the bottom's pixels at multiples of these strides, and only those pixels get a gradient.
	// Zeros or ones mean all pixels.
	Reads [2]int
	// Makes: the layer can compute only some pixels of its top (Layout.Thin).
	Makes bool
}

// Rounding says which images in blocks may be in rounded blocks: bottoms, tops, and the other bottoms of steps (Step.Rounded).
type Rounding struct{ Bottoms, Tops, Others bool }

// PartedBackward is implemented by layers whose Backward can run in two parts. BackwardParams computes the parameters' gradients.
// BackwardBottoms then computes the bottoms' gradients without reading the bottoms' values. The net runs the parts if Traits.Parted is set.
type PartedBackward interface {
	BackwardParams(top, bottom []*blob.Blob) error
	BackwardBottoms(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error
}

// Arrange passes the plan's decision to a layer that is Planned. It returns an error if the layer's Traits do not offer the layouts.
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

// Check returns an error if a asks for a layout that b does not offer.
func (b Blocking) Check(a Arranged) error {
	bottoms, tops := a.In.Blocks, a.Out.Blocks
	if bottoms && !b.Bottoms || tops && !b.Tops || b.Alike && bottoms != tops {
		return fmt.Errorf("layout not offered: channels in blocks for bottoms %t, for tops %t; the layer offers %+v", bottoms, tops, b)
	}
	return nil
}

// Arrange implements Planned. The default ignores the decision.
func (b *Base) Arrange(Arranged) error { return nil }

// Alike is the Blocking of a layer that takes either layout, the same for bottoms and tops.
var Alike = Blocking{Bottoms: true, Tops: true, Alike: true}

// Blockable reports whether the layer may use channels in blocks: on the CPE path of a native machine.
func (b *Base) Blockable() bool { return !b.MPE() && shape.HasBlocks(b.Device.Machine) }

// AnyLayout is the Blocking of a layer that works element by element, so that no layout matters to it.
func (b *Base) AnyLayout() Blocking {
	if !b.Blockable() {
		return Blocking{}
	}
	return Alike
}

// InBlocks is the Blocking of a layer that works channel by channel. dims is its bottom as outer x channels x inner, axes the bottom's
// number of axes.
func (b *Base) InBlocks(axes int, dims [3]int) Blocking {
	if !b.Blockable() || axes != 4 || dims[1] == 0 || dims[1]%shape.BlockLanes != 0 {
		return Blocking{}
	}
	return Alike
}
