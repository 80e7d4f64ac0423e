package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
)

// sliceSums sums products over tiles, for points stored slice by slice. While it computes, it prefetches the next operands: one slice with
// each tile of rows.
type sliceSums struct {
	runs  vconv.PixelRuns
	ahead [2]sliceRun
}

// sliceRun is some slices of a point, jump values apart.
type sliceRun struct {
	data    []float32
	jump, n int
}

// run returns the slices of a point that contain the given channels, from a tile on.
func (p *pointPlanes) run(point int, channels tiling.Span, tile int) sliceRun {
	first := channels.At / sliceLanes
	return sliceRun{tiling.From(p.data, (first*p.points+point)*p.plane+tile*p.ld), p.points * p.plane, tiling.Blocks(channels.End(), sliceLanes) - first}
}

// sumColumns returns the largest number of input channels that are summed together.
func sumColumns() int {
	_, wide := vconv.PixelSumSize()
	return wide * sliceLanes
}

// add computes a matrix of output x input channels (at most sumColumns) and stores it in sums or adds it.
func (s *sliceSums) add(results, inputs sliceRun, outs tiling.Span, tiles int, sums cpe.Matrix, accumulate bool) {
	mr, _ := vconv.PixelSumSize()
	s.runs.Runs, s.runs.N, s.runs.JumpA, s.runs.JumpB = 1, tiles, results.jump, inputs.jump
	for row := 0; row < outs.N; {
		rows := outs.N - row
		s.runs.Ahead = nil
		for i := range s.ahead {
			if s.ahead[i].n > 0 {
				rows = s.fetch(&s.ahead[i], rows, mr)
				break
			}
		}
		vconv.PixelSums(&s.runs, results.data, inputs.data, sums.Data[row*sums.Ld:], sums.Ld, outs.At%sliceLanes+row, rows, inputs.n*sliceLanes, accumulate)
		row += rows
	}
}

// fetch selects slices of next to prefetch, one for each tile of mr rows. It returns the number of rows to compute meanwhile.
func (s *sliceSums) fetch(next *sliceRun, rows, mr int) int {
	s.runs.Ahead, s.runs.JumpAhead = next.data, next.jump
	n := next.n
	if n*mr > rows {
		n = tiling.Blocks(rows, mr)
	}
	if next.n -= n; next.n > 0 {
		next.data = next.data[n*next.jump:]
	}
	return min(rows, n*mr)
}
