package winograd

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// sliceLayout is the order in which panelsKernel keeps weights that do not change: for each slice of 16 output channels and each input channel the kernel's taps, with the
// output channels side by side. The weights' own order has output channels far apart. It holds as many values, and does not depend on the size of tiles;
// transformed weights would be four times as many with tiles of 4x4, and take longer to read than to make.
type sliceLayout struct {
	groups, in, out, taps int // channels of a group
	backward              bool
}

// at is where the taps of an input channel and a slice begin.
func (l sliceLayout) at(group, slice, in int) int {
	return ((group*tiling.Blocks(l.out, sliceLanes)+slice)*l.in + in) * l.taps * sliceLanes
}

// size is the number of values.
func (l sliceLayout) size() int { return l.at(l.groups, 0, 0) }

// weight is where the weights of some output and input channels of a group are in Arrays.W, and the distance of their rows: those of output channels or, backward, of input
// channels.
func (l sliceLayout) weight(group, out, in int) (at, row int) {
	at = group * l.in * l.out * l.taps
	if l.backward {
		return at + (in*l.out+out)*l.taps, l.out * l.taps
	}
	return at + (out*l.in+in)*l.taps, l.in * l.taps
}

// pack puts the weights of some inputs and a slice of outs side by side, with zeros in lanes past the last channel.
func (l sliceLayout) pack(taps, w []float32, group int, outs, ins tiling.Span) {
	at, row := l.weight(group, outs.At, ins.At)
	if outs.N < sliceLanes {
		clear(taps[:ins.N*l.taps*sliceLanes])
	}
	if !l.backward {
		vec.Transpose(taps, w[at:], sliceLanes, row, outs.N, ins.N*l.taps)
		return
	}
	for i := range ins.N {
		vec.Transpose(taps[i*l.taps*sliceLanes:], w[at+i*row:], sliceLanes, l.taps, outs.N, l.taps)
	}
}

// unpack writes all packed weights back to the order of Arrays.W.
func (l sliceLayout) unpack(w, packed []float32) {
	for group := range l.groups {
		for out := 0; out < l.out; out += sliceLanes {
			lanes, from := min(sliceLanes, l.out-out), packed[l.at(group, out/sliceLanes, 0):]
			at, row := l.weight(group, out, 0)
			if !l.backward {
				vec.Transpose(w[at:], from, row, sliceLanes, row, lanes)
				continue
			}
			for i := range l.in {
				vec.Transpose(w[at+i*row:], from[i*l.taps*sliceLanes:], l.taps, sliceLanes, l.taps, lanes)
			}
		}
	}
}

// packSlices is the stage that packs weights that do not change.
type packSlices struct{ *panelsKernel }

// Name names the stage.
func (p packSlices) Name() string { return p.panelsKernel.Name() + ", packing weights" }

// RunGroup packs a core group's share.
func (p packSlices) RunGroup(g *cpe.CoreGroup) error {
	l, memory := p.slices(), p.kept.Memory(g, p.Args.Fixed, p.kept.Size)
	slices, chunks := tiling.Blocks(l.out, sliceLanes), tiling.Blocks(l.in, filterInputs)
	lo, hi := g.Share(l.groups * slices * chunks)
	for i := lo; i < hi; i++ {
		group, slice, in := i/chunks/slices, i/chunks%slices, i%chunks*filterInputs
		outs, ins := tiling.Span{At: slice * sliceLanes, N: min(sliceLanes, l.out-slice*sliceLanes)}, tiling.Span{At: in, N: min(filterInputs, l.in-in)}
		l.pack(memory[l.at(group, slice, in):], p.Args.W, group, outs, ins)
	}
	return nil
}

// keep prepares for weights that do not change, and returns the stage that packs them.
func (v *panelsKernel) keep() conv.Stage {
	l := v.slices()
	v.kept = op.Kept{Layout: fmt.Sprint("winograd slices ", l), Size: l.size(), Restore: l.unpack}
	v.Kept = &v.kept
	return conv.Stage{Program: packSlices{v}, Skipped: func() bool { return v.Args.Fixed == nil }, Packs: &v.kept}
}
