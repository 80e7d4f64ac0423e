package pool

import (
	"fmt"
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// Blocks reports whether inputs and outputs may lie in blocks of channels, each independently of the other.
func (p *Kernel) Blocks() bool { return shape.HasBlocks(p.machine) && p.shape.Blockable() }

// Blockable reports whether there are kernels for the shape in blocks of channels.
func (s *Shape) Blockable() bool {
	known := s.Method == Ave || s.Method == Max && s.KH*s.KW <= vpool.MaxBlockWindow
	return known && s.C*s.H*s.W > 0 && s.C%shape.BlockLanes == 0 && s.Meets()
}

// blockPool pools in blocks of channels. Inputs or outputs in planes are reordered, a band of rows at a time.
type blockPool struct {
	shape           *Shape
	kernel          *vpool.Blocks
	forward, grad   Bands
	inRoom, outRoom int // values of a core group's buffers: bands that are reordered; with means also shares of the outputs' gradients
}

// reorderedValues is about the number of inputs of a block that are reordered at a time, so that they are still in L2 when they are pooled.
const reorderedValues = 32 << 10

// inBlocks reports whether inputs, outputs or both lie in blocks of channels.
func (s *Shape) inBlocks(*cpe.Spec, shape.Direction) bool { return s.InBlocks || s.OutBlocks }

// inPlanes reports whether both lie in planes.
func (s *Shape) inPlanes(*cpe.Spec, shape.Direction) bool { return !s.InBlocks && !s.OutBlocks }

// prepareBlocks prepares pooling in blocks of channels. It returns an error if there are no kernels for that.
func (p *Kernel) prepareBlocks() error {
	s := &p.shape
	if !p.Blocks() {
		return fmt.Errorf("windows of %d x %d of %d channels cannot be pooled in blocks of channels", s.KH, s.KW, s.C)
	}
	b := &blockPool{shape: s, kernel: vpool.NewBlocks(vpool.BlocksShape{
		H: s.H, W: s.W, OH: s.OH, OW: s.OW, KH: s.KH, KW: s.KW, SH: s.SH, SW: s.SW, Top: s.PH, Left: s.PW, Means: s.Method == Ave,
	})}
	p.blocks = b
	rows := s.H
	if s.turnsIn() || s.TurnsOut() {
		rows = min(rows, max(1, reorderedValues/(s.W*shape.BlockLanes)))
	}
	b.grad, b.forward = p.BandsOfInputs(rows), p.BandsOfOutputs(max(1, rows/s.SH))
	if s.turnsIn() {
		b.inRoom = max(b.grad.Inputs, b.forward.Inputs)
	}
	if s.TurnsOut() || s.Method == Ave {
		b.outRoom = max(b.grad.Outputs, b.forward.Outputs)
	}
	return nil
}

// turnsIn reports whether inputs are in planes although kernels read blocks of channels. Planes of one pixel are the same as blocks.
func (s *Shape) turnsIn() bool { return !s.InBlocks && s.H*s.W > 1 }

// TurnsOut reports whether outputs are in planes although kernels write blocks of channels.
func (s *Shape) TurnsOut() bool { return !s.OutBlocks && s.OH*s.OW > 1 }

// Turns returns how many times a forward and a backward pass reorder inputs or outputs between planes and blocks of channels, and of how many
// values in all.
func (p *Kernel) Turns() (times, values int) {
	if p.blocks == nil {
		return 0, 0
	}
	s := &p.shape
	if s.turnsIn() {
		times, values = times+2, values+2*s.N*s.C*s.H*s.W
	}
	if s.TurnsOut() {
		times, values = times+2, values+2*s.N*s.C*s.OH*s.OW
	}
	return times, values
}

// scratch returns the need of the core groups' buffers.
func (b *blockPool) scratch() cpe.Scratch {
	if b == nil {
		return cpe.Scratch{}
	}
	return cpe.Scratch{Group: b.inRoom + b.outRoom}
}

// Scratch returns the number of values of scratch memory that Forward and Backward use.
func (p *Kernel) Scratch() int { return p.machine.Needs(p.blocks.scratch()) }

// runBlocks pools a core group's share of the blocks of channels.
func (p *Kernel) runBlocks(g *cpe.CoreGroup) error {
	s, b := &p.shape, p.blocks
	memory := g.Memory(b.inRoom + b.outRoom)
	inRoom, outRoom := memory[:b.inRoom], memory[b.inRoom:]
	in := s.H * s.W * shape.BlockLanes
	lo, hi := g.Share(s.N * s.C / shape.BlockLanes)
	for n := lo; n < hi; n++ {
		x := blockPlanes{p.x[n*in : (n+1)*in], s.W, s.turnsIn(), inRoom}
		y, taken := p.outputsOf(p.y, n, outRoom)
		if p.backward {
			b.backward(&x, &y, taken)
		} else {
			b.pool(&y, &x, taken)
		}
	}
	return nil
}

// outputsOf returns block n of the outputs y, with room for reordered ones, and its part of the mask, if there is one.
func (p *Kernel) outputsOf(y []float32, n int, room []float32) (outputs blockPlanes, taken []uint8) {
	s := &p.shape
	lo, hi := n*s.OH*s.OW*shape.BlockLanes, (n+1)*s.OH*s.OW*shape.BlockLanes
	if s.Masked() {
		taken = p.maskBytes()[lo:hi]
	}
	return blockPlanes{y[lo:hi], s.OW, s.TurnsOut(), room}, taken
}

// pool pools a block.
func (b *blockPool) pool(y, x *blockPlanes, taken []uint8) {
	for i := range b.forward.List {
		r := &b.forward.List[i]
		from, to := x.load(r.Inputs), y.place(r.Outputs)
		if b.shape.Method == Ave {
			b.kernel.Average(to, from, r.Outputs)
		} else {
			b.kernel.Max(to, taken[y.at(r.Outputs):], from, r.Outputs, b.shape.ReLU)
		}
		y.store(r.Outputs)
	}
}

// backward computes the gradient of a block.
func (b *blockPool) backward(dx, dy *blockPlanes, taken []uint8) {
	for i := range b.grad.List {
		r := &b.grad.List[i]
		from, to := dy.load(r.Outputs), dx.place(r.Inputs)
		if b.shape.Method == Ave {
			b.kernel.AverageGrad(to, from, dy.room, r.Inputs)
		} else {
			b.kernel.MaxGrad(to, from, taken[dy.at(r.Outputs):], r.Inputs)
		}
		dx.store(r.Inputs)
	}
}

// maskBytes returns the mask as bytes.
func (p *Kernel) maskBytes() []uint8 { return MaskBytes(p.mask) }

// MaskBytes returns the words of a mask as bytes.
func MaskBytes(words []int32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// blockPlanes are the channels of a block, in rows of width pixels. If they are in planes, kernels see a reordered copy of some rows in room.
type blockPlanes struct {
	data   []float32
	width  int
	planes bool
	room   []float32
}

// at returns the index of the first of some rows in a block.
func (b *blockPlanes) at(rows vpool.Rows) int { return rows.From * b.width * shape.BlockLanes }

// place returns the memory to which kernels write rows.
func (b *blockPlanes) place(rows vpool.Rows) []float32 {
	if b.planes {
		return b.room
	}
	return b.data[b.at(rows):]
}

// load returns rows for kernels to read.
func (b *blockPlanes) load(rows vpool.Rows) []float32 {
	if b.planes {
		vec.Transpose(b.room, b.data[rows.From*b.width:], shape.BlockLanes, len(b.data)/shape.BlockLanes, shape.BlockLanes, (rows.To-rows.From)*b.width)
	}
	return b.place(rows)
}

// store reorders rows that kernels have written, if they are in planes.
func (b *blockPlanes) store(rows vpool.Rows) {
	if b.planes {
		vec.Transpose(b.data[rows.From*b.width:], b.room, len(b.data)/shape.BlockLanes, shape.BlockLanes, (rows.To-rows.From)*b.width, shape.BlockLanes)
	}
}
