package kernel

import (
	"fmt"
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// Blocks reports whether inputs and outputs may lie in blocks of channels, each independently of the other.
func (p *Pool) Blocks() bool {
	s := &p.shape
	told := s.Method == PoolAve || s.Method == PoolMax && s.KH*s.KW <= simd.MaxBlockWindow
	return p.machine.Native() && told && s.C > 0 && s.C%BlockLanes == 0 && s.meets()
}

// prepareBlocks prepares what the host does where inputs or outputs lie in blocks.
func (p *Pool) prepareBlocks() error {
	s := &p.shape
	if !s.InBlocks && !s.OutBlocks {
		return nil
	}
	if !p.Blocks() {
		return fmt.Errorf("windows of %d x %d of %d channels cannot be pooled in blocks of channels", s.KH, s.KW, s.C)
	}
	p.blocks = simd.NewBlockPool(simd.BlockPoolShape{
		H: s.H, W: s.W, OH: s.OH, OW: s.OW, KH: s.KH, KW: s.KW, SH: s.SH, SW: s.SW, Top: s.PH, Left: s.PW, Means: s.Method == PoolAve,
	})
	return nil
}

// turnsIn and turnsOut report whether planes of inputs, or of outputs, lie otherwise than the kernels want them.
func (s *PoolShape) turnsIn() bool  { return !s.InBlocks && s.H*s.W > 1 }
func (s *PoolShape) turnsOut() bool { return !s.OutBlocks && s.OH*s.OW > 1 }

// room is what a core group has to itself: a block of inputs and one of outputs that are turned, or of what outputs' gradients give each
// input of a mean.
func (p *Pool) room() (in, out int) {
	s := &p.shape
	if s.turnsIn() {
		in = s.H * s.W * BlockLanes
	}
	if s.turnsOut() || s.Method == PoolAve {
		out = s.OH * s.OW * BlockLanes
	}
	return in, out
}

// scratch is what rooms take.
func (p *Pool) scratch() cpe.Scratch {
	if p.blocks == nil {
		return cpe.Scratch{}
	}
	in, out := p.room()
	return cpe.Scratch{Group: in + out}
}

// Scratch returns how many values of scratch Forward and Backward take.
func (p *Pool) Scratch() int { return p.scratch().Values(p.machine.Spec().CoreGroups) }

// runBlocks does a core group's share of the blocks of channels.
func (p *Pool) runBlocks(g *cpe.CoreGroup) {
	s := &p.shape
	inRoom, outRoom := p.room()
	memory := g.Memory(inRoom + outRoom)
	in, out := s.H*s.W*BlockLanes, s.OH*s.OW*BlockLanes
	lo, hi := g.Share(s.N * s.C / BlockLanes)
	for n := lo; n < hi; n++ {
		x, y := p.x[n*in:(n+1)*in], p.y[n*out:(n+1)*out]
		var taken []uint8
		if s.Masked() {
			taken = p.maskBytes()[n*out : (n+1)*out]
		}
		if p.backward {
			p.blockGrad(x, y, taken, memory[:inRoom], memory[inRoom:])
		} else {
			p.blockForward(y, x, taken, memory[:inRoom], memory[inRoom:])
		}
	}
}

// blockForward pools a block, in rooms where it must be turned.
func (p *Pool) blockForward(y, x []float32, taken []uint8, inRoom, outRoom []float32) {
	s, to := &p.shape, y
	if s.turnsIn() {
		ToBlocks(inRoom, x, BlockLanes, s.H*s.W)
		x = inRoom
	}
	if s.turnsOut() {
		to = outRoom
	}
	if s.Method == PoolAve {
		p.blocks.Average(to, x)
	} else {
		p.blocks.Max(to, taken, x, s.ReLU)
	}
	if s.turnsOut() {
		FromBlocks(y, to, BlockLanes, s.OH*s.OW)
	}
}

// blockGrad works out the gradient of a block, in rooms where it must be turned.
func (p *Pool) blockGrad(dx, dy []float32, taken []uint8, inRoom, outRoom []float32) {
	s, to := &p.shape, dx
	if s.turnsOut() {
		ToBlocks(outRoom, dy, BlockLanes, s.OH*s.OW)
		dy = outRoom
	}
	if s.turnsIn() {
		to = inRoom
	}
	if s.Method == PoolAve {
		p.blocks.AverageGrad(to, dy, outRoom)
	} else {
		p.blocks.MaxGrad(to, dy, taken)
	}
	if s.turnsIn() {
		FromBlocks(dx, to, BlockLanes, s.H*s.W)
	}
}

// maskBytes are the bytes of the mask's words.
func (p *Pool) maskBytes() []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(p.mask))), 4*len(p.mask))
}
