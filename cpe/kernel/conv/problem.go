package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Problem is one direction of a convolution: everything on which the choice of an algorithm may depend.
type Problem struct {
	Shape           shape.Conv
	Direction       shape.Direction
	Images, Results Layout // layouts, both of values and of gradients
	Spec            *cpe.Spec
	// Inference: the net only runs forward. Its results may differ from training's by rounding. Training keeps the bits of earlier versions.
	Inference bool
}

// Layout is the order of images or results in memory.
type Layout int

const (
	// Planes is Caffe's layout: N x C x H x W.
	Planes Layout = iota
	// Blocks stores the values of 16 channels at a pixel side by side: N x C/16 x H x W x 16. See [BlockLanes].
	Blocks
	// FrontBlocks is Blocks for images of which a strided 1x1 convolution reads only some pixels. These pixels are packed at the front of
	// each plane; the rest of the plane is undefined.
	FrontBlocks
)

// InBlocks returns Blocks or, if on is false, Planes.
func InBlocks(on bool) Layout {
	if on {
		return Blocks
	}
	return Planes
}

// String returns "planes", "blocks" or "front blocks".
func (l Layout) String() string { return [...]string{"planes", "blocks", "front blocks"}[l] }

// Native reports whether the problem is for the host, not for a modelled machine.
func (p *Problem) Native() bool { return p.Spec.Native() }

// Empty reports whether there are no results to compute.
func (p *Problem) Empty() bool { return p.Shape.N == 0 || tiling.Size(p.Shape.OutSize()) <= 0 }

// AllPlanes reports whether both images and results are stored by planes.
func (p *Problem) AllPlanes() bool { return p.Images == Planes && p.Results == Planes }

// String prints direction, shape and layouts.
func (p *Problem) String() string {
	return fmt.Sprintf("%v of %v, images in %v, results in %v", p.Direction, p.Shape, p.Images, p.Results)
}

// Panel is the number of output channels that are side by side in packed weights: a multiple of the columns of every micro-kernel.
const Panel = 32
