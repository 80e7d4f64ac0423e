package pool

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// The methods of this file let a convolution or a normalisation pool its results band by band while they are in a core's cache, and compute
// the gradient of a band.

// Band is rows of outputs and the inputs in their windows, or rows of inputs and the outputs whose windows they are in.
type Band struct{ Inputs, Outputs vpool.Rows }

// Bands are the bands of an image, from top to bottom. Inputs and Outputs are the most values that a band has of a block of channels.
type Bands struct {
	List            []Band
	Inputs, Outputs int
}

// add appends a band.
func (b *Bands) add(s *Shape, band Band) {
	b.List = append(b.List, band)
	b.Inputs = max(b.Inputs, (band.Inputs.To-band.Inputs.From)*s.W*shape.BlockLanes)
	b.Outputs = max(b.Outputs, (band.Outputs.To-band.Outputs.From)*s.OW*shape.BlockLanes)
}

// Shape returns the pooling's shape.
func (p *Kernel) Shape() *Shape { return &p.shape }

// Blocked reports whether inputs, outputs or both lie in blocks of channels.
func (p *Kernel) Blocked() bool { return p.blocks != nil }

// ByPlanes reports whether whole planes are pooled with kernels made for the window; see MaxPlane.
func (p *Kernel) ByPlanes() bool { return p.planes != nil }

// SetMask sets the mask that MaxBand and MaxPlane write and MaxBandGrad and Maxima read.
func (p *Kernel) SetMask(mask []int32) { p.mask = mask }

// BandOfOutputs returns the band of rows of outputs, for a pooling that is Blocked.
func (p *Kernel) BandOfOutputs(outputs vpool.Rows) Band {
	return Band{p.blocks.kernel.Inputs(outputs), outputs}
}

// BandOfInputs returns the band of rows of inputs, for a pooling that is Blocked.
func (p *Kernel) BandOfInputs(inputs vpool.Rows) Band {
	return Band{inputs, p.blocks.kernel.Outputs(inputs)}
}

// BandsOfOutputs returns the bands of rows of outputs each, for a pooling that is Blocked.
func (p *Kernel) BandsOfOutputs(rows int) (b Bands) {
	s := &p.shape
	for y := 0; y < s.OH; y += rows {
		b.add(s, p.BandOfOutputs(vpool.Rows{From: y, To: min(y+rows, s.OH)}))
	}
	return b
}

// BandsOfInputs returns the bands of rows of inputs each, for a pooling that is Blocked.
func (p *Kernel) BandsOfInputs(rows int) (b Bands) {
	s := &p.shape
	for y := 0; y < s.H; y += rows {
		b.add(s, p.BandOfInputs(vpool.Rows{From: y, To: min(y+rows, s.H)}))
	}
	return b
}

// MaxBand pools a band of block n by maximum: x has its rows of inputs, y all outputs. Outputs in planes pass through room, which holds a band
// of them.
func (p *Kernel) MaxBand(y []float32, n int, b *Band, x, room []float32) {
	to, taken := p.outputsOf(y, n, room)
	p.blocks.kernel.Max(to.place(b.Outputs), taken[to.at(b.Outputs):], x, b.Outputs, p.shape.ReLU)
	to.store(b.Outputs)
}

// MaxBandGrad writes the gradient of a band's rows of inputs of block n to dx; dy is that of all outputs.
func (p *Kernel) MaxBandGrad(dx []float32, n int, b *Band, dy, room []float32) {
	from, taken := p.outputsOf(dy, n, room)
	p.blocks.kernel.MaxGrad(dx, from.load(b.Outputs), taken[from.at(b.Outputs):], b.Inputs)
}
