package op

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Shape is the shape of an operation.
type Shape interface {
	// Empty reports whether there is nothing to compute, so that only an algorithm for empty problems does it. It is false for operations whose
	// kernels all compute empty problems.
	Empty() bool
	// Describe describes a problem of this shape in a line.
	Describe(d shape.Direction, images, results shape.Layout) string
}

// Problem is one direction of an operation: everything on which the choice of an algorithm may depend.
type Problem[S Shape] struct {
	Shape           S
	Direction       shape.Direction
	Images, Results shape.Layout // layouts, both of values and of gradients
	Types           Types
	Scales          *quant.Scales // of images and weights, with Quantised; no choice depends on them
	Spec            *cpe.Spec
	// Inference: the net only runs forward. Its results may differ from training's by rounding. Training keeps the bits of earlier versions.
	Inference bool
}

// Types are the number types in which a product is computed. The zero value is float32 throughout. Arrays in memory are float32, but for images in
// shape.RoundedBlocks: an algorithm of other types converts values as it packs them, and keeps the packed weights (Kept). A problem's types are what its caller permits
// beside float32, in which every problem may be computed but for Quantised.
type Types struct {
	Factors Number // what values are rounded to before they are multiplied
	Sums    Number // what products are added in
}

// RoundedFactors rounds factors to bfloat16 and adds the products in float32.
var RoundedFactors = Types{Factors: BFloat16}

// Quantised rounds factors to 8 bits and adds the products in int32 (package quant). Its results are defined to the bit, so that problems with these types
// are computed by algorithms of these types alone.
var Quantised = Types{Factors: Int8, Sums: Int32}

// Suffix ends the names of algorithms of these types, and of no others; "" for float32.
func (t Types) Suffix() string {
	switch t {
	case RoundedFactors:
		return "-bf16"
	case Quantised:
		return "-int8"
	}
	return ""
}

// Permitted returns the types that a machine's user permits for layers that have no precision of their own and no scales.
func Permitted(spec *cpe.Spec) Types {
	if spec.Precision() == cpe.BF16 {
		return RoundedFactors
	}
	return Types{}
}

// Number is a number type.
type Number int

const (
	// Float32 is IEEE 754's binary32.
	Float32 Number = iota
	// BFloat16 is the upper half of a Float32: 8 bits of exponent, 7 of mantissa.
	BFloat16
	// Int8 is an integer of 8 bits: signed for weights, unsigned for images.
	Int8
	// Int32 is a signed integer of 32 bits.
	Int32
)

// String returns the type's name, such as "bfloat16".
func (n Number) String() string { return [...]string{"float32", "bfloat16", "int8", "int32"}[n] }

// String returns the type, or the types, that a product is computed in.
func (t Types) String() string {
	if t.Factors == t.Sums {
		return t.Factors.String()
	}
	return t.Factors.String() + " summed in " + t.Sums.String()
}

// Native reports whether the problem is for the host, not for a modelled machine.
func (p *Problem[S]) Native() bool { return p.Spec.Native() }

// Empty reports whether there is nothing to compute.
func (p *Problem[S]) Empty() bool { return p.Shape.Empty() }

// AllPlanes reports whether both images and results are stored by planes.
func (p *Problem[S]) AllPlanes() bool { return p.Images == shape.Planes && p.Results == shape.Planes }

// Stored reports whether images or results are stored in other types than float32.
func (p *Problem[S]) Stored() bool {
	return p.Images == shape.RoundedBlocks || p.Results == shape.RoundedBlocks
}

// String describes the problem in a line.
func (p *Problem[S]) String() string {
	text := p.Shape.Describe(p.Direction, p.Images, p.Results)
	if p.Types != (Types{}) {
		text += ", in " + p.Types.String()
	}
	return text
}
