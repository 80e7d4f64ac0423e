// Package factors packs the factors of products in other number types than float32: pixels, and panels of weights.
package factors

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Panel is the number of columns, output channels, of a panel of packed weights.
const Panel = 32

// Packing is a number type of factors. A block of rows of weights is rounded (Round), added to its panel's head (AddToHead) and packed (Panel).
type Packing struct {
	vconv.Factors
	scales *quant.Scales // of integers
}

// Float32 leaves factors as they are, BFloat16 rounds them.
var (
	Float32  = Packing{}
	BFloat16 = Packing{Factors: vconv.Pairs()}
)

// Int8 makes factors integers. Sizes do not depend on scales: without any it is for plans alone.
func Int8(s *quant.Scales) Packing {
	if s == nil {
		return Packing{Factors: vconv.Bytes(vconv.Step{})}
	}
	return Packing{vconv.Bytes(vconv.Step{Reciprocal: s.Inverse(), Zero: s.Zero}), s}
}

// Layout tells packings apart whose values differ (op.Kept.Layout).
func (p Packing) Layout() string {
	switch {
	case p.scales != nil:
		return fmt.Sprintf("int8 %v %d %v", p.scales.Input, p.scales.Zero, p.scales.Outputs)
	case p.Rounded():
		return "bf16"
	}
	return "fp32"
}

// Size is the number of places of a panel of some blocks of rows, with its head.
func (p Packing) Size(blocks int) int { return p.Head() + p.Rows(blocks) }

// Rows is Size without the head.
func (p Packing) Rows(blocks int) int { return blocks * p.Weights(p.Block()*Panel) }

// Steps are the scales of the weights of a panel's columns.
type Steps [Panel]float32

// StepsOf returns the scales of n output channels' weights from channel first on; row returns a channel's weights. Other types than integers have none.
func (p Packing) StepsOf(first, n int, row func(o int) []float32) *Steps {
	if p.scales == nil {
		return nil
	}
	var s Steps
	for j := range s {
		if s[j] = 1; j < n {
			s[j] = p.scales.OfWeights(first+j, row(first+j))
		}
	}
	return &s
}

// Begin sets the head of a panel of integers to that of no rows; AddToHead adds rows.
func (p Packing) Begin(head []float32, steps *Steps) {
	clear(head[:Panel])
	for j, step := range steps {
		head[Panel+j] = p.scales.Factor(step)
	}
}

// Fill packs a panel, with its head, for n output channels from channel first on. w has for each output channel its weights by channel and kernel offset (tap);
// the panel has a row for each channel of a tap, and those of the next tap begin apart rows later. The other rows of its blocks are zeros.
func (p Packing) Fill(panel, w []float32, first, n, channels, taps, apart int) {
	size, block := channels*taps, p.Block()
	rows := make([]float32, block*Panel)
	steps := p.StepsOf(first, n, func(o int) []float32 { return w[o*size : (o+1)*size] })
	if steps != nil {
		p.Begin(panel, steps)
	}
	head, panel := panel[:p.Head()], panel[p.Head():]
	for at := 0; at < taps*apart; at += block {
		clear(rows)
		for i := range block {
			if tap, c := (at+i)/apart, (at+i)%apart; tap < taps && c < channels {
				for o := range n {
					rows[i*Panel+o] = w[(first+o)*size+c*taps+tap]
				}
			}
		}
		if p.Round(rows, steps); steps != nil {
			p.AddToHead(head, rows, block)
		}
		p.Panel(panel, rows, block)
		panel = panel[p.Rows(1):]
	}
}

// Round makes a block of rows of weights whole numbers of steps; nil changes nothing.
func (p Packing) Round(rows []float32, steps *Steps) {
	if steps == nil {
		return
	}
	for i, w := range rows[:p.Block()*Panel] {
		rows[i] = float32(quant.RoundWeight(w, steps[i%Panel]))
	}
}

// Round rounds some blocks of channels of rows pixels to bfloat16, and stores them in images in shape.RoundedBlocks. The blocks are jump values apart in x. An image has so many pixels.
// place is the number that the first value would have in shape.Blocks.
//
// Where the processor multiplies pairs of bfloat16 values, a place of the images holds two neighbouring channels. Elsewhere it holds one, as in shape.Blocks.
func Round(images, x []float32, place, jump, blocks, rows, pixels int) {
	const lanes = shape.BlockLanes
	if !Pairs() {
		for b := range blocks {
			vec.Round(images[place+b*pixels*lanes:][:rows*lanes], x[b*jump:])
		}
		return
	}
	for b := 0; b < blocks; b += 2 {
		BFloat16.Pixels(Lines(images, place+b*pixels*lanes, pixels), x[b*jump:], jump, 2, rows)
	}
}

// Lines returns images in shape.RoundedBlocks from the line of a pixel on: place is the number that the pixel's first value has in shape.Blocks.
func Lines(images []float32, place, pixels int) []float32 {
	const lanes = shape.BlockLanes
	if !Pairs() {
		return images[place:]
	}
	block, first := place/lanes/pixels, place/lanes%pixels
	return images[(block/2*pixels+first)*lanes:]
}

// AddRounded adds values of one block of channels of images in shape.RoundedBlocks to y. place is the number that the first one has in shape.Blocks.
func AddRounded(y, images []float32, place, pixels int) {
	const lanes = shape.BlockLanes
	if !Pairs() {
		vec.Add(y, y, images[place:place+len(y)])
		return
	}
	vconv.AddPairs(y, Lines(images, place, pixels)[place/lanes/pixels%2*lanes/2:])
}

// EachRounded calls f with the values of images in shape.RoundedBlocks, some at a time and in no particular order, and with how many came before. They are valid until f returns.
func EachRounded(images []float32, f func(at int, values []float32)) {
	if !Pairs() {
		f(0, images)
		return
	}
	var some [512]float32
	for at := 0; at < len(images)/2; at += len(some) / 2 {
		places := images[at:min(at+len(some)/2, len(images)/2)]
		for i, v := range places {
			some[2*i], some[2*i+1] = vec.Unpair(v)
		}
		f(2*at, some[:2*len(places)])
	}
}

// Pairs reports whether a place of images in shape.RoundedBlocks holds two values, as the factors of BFloat16 do.
func Pairs() bool { return vconv.HasPairs() }

// Restores reports whether Unpack can write weights: those of integers have lost too much.
func (p Packing) Restores() bool { return p.Head() == 0 }

// Unpack writes some blocks of rows of a panel, rounded.
func (p Packing) Unpack(rows, panel []float32, blocks int) { p.Unpanel(rows, panel, blocks*p.Block()) }
