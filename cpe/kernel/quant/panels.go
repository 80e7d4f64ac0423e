package quant

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

const (
	// Width is the number of output channels of a panel.
	Width = 32
	// Quad is the number of neighbouring input channels whose bytes lie side by side, in the place of one float32.
	Quad = 4
)

// Panels is the layout of the packed weights of a convolution or a product: for each group and each Width output channels a panel, for each tap (kernel
// offset) and each Quad input channels Width times Quad bytes. Behind the bytes of a panel are, for each of its output channels, the sum of the weights
// times the zero point, and the scale. Places past the last channel hold zeros.
type Panels struct {
	Groups, Outputs, Channels, Taps int // Outputs and Channels of a group
	Output, Channel, Tap            int // distances of weights in their own order
	Scales                          *Scales
}

// Quads is the number of places of a pixel's channels.
func (p *Panels) Quads() int { return tiling.Blocks(p.Channels, Quad) }

// PerGroup is the number of panels of a group, Count that of all.
func (p *Panels) PerGroup() int { return tiling.Blocks(p.Outputs, Width) }
func (p *Panels) Count() int    { return p.Groups * p.PerGroup() }

// Bytes is the number of places of a panel's bytes; Size that of a panel, Places that of all.
func (p *Panels) Bytes() int  { return p.Taps * p.Quads() * Width }
func (p *Panels) Size() int   { return p.Bytes() + 2*Width }
func (p *Panels) Places() int { return p.Count() * p.Size() }

// Panel is a panel's part of the packed weights.
type Panel struct {
	First, N int     // its output channels
	Weights  []int8  // Taps x Quads x Width x Quad
	Sums     []int32 // zero point times the sum of the weights
	Scales   []float32
}

// At returns panel i of packed weights.
func (p *Panels) At(packed []float32, i int) Panel {
	at, group, first := packed[i*p.Size():][:p.Size()], i/p.PerGroup(), i%p.PerGroup()*Width
	return Panel{
		First: group*p.Outputs + first, N: min(Width, p.Outputs-first),
		Weights: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(at))), Quad*p.Bytes()),
		Sums:    unsafe.Slice((*int32)(unsafe.Pointer(&at[p.Bytes()])), Width),
		Scales:  at[p.Bytes()+Width:],
	}
}

// each calls f for the weights of an output channel with the places of their bytes in a panel, lane being its place there.
func (p *Panels) each(output, lane int, f func(weight, at int)) {
	for t := range p.Taps {
		for c := range p.Channels {
			f(output*p.Output+c*p.Channel+t*p.Tap, ((t*p.Quads()+c/Quad)*Width+lane)*Quad+c%Quad)
		}
	}
}

// Pack rounds the weights of panel i.
func (p *Panels) Pack(packed, w []float32, i int) {
	panel := p.At(packed, i)
	clear(panel.Weights)
	clear(panel.Sums)
	clear(panel.Scales)
	for lane := range panel.N {
		o, sum := panel.First+lane, int32(0)
		scale := p.Scales.scale(o, func() (most float32) {
			p.each(o, lane, func(weight, _ int) { most = max(most, abs(w[weight])) })
			return most
		})
		p.each(o, lane, func(weight, at int) {
			q := RoundWeight(w[weight], scale)
			panel.Weights[at] = q
			sum += int32(q)
		})
		panel.Sums[lane], panel.Scales[lane] = int32(p.Scales.Zero)*sum, scale
	}
}

// Restore writes the rounded weights in their own order.
func (p *Panels) Restore(w, packed []float32) {
	for i := range p.Count() {
		panel := p.At(packed, i)
		for lane := range panel.N {
			p.each(panel.First+lane, lane, func(weight, at int) { w[weight] = float32(panel.Weights[at]) * panel.Scales[lane] })
		}
	}
}

// Factors writes the factors of a panel's sums.
func (p *Panel) Factors(to *[Width]float32, s *Scales) {
	for lane, scale := range p.Scales {
		to[lane] = s.Factor(scale)
	}
}

// Start sets the sums of a panel to those of inputs that stand for 0.
func (p *Panel) Start(sums *[Width]int32) {
	for o, sum := range p.Sums {
		sums[o] = -sum
	}
}

// BytesIn returns the bytes of an array of float32 places.
func BytesIn(places []float32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(places))), Quad*len(places))
}

// Dot adds to n sums the products of the bytes x, a number of Quads, with as many rows of a panel: sums[o] += x[c] * weights[c/Quad*Width*Quad + o*Quad + c%Quad].
func Dot(sums *[Width]int32, x []uint8, weights []int8, n int) {
	for ; len(x) >= Quad; x, weights = x[Quad:], weights[Width*Quad:] {
		x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
		if x0|x1|x2|x3 == 0 {
			continue
		}
		row := weights[:n*Quad]
		for o := range sums[:n] {
			w := row[o*Quad:][:Quad:Quad]
			sums[o] += x0*int32(w[0]) + x1*int32(w[1]) + x2*int32(w[2]) + x3*int32(w[3])
		}
	}
}
