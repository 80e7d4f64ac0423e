// Package quant is the arithmetic of products of 8-bit integers, in plain Go.
//
// A layer rounds its inputs to unsigned bytes with one scale and a zero point, and its weights to signed bytes with a scale for each output channel:
//
//	xq = round(clamp(x*r, -z, 255-z)) + z,  r = float32(1/input scale), x*r rounded to float32, NaN as -z
//	wq = clamp(round(w/s[o]), -127, 127),   w/s[o] rounded to float32, NaN as -127
//	y  = float32(sum over k of (xq-z)*wq) * float32(input scale * s[o])
//
// round rounds ties to even. Sums are exact in int32 (Fits). Padding has the value z, which stands for 0. Biases and all that follows are in float32: the
// product above is rounded before a bias is added. So every way to compute a layer gives the same bits.
//
// [Scales.Inputs] and [Scales.Weights] give the integers as float32 values, for references that add in float64. Package factors packs them for vector kernels.
package quant

import (
	"fmt"
	"math"
)

// The largest values of an input and of a weight, and the largest sum.
const (
	MostInput  = 255
	MostWeight = 127
	MostSum    = math.MaxInt32
)

// Scales are the scales of a layer. They do not change.
type Scales struct {
	Input float32 // of the inputs
	Zero  uint8   // the input that stands for 0
	// Outputs are the scales of the weights of each output channel; nil: ScaleOf of them.
	Outputs []float32

	inverse float32 // 1/Input
}

// New checks the scales of a layer with a number of output channels. There may be one scale for all of them, or none.
func New(input float32, zero uint32, outputs []float32, channels int) (*Scales, error) {
	s := &Scales{Input: input, Zero: uint8(zero), inverse: float32(1 / float64(input))}
	switch {
	case !usable(input):
		return nil, fmt.Errorf("input_scale %g: a positive number is needed, between %g and %g", input, leastScale, mostScale)
	case zero > MostInput:
		return nil, fmt.Errorf("input_zero_point %d is more than %d", zero, MostInput)
	case len(outputs) > 1 && len(outputs) != channels:
		return nil, fmt.Errorf("there are %d weight_scales for %d output channels", len(outputs), channels)
	}
	for i, v := range outputs {
		if !usable(v) {
			return nil, fmt.Errorf("weight_scale %d is %g: a positive number is needed, between %g and %g", i, v, leastScale, mostScale)
		}
	}
	if len(outputs) > 0 {
		s.Outputs = make([]float32, channels)
		for o := range s.Outputs {
			s.Outputs[o] = outputs[min(o, len(outputs)-1)]
		}
	}
	return s, nil
}

// Scales lie between these numbers, so that their inverses and the product of two of them are normal numbers.
const leastScale, mostScale = float32(0x1p-60), float32(0x1p60)

// usable reports whether a scale lies in that range.
func usable(v float32) bool { return v >= leastScale && v <= mostScale }

// Fits returns nil, or the reason why a sum of depth products may leave int32.
func Fits(depth int) error {
	if most := int64(depth) * MostInput * MostWeight; most > MostSum {
		return fmt.Errorf("a sum of %d products of %d and %d may be %d, more than the %d of int32", depth, MostInput, MostWeight, most, MostSum)
	}
	return nil
}

// Round returns an input as a byte.
func (s *Scales) Round(x float32) uint8 {
	v, low := x*s.inverse, -float32(s.Zero)
	if !(v > low) {
		return 0
	}
	return uint8(int32(math.RoundToEven(float64(min(v, low+MostInput)))) + int32(s.Zero))
}

// Inputs writes the values xq - z of inputs.
func (s *Scales) Inputs(to, x []float32) {
	for i, v := range x {
		to[i] = float32(int(s.Round(v)) - int(s.Zero))
	}
}

// RoundWeight returns a weight as a signed byte.
func RoundWeight(w, scale float32) int8 {
	v := w / scale
	if !(v > -MostWeight) {
		return -MostWeight
	}
	return int8(math.RoundToEven(float64(min(v, MostWeight))))
}

// Weights writes the values wq of weights, of which those of an output channel lie side by side, and the factors of the sums.
func (s *Scales) Weights(to, factors, w []float32) {
	row := len(w) / len(factors)
	for o := range factors {
		at := w[o*row : (o+1)*row]
		scale := s.OfWeights(o, at)
		for i, v := range at {
			to[o*row+i] = float32(RoundWeight(v, scale))
		}
		factors[o] = s.Factor(scale)
	}
}

// Inverse is what inputs are multiplied by.
func (s *Scales) Inverse() float32 { return s.inverse }

// OfWeights returns the scale of an output channel, whose weights are w.
func (s *Scales) OfWeights(o int, w []float32) float32 {
	return s.scale(o, func() (most float32) {
		for _, v := range w {
			most = max(most, abs(v))
		}
		return most
	})
}

// Factor is the factor of the sums of an output channel with a scale.
func (s *Scales) Factor(scale float32) float32 { return s.Input * scale }

// scale returns the scale of an output channel; most returns the largest of the absolute values of its weights.
func (s *Scales) scale(o int, most func() float32) float32 {
	if s.Outputs != nil {
		return s.Outputs[o]
	}
	return ScaleOf(most())
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// ScaleOf returns the scale of weights from the largest of their absolute values: that / 127, or 1 if it is no usable scale, as that of a row of zeros.
func ScaleOf(most float32) float32 {
	if scale := most / MostWeight; usable(scale) {
		return scale
	}
	return 1
}

// ChannelScales returns the scales of the weights of a number of output channels; of is the channel of a weight.
func (s *Scales) ChannelScales(w []float32, of func(at int) int, channels int) []float32 {
	most := make([]float32, channels)
	for i, v := range w {
		most[of(i)] = max(most[of(i)], abs(v))
	}
	for o := range most {
		most[o] = s.scale(o, func() float32 { return most[o] })
	}
	return most
}
