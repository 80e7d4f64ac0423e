package kernel

import "github.com/swcaffe/swcaffe/internal/simd/vpool"

// The methods of this file let a kernel that makes what is pooled, a convolution or a normalisation, pool it band by band while it is in
// a core's cache, and get the gradient of a band back.

// poolBand is rows of outputs and the inputs that they meet, or rows of inputs and the outputs that they meet.
type poolBand struct{ inputs, outputs vpool.Rows }

// Shape returns the pooling's shape.
func (p *Pool) Shape() *PoolShape { return &p.shape }

// Blocked reports whether inputs, outputs or both lie in blocks of channels.
func (p *Pool) Blocked() bool { return p.blocks != nil }

// ByPlanes reports whether the host pools whole planes with kernels made for the window; see MaxPlane.
func (p *Pool) ByPlanes() bool { return p.planes != nil }

// SetMask sets the mask that MaxBand and MaxPlane write and MaxBandGrad and Taken read.
func (p *Pool) SetMask(mask []int32) { p.mask = mask }

// inputRows returns the band of rows of outputs, for a pooling that is Blocked.
func (p *Pool) inputRows(outputs vpool.Rows) poolBand {
	return poolBand{p.blocks.kernel.Inputs(outputs), outputs}
}

// outputRows returns the band of rows of inputs, for a pooling that is Blocked.
func (p *Pool) outputRows(inputs vpool.Rows) poolBand {
	return poolBand{inputs, p.blocks.kernel.Outputs(inputs)}
}

// maxBand pools a band of block n by maximum: x has its rows of inputs, y all outputs. Outputs that lie by planes pass through room, which
// has a band of them.
func (p *Pool) maxBand(y []float32, n int, b *poolBand, x, room []float32) {
	to, taken := p.outputsOf(y, n, room)
	p.blocks.kernel.Max(to.place(b.outputs), taken[to.at(b.outputs):], x, b.outputs, p.shape.ReLU)
	to.store(b.outputs)
}

// maxBandGrad writes the gradient of a band's rows of inputs of block n to dx; dy is that of all outputs.
func (p *Pool) maxBandGrad(dx []float32, n int, b *poolBand, dy, room []float32) {
	from, taken := p.outputsOf(dy, n, room)
	p.blocks.kernel.MaxGrad(dx, from.load(b.outputs), taken[from.at(b.outputs):], b.inputs)
}
