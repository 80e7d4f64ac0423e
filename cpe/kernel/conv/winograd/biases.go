package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// addBiases sums DY over patches [first, last) of a group of channels, block by block, for a core group's share of the slices. One point of each
// transformed tile of DY is the sum of the tile, so that DY is not read again. Sums are in double precision. After the last patch they are added to the
// bias gradient, if that is asked for.
func (v *gradients) addBiases(g *cpe.CoreGroup, group, first, last int, results *pointPlanes) {
	db := v.Args.DB
	if db == nil {
		return
	}
	n := v.results.slices()
	lo, hi := g.Share(n)
	for slice := lo; slice < hi; slice++ {
		sums := v.biases[(group*n+slice)*sliceLanes:][:sliceLanes]
		if first == 0 {
			clear(sums)
		}
		var squares [sliceLanes]float64
		for at := first; at < last; at += v.block {
			values := v.tiles(at, min(last, at+v.block)) * sliceLanes
			tiles := results.at(v.tiles(first, at), slice, 0).Data[v.grid.form.SumPoint()*results.plane:]
			vnorm.BlockMoments(sums, squares[:], tiles[:values], noStart[:])
		}
		if last == v.grid.patches() {
			at := tiling.Nth(slice, sliceLanes, v.out)
			for i := range at.N {
				db[group*v.out+at.At+i] += float32(sums[i])
			}
		}
	}
}
