package offsets

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// BFloat16 is the algorithm offsets-bf16.
var BFloat16 = conv.Algorithm{
	Name: "offsets-bf16", Doc: "offsets with factors rounded to bfloat16, for even strides along lines and planes of few channels, in a net for inference", Family: shape.Implicit,
	Types: op.RoundedFactors, Directions: []shape.Direction{shape.Forward},
	Supports: func(p *conv.Problem) error {
		return byVectors(p, op.FirstReason(onlyPlanes(p), fewChannels(p), pairable(p)))
	},
	Cost: pairCost, Works: works, Steps: conv.StepsForward, Kernel: conv.Staged(func(t *conv.Task) error { return prepare(t, true) }),
	Special: true,
}

// pairCost is the cost of pairs. Images of few channels are rounded and read for few products: AlexNet's first layer takes 1.35 times as long as by Winograd's algorithm, where the products alone
// would take as long.
func pairCost(p *conv.Problem) float64 {
	const copies = 1.4
	n := taps(&p.Shape)
	return copies * conv.OffsetCost(p) * float64(tiling.Blocks(n, 2)) / float64(n)
}

// pairable refuses strides along lines that are not even: pairs of neighbouring kernel columns would not be pairs of the image's columns for all pixels.
func pairable(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(op.Unless(p.Inference, "it is for weights that do not change"),
		op.Unless(len(s.In) == 2 && s.Stride[1]%2 == 0, "it computes only even strides along the lines of planes"))
}

// taps is the number of columns of a kernel.
func taps(s *shape.Conv) int { return s.Kernel[len(s.Kernel)-1] }

// The rounded band is a copy of the padded band in which a place holds two neighbouring columns of the image, where the processor multiplies pairs of bfloat16 values. Elsewhere it is the
// band with rounded values, and the second column of a pair is multiplied before the first, as the instruction does, so that sums have the same bits. A kernel of an odd number of columns has
// one more, of zeros.

// valuesOfPlace is the number of values that a place of the band holds.
func (v forwardPlan) valuesOfPlace() int {
	if v.rounds && factors.Pairs() {
		return 2
	}
	return 1
}

// cutRounded is Cut for rounded bands.
func (v *Kernel) cutRounded(rows int) {
	s, pairs := &v.Shape, tiling.Blocks(taps(&v.Shape), 2)
	width := max((v.Out.Cols()-1)*s.Stride[1]+2*pairs, s.In[1]+2*s.Pad[1])
	v.Padded = tensor.NewCopiedBand(*s, rows, width+width%2)
	b, per := &v.Padded, v.valuesOfPlace()
	v.shifts = v.shifts[:0]
	for c := range b.Channels {
		for y := range b.KH {
			line := c*b.Size()/b.Channels + y*b.Width
			for x := 0; x < 2*pairs; x += 2 {
				if per == 2 {
					v.shifts = append(v.shifts, (line+x)/2)
				} else {
					v.shifts = append(v.shifts, line+x+1, line+x)
				}
			}
		}
	}
	v.depth = tiling.Even(b.Channels*b.KH*pairs, passDepth, 1) * 2 / per // as many pairs in any case, so that sums have the same bits
	v.kept = op.Kept{Layout: fmt.Sprint("offsets bf16 ", v.Out.Channels, len(v.shifts)), Size: v.Weights(), Rounds: true, Restore: v.forwardPlan.unpackRounded}
}

// roundedBand is the number of values of memory for a band before and after rounding.
func (v *Kernel) roundedBand() int { return v.Padded.Size() * 2 }

// rounded returns the rounded band of some rows of an image.
func (v *Kernel) rounded(image, row, rows int, memory []float32) []float32 {
	size := v.Padded.Size()
	wide, made := memory[:size], memory[size:]
	v.Padded.Of(v.Args.X, image, row, rows, wide)
	plane, n := size/v.Padded.Channels, v.Padded.Lines(rows)*v.Padded.Width
	for at := 0; at < size; at += plane {
		if v.valuesOfPlace() == 2 {
			vconv.RoundPairs(made[at/2:], wide[at:at+n])
		} else {
			vec.Round(made[at:at+n], wide[at:at+n])
		}
	}
	return made
}

// packRounded packs the weights of some blocks of output channels, in the order of shifts.
func (v *Kernel) packRounded(memory []float32, lo, hi int) {
	w := v.Args.W
	weight := func(o, i int) float32 {
		if o >= v.Out.Channels || i < 0 {
			return 0
		}
		return w[o*v.kernelSize()+i]
	}
	for o := lo * shape.BlockLanes; o < hi*shape.BlockLanes; o++ {
		v.eachPair(memory, o, func(first, second int, pair []float32) {
			if v.valuesOfPlace() == 2 {
				pair[0] = vec.Pair(weight(o, first), weight(o, second))
			} else {
				pair[0], pair[conv.Panel] = vec.BFloat16(weight(o, second)), vec.BFloat16(weight(o, first))
			}
		})
	}
}

// unpackRounded writes all packed weights, which are rounded, in the order of Arrays.W.
func (v forwardPlan) unpackRounded(w, packed []float32) {
	for o := range v.Out.Channels {
		v.eachPair(packed, o, func(first, second int, pair []float32) {
			at, one, other := w[o*v.kernelSize():], float32(0), pair[0]
			if v.valuesOfPlace() == 2 {
				one, other = vec.Unpair(pair[0])
			} else {
				one = pair[conv.Panel]
			}
			if at[first] = one; second >= 0 {
				at[second] = other
			}
		})
	}
}

// kernelSize is the number of weights of an output channel.
func (v *forwardPlan) kernelSize() int { return v.Padded.Channels * v.Padded.KH * v.Padded.KW }

// eachPair calls f for all pairs of neighbouring weights of output channel o: their numbers, of which the second is -1 if there is none, and the packed weights from the pair on.
func (v *forwardPlan) eachPair(packed []float32, o int, f func(first, second int, pair []float32)) {
	const panel, lanes = conv.Panel, shape.BlockLanes
	packed = packed[o/panel*len(v.shifts)*panel+o%panel/lanes*lanes+o%lanes:]
	for line := range v.Padded.Channels * v.Padded.KH {
		for x := 0; x < v.Padded.KW; x += 2 {
			first, second := line*v.Padded.KW+x, line*v.Padded.KW+x+1
			if x+1 == v.Padded.KW {
				second = -1
			}
			f(first, second, packed)
			packed = packed[min(2/v.valuesOfPlace()*panel, len(packed)):]
		}
	}
}
