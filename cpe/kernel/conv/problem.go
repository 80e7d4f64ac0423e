package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Problem is one direction of a convolution: everything that the choice of an algorithm may depend on.
type Problem struct {
	Shape           shape.Conv
	Direction       shape.Direction
	Images, Results Layout // of values and gradients alike
	Spec            *cpe.Spec
}

// Layout says how images or results lie in memory.
type Layout int

const (
	// Planes is Caffe's layout: N x C x H x W.
	Planes Layout = iota
	// Blocks has the values of 16 channels at a pixel side by side: N x C/16 x H x W x 16. See [BlockLanes].
	Blocks
	// FrontBlocks is Blocks of images of which a convolution with strides reads some pixels only: these stand one behind another at the
	// front of each plane, and the rest of the plane is undefined.
	FrontBlocks
)

// String returns "planes", "blocks" or "front blocks".
func (l Layout) String() string { return [...]string{"planes", "blocks", "front blocks"}[l] }

// native reports whether the problem is the host's.
func (p *Problem) native() bool { return p.Spec.Native() }

// empty reports whether there is nothing to compute.
func (p *Problem) empty() bool { return p.Shape.N == 0 || tiling.Size(p.Shape.OutSize()) <= 0 }

// planes reports whether images and results lie by planes.
func (p *Problem) planes() bool { return p.Images == Planes && p.Results == Planes }

// String prints direction, shape and layouts.
func (p *Problem) String() string {
	return fmt.Sprintf("%v of %v, images in %v, results in %v", p.Direction, p.Shape, p.Images, p.Results)
}
