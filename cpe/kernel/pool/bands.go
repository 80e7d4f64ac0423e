package pool

import "github.com/swcaffe/swcaffe/internal/simd/vpool"

// The methods of this file let a kernel that makes what is pooled, a convolution or a normalisation, pool it band by band while it is in
// a core's cache, and get the gradient of a band back.

// Band is rows of outputs and the inputs that they meet, or rows of inputs and the outputs that they meet.
type Band struct{ Inputs, Outputs vpool.Rows }

// Shape returns the pooling's shape.
func (p *Kernel) Shape() *Shape { return &p.shape }

// Blocked reports whether inputs, outputs or both lie in blocks of channels.
func (p *Kernel) Blocked() bool { return p.blocks != nil }

// ByPlanes reports whether whole planes are pooled with kernels made for the window; see MaxPlane.
func (p *Kernel) ByPlanes() bool { return p.planes != nil }

// SetMask sets the mask that MaxBand and MaxPlane write and MaxBandGrad and Taken read.
func (p *Kernel) SetMask(mask []int32) { p.mask = mask }

// BandOfOutputs returns the band of rows of outputs, for a pooling that is Blocked.
func (p *Kernel) BandOfOutputs(outputs vpool.Rows) Band {
	return Band{p.blocks.kernel.Inputs(outputs), outputs}
}

// BandOfInputs returns the band of rows of inputs, for a pooling that is Blocked.
func (p *Kernel) BandOfInputs(inputs vpool.Rows) Band {
	return Band{inputs, p.blocks.kernel.Outputs(inputs)}
}

// MaxBand pools a band of block n by maximum: x has its rows of inputs, y all outputs. Outputs that lie by planes pass through room, which
// has a band of them.
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
