package simd

import "fmt"

// WinogradMap is one of the linear maps of Winograd's minimal filtering F(m x m, 3 x 3) (Lavin and Gray 2016, section 4),
//
//	Y = A'[(G w G') * (B' d B)]A
//
// for a square d of edge m+2, 3 x 3 weights w and m x m outputs Y, and of its gradient dw = G'[(A dY A') * (B' d B)]G.
type WinogradMap int

const (
	WinogradInput       WinogradMap = iota // B' d B
	WinogradOutput                         // A' M A
	WinogradWeights                        // G w G'
	WinogradOutputGrad                     // A dY A'
	WinogradWeightsGrad                    // G' M G
)

// WinogradLanes is how many squares a map works on side by side: their values lie in runs of so many.
const WinogradLanes = 16

// winogradSquare bounds the values of a square.
const winogradSquare = 6 * 6

// WinogradScratch is the number of values of scratch memory that a map needs.
const WinogradScratch = winogradSquare * WinogradLanes

// WinogradStrides are the distances of the rows and of the columns of a square, and of one square and the next.
type WinogradStrides struct{ SrcRow, SrcCol, SrcNext, DstRow, DstCol, DstNext int }

// winogradMatrix is a map of a line of a square.
type winogradMatrix [][]float32

// winogradMatrices by m/2-1 and map: the points are 0, 1, -1 and infinity, and for m = 4 also 2 and -2.
var winogradMatrices = [2][5]winogradMatrix{
	{
		{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
		{{1, 1, 1, 0}, {0, 1, -1, -1}},
		{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
		{{1, 0}, {1, 1}, {1, -1}, {0, -1}},
		{{1, 0.5, 0.5, 0}, {0, 0.5, -0.5, 0}, {0, 0.5, 0.5, 1}},
	}, {
		{{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}},
		{{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
		{{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}},
		{{1, 0, 0, 0}, {1, 1, 1, 1}, {1, -1, 1, -1}, {1, 2, 4, 8}, {1, -2, 4, -8}, {0, 0, 0, 1}},
		{{1. / 4, -1. / 6, -1. / 6, 1. / 24, 1. / 24, 0}, {0, -1. / 6, 1. / 6, 1. / 12, -1. / 12, 0}, {0, -1. / 6, -1. / 6, 1. / 6, 1. / 6, 1}},
	},
}

// noBias is added where there is no bias.
var noBias [WinogradLanes]float32

// Winograd applies a map of tile edge m (2 or 4) to n squares of WinogradLanes values each, the first of which begins at
// src[at]; bias, if not nil, has a value for each lane that WinogradOutput adds. Strides of src may be negative.
func Winograd(m int, kind WinogradMap, dst, src []float32, at int, s *WinogradStrides, n int, bias, scratch []float32) {
	if m != 2 && m != 4 {
		panic(fmt.Sprintf("simd: no Winograd map for tiles of edge %d", m))
	}
	if n == 0 {
		return
	}
	matrix := winogradMatrices[m/2-1][kind]
	if bias == nil {
		bias = noBias[:]
	}
	if active.width == 0 {
		winogradGo(matrix, kind == WinogradOutput, dst, src, at, s, n, bias)
		return
	}
	out, in := len(matrix)-1, len(matrix[0])-1
	last := at + in*(s.SrcRow+s.SrcCol) + (n-1)*s.SrcNext
	_, _, _ = src[at], src[last], dst[out*(s.DstRow+s.DstCol)+(n-1)*s.DstNext+WinogradLanes-1]
	_, _ = bias[WinogradLanes-1], scratch[WinogradScratch-1]
	for lane := 0; lane < WinogradLanes; lane += active.width {
		active.winograd(m, kind, &dst[lane], &src[at+lane], &scratch[0], &bias[lane], &s.SrcRow, n)
	}
}

// winogradGo multiplies squares with a matrix from the left and with its transpose from the right.
func winogradGo(matrix winogradMatrix, biased bool, dst, src []float32, at int, s *WinogradStrides, n int, bias []float32) {
	out, in := len(matrix), len(matrix[0])
	var half [winogradSquare]float32
	for square := range n {
		for lane := range WinogradLanes {
			from, to := at+square*s.SrcNext+lane, square*s.DstNext+lane
			for i := range in {
				for j, row := range matrix {
					half[i*out+j] = 0
					for k, v := range row {
						half[i*out+j] += v * src[from+i*s.SrcRow+k*s.SrcCol]
					}
				}
			}
			for i, row := range matrix {
				for j := range out {
					sum := float32(0)
					for k, v := range row {
						sum += v * half[k*out+j]
					}
					if biased {
						sum += bias[lane]
					}
					dst[to+i*s.DstRow+j*s.DstCol] = sum
				}
			}
		}
	}
}
