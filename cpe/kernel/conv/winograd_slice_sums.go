package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
)

// sliceSums adds up products of points over tiles, where points lie slice by slice. Meanwhile it fetches what comes next, a slice
// with each tile of rows.
type sliceSums struct {
	runs  vconv.PixelRuns
	ahead [2]sliceRun
}

// sliceRun is some slices of a point, jump apart.
type sliceRun struct {
	data    []float32
	jump, n int
}

// run is the slices of a point that have some channels.
func (p *pointPlanes) run(point int, channels tiling.Span) sliceRun {
	first := channels.At / winogradLanes
	return sliceRun{tiling.From(p.data, (first*p.points+point)*p.plane), p.points * p.plane, tiling.Blocks(channels.End(), winogradLanes) - first}
}

// sumColumns is how many inputs are added up together at most.
func sumColumns() int {
	_, wide := vconv.PixelSumSize()
	return wide * winogradLanes
}

// add makes a matrix of outputs x inputs, up to sumColumns of these, of the slices that have them, or adds to it.
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
		vconv.PixelSums(&s.runs, results.data, inputs.data, sums.Data[row*sums.Ld:], sums.Ld, outs.At%winogradLanes+row, rows, inputs.n*winogradLanes, accumulate)
		row += rows
	}
}

// fetch takes slices of what comes next, one for each tile of mr rows, and returns the rows that they are fetched with.
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
