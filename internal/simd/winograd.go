package simd

import (
	"fmt"
	"math"
	"slices"
)

// WinogradForm is one of Winograd's minimal filterings F(Tile x Tile, Kernel x Kernel) (Lavin and Gray 2016, section 4).
type WinogradForm struct{ Tile, Kernel int }

// winogradForms are those there are maps for.
var winogradForms = []WinogradForm{{2, 3}, {4, 3}, {4, 5}, {5, 3}}

// HasWinograd reports whether there are maps for a form.
func HasWinograd(f WinogradForm) bool { return slices.Contains(winogradForms, f) }

// Edge is the edge of the squares that tiles of outputs need, which is also that of the squares of points.
func (f WinogradForm) Edge() int { return f.Tile + f.Kernel - 1 }

// Points is the number of points of a tile.
func (f WinogradForm) Points() int { return f.Edge() * f.Edge() }

// Taps is the number of weights of a kernel.
func (f WinogradForm) Taps() int { return f.Kernel * f.Kernel }

// SumPoint is the point, 1 along both axes, at which WinogradOutputGrad gives the sum of a square.
func (f WinogradForm) SumPoint() int { return f.Edge() + 1 }

// WinogradMap is one of the linear maps of a form,
//
//	Y = A'[(G w G') * (B' d B)]A
//
// for a square d of inputs, weights w and outputs Y, and of its gradients dw = G'[(A dY A') * (B' d B)]G and, of which neighbouring
// squares have parts that are added up, dd = B[(G w G') * (A dY A')]B'.
type WinogradMap int

const (
	WinogradInput       WinogradMap = iota // B' d B
	WinogradOutput                         // A' M A
	WinogradWeights                        // G w G'
	WinogradOutputGrad                     // A dY A'
	WinogradWeightsGrad                    // G' M G
	WinogradInputGrad                      // B M B', added to what there is
	winogradMaps
)

// WinogradLanes is how many squares a map works on side by side: their values lie in runs of so many.
const WinogradLanes = BlockLanes

// winogradEdge bounds the edges of squares.
const winogradEdge = 8

// WinogradScratch is the number of values of scratch memory that a map needs.
const WinogradScratch = winogradEdge * winogradEdge * WinogradLanes

// WinogradStrides are the distances of the rows and of the columns of a square, and of one square and the next.
type WinogradStrides struct{ SrcRow, SrcCol, SrcNext, DstRow, DstCol, DstNext int }

// WinogradBias has, for each lane, a value that WinogradOutput adds, and one below which results do not go; NaN stays.
type WinogradBias struct{ Add, Floor [WinogradLanes]float32 }

// NewWinogradBias returns one that changes nothing.
func NewWinogradBias() *WinogradBias {
	b := &WinogradBias{}
	for i := range b.Floor {
		b.Floor[i] = float32(math.Inf(-1))
	}
	return b
}

// noBias is that of maps that are not given one.
var noBias = NewWinogradBias()

// Winograd applies a map to n squares of WinogradLanes values each, the first of which begins at src[at]; bias is of WinogradOutput, and
// may be nil. Strides of src may be negative.
func Winograd(f WinogradForm, kind WinogradMap, dst, src []float32, at int, s *WinogradStrides, n int, bias *WinogradBias, scratch []float32) {
	form := slices.Index(winogradForms, f)
	if form < 0 {
		panic(fmt.Sprintf("simd: there are no Winograd maps for %v", f))
	}
	if n == 0 {
		return
	}
	matrix := winogradMatrices[form][kind]
	if bias == nil {
		bias = noBias
	}
	if active.width == 0 {
		winogradGo(matrix, kind, dst, src, at, s, n, bias)
		return
	}
	out, in := len(matrix)-1, len(matrix[0])-1
	last := at + in*(s.SrcRow+s.SrcCol) + (n-1)*s.SrcNext
	_, _, _ = src[at], src[last], dst[out*(s.DstRow+s.DstCol)+(n-1)*s.DstNext+WinogradLanes-1]
	_ = scratch[WinogradScratch-1]
	for lane := 0; lane < WinogradLanes; lane += active.width {
		active.winograd(form, kind, &dst[lane], &src[at+lane], &scratch[0], &bias.Add[lane], &s.SrcRow, n)
	}
}

// winogradGo multiplies squares with a matrix from the left and with its transpose from the right, with sums of double precision.
func winogradGo(matrix winogradMatrix, kind WinogradMap, dst, src []float32, at int, s *WinogradStrides, n int, bias *WinogradBias) {
	out, in := len(matrix), len(matrix[0])
	var half [winogradEdge * winogradEdge]float64
	for square := range n {
		for lane := range WinogradLanes {
			from, to := at+square*s.SrcNext+lane, square*s.DstNext+lane
			for i := range in {
				for j, row := range matrix {
					half[i*out+j] = 0
					for k, v := range row {
						half[i*out+j] += v * float64(src[from+i*s.SrcRow+k*s.SrcCol])
					}
				}
			}
			for i, row := range matrix {
				for j := range out {
					sum := 0.0
					for k, v := range row {
						sum += v * half[k*out+j]
					}
					at := to + i*s.DstRow + j*s.DstCol
					switch kind {
					case WinogradOutput:
						sum = max(sum+float64(bias.Add[lane]), float64(bias.Floor[lane]))
					case WinogradInputGrad:
						sum += float64(dst[at])
					}
					dst[at] = float32(sum)
				}
			}
		}
	}
}
