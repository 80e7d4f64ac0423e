package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// FewImages is the largest batch whose sums are cut for a few core groups. A larger one is also computed on dozens.
const FewImages = 32

const (
	// mostParts is the largest number of parts of a sum, and partsValues the largest number of values of more parts than few core groups need: 16 MB.
	mostParts, partsValues = 64, 4 << 20
)

// Parts returns the number of parts of a sum over some units of a batch of images: few, or so many powers of two times it that each part has least units or
// more. size is the number of values of a part, or 0 if nothing bounds the memory of all. It depends on the problem alone, as the bits of the sum do.
func Parts(images, units, few, least, size int) int {
	n := few
	for images > FewImages && 2*n <= min(mostParts, units/least, partsValues/max(1, size)) {
		n *= 2
	}
	return min(n, units)
}

// Sums is a fixed number of partial sums of a gradient in memory that all core groups share. The number depends on the shape alone, so that
// results have the same bits on any number of core groups. In one stage core groups compute whole parts; in the next they collect values. Sums
// that have the order of DW use stream.Partials instead.
type Sums struct{ Parts, Size int }

// Values is the number of values of all parts.
func (s Sums) Values() int { return s.Parts * s.Size }

// Of returns a part.
func (s Sums) Of(memory []float32, part int) []float32 { return memory[part*s.Size:][:s.Size] }

// Collect adds values [at, at+n) of all parts as a tree, neighbours first, and returns the sums. They overwrite those of the first part.
func (s Sums) Collect(memory []float32, at, n int) []float32 {
	for step := 1; step < s.Parts; step *= 2 {
		for part := 0; part+step < s.Parts; part += 2 * step {
			sums := memory[part*s.Size+at:][:n]
			vec.Add(sums, sums, memory[(part+step)*s.Size+at:])
		}
	}
	return memory[at:][:n]
}

// SumsOfDW are the parts of a weight gradient, in the order of DW. They lie in shared memory, from From on, and are added to DW, from To on, by this stage. A
// single part needs no memory of its own: it is DW.
type SumsOfDW struct {
	*Task
	Sums
	From, To int
}

// Values is the number of values of memory.
func (s *SumsOfDW) Values() int {
	if s.Parts == 1 {
		return 0
	}
	return s.Sums.Values()
}

// Part returns the memory of a part.
func (s *SumsOfDW) Part(g *cpe.CoreGroup, part int) []float32 {
	if s.Parts == 1 {
		return tiling.From(s.Args.DW, s.To)
	}
	return s.Of(tiling.From(g.Common(s.Reserved.Common), s.From), part)
}

// Name names the stage.
func (s *SumsOfDW) Name() string {
	return "convolution " + shape.WeightGradient.String() + ", collecting"
}

// RunGroup adds a core group's share of the values of all parts, and stores them in DW or adds them.
func (s *SumsOfDW) RunGroup(g *cpe.CoreGroup) error {
	const piece = 1 << 11
	lo, hi := tiling.Share(g, s.Size, piece)
	for at := lo; at < hi; at += piece {
		n := min(piece, hi-at)
		sums, to := s.Collect(g.Common(s.Reserved.Common)[s.From:], at, n), s.Args.DW[s.To+at:][:n]
		if s.Args.Add {
			vec.Add(to, to, sums)
		} else {
			copy(to, sums)
		}
	}
	return nil
}
