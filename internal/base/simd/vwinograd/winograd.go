package vwinograd

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// Form is a minimal filtering F(Tile x Tile, Kernel x Kernel) (Lavin and Gray 2016, section 4).
type Form struct{ Tile, Kernel int }

// forms are those that have maps.
var forms = []Form{{2, 3}, {4, 3}, {4, 5}, {5, 3}}

// Has reports whether a form has maps.
func Has(f Form) bool { return slices.Contains(forms, f) }

// Edge is the edge of the squares of inputs of a tile, and of the squares of points.
func (f Form) Edge() int { return f.Tile + f.Kernel - 1 }

// Points is the number of points of a tile.
func (f Form) Points() int { return f.Edge() * f.Edge() }

// Taps is the number of weights of a kernel.
func (f Form) Taps() int { return f.Kernel * f.Kernel }

// SumPoint is the point 1 along both axes. There, OutputGrad's result is the sum of the square.
func (f Form) SumPoint() int { return f.Edge() + 1 }

// Map is one of the linear maps of a form:
//
//	Y = A'[(G w G') * (B' d B)]A
//
// for a square d of inputs, weights w and outputs Y, and of its gradients
//
//	dw = G'[(A dY A') * (B' d B)]G,  dd = B[(G w G') * (A dY A')]B'
//
// Neighbouring squares overlap, so that dd is added to their gradient.
type Map int

const (
	Input       Map = iota // B' d B
	Output                 // A' M A
	Weights                // G w G'
	OutputGrad             // A dY A'
	WeightsGrad            // G' M G
	InputGrad              // B M B', added to dst
	mapCount
)

// Lanes is the number of squares that are interleaved: value i of all of them, then value i+1.
const Lanes = isa.BlockLanes

// maxEdge is the largest edge of a square.
const maxEdge = 8

// Scratch is the number of float32 values of scratch memory that Apply needs.
const Scratch = maxEdge * maxEdge * Lanes

// Strides are the distances between rows, between columns and between squares, in values.
type Strides struct{ SrcRow, SrcCol, SrcNext, DstRow, DstCol, DstNext int }

// Bias has for each lane a value that Output adds, and a floor: lower results become the floor, NaN stays.
type Bias struct{ Add, Floor [Lanes]float32 }

// NewBias returns a Bias that changes nothing.
func NewBias() *Bias {
	b := &Bias{}
	for i := range b.Floor {
		b.Floor[i] = float32(math.Inf(-1))
	}
	return b
}

// noBias is used where Apply is given nil.
var noBias = NewBias()

// Apply applies a map to n squares of Lanes values each; the first begins at src[at]. Only Output reads bias, which may be nil. Strides of src may
// be negative.
func Apply(f Form, kind Map, dst, src []float32, at int, s *Strides, n int, bias *Bias, scratch []float32) {
	form := slices.Index(forms, f)
	if form < 0 {
		panic(fmt.Sprintf("vwinograd: there are no Apply maps for %v", f))
	}
	if n == 0 {
		return
	}
	m := matrices[form][kind]
	if bias == nil {
		bias = noBias
	}
	kernel := have.Winograd[kind][f.Tile][f.Kernel]
	if kernel == none {
		applyGo(m, kind, dst, src, at, s, n, bias)
		return
	}
	out, in := len(m)-1, len(m[0])-1
	last := at + in*(s.SrcRow+s.SrcCol) + (n-1)*s.SrcNext
	_, _, _ = src[at], src[last], dst[out*(s.DstRow+s.DstCol)+(n-1)*s.DstNext+Lanes-1]
	_ = scratch[Scratch-1]
	for lane := 0; lane < Lanes; lane += isa.Lanes() {
		kernel.run(&dst[lane], &src[at+lane], &scratch[0], &bias.Add[lane], &s.SrcRow, n)
	}
}

// lanes are a value of each of Lanes squares.
type lanes [Lanes]float64

// weighted sets l to the sum of x[0], x[apart], x[2*apart] and so on times the coefficients of a row of a matrix, added in this order. Four
// lanes at a time fit registers. Coefficients of 0 add nothing.
func (l *lanes) weighted(row []float64, x []lanes, apart int) {
	for lane := 0; lane < Lanes; lane += 4 {
		var a, b, c, d float64
		for k, by := range row {
			if by == 0 {
				continue
			}
			v := (*[4]float64)(x[k*apart][lane:])
			a += by * v[0]
			b += by * v[1]
			c += by * v[2]
			d += by * v[3]
		}
		*(*[4]float64)(l[lane:]) = [4]float64{a, b, c, d}
	}
}

// applyGo multiplies squares by a matrix from the left and by its transpose from the right, with float64 sums.
func applyGo(m matrix, kind Map, dst, src []float32, at int, s *Strides, n int, bias *Bias) {
	out, in := len(m), len(m[0])
	var half [maxEdge * maxEdge]lanes // src times the transpose
	for square := range n {
		for i := range in {
			var line [maxEdge]lanes
			for k := range in {
				for lane, v := range (*[Lanes]float32)(src[at+square*s.SrcNext+i*s.SrcRow+k*s.SrcCol:]) {
					line[k][lane] = float64(v)
				}
			}
			for j, row := range m {
				half[i*out+j].weighted(row, line[:in], 1)
			}
		}
		for i, row := range m {
			for j := range out {
				var sum lanes
				sum.weighted(row, half[j:], out)
				store(kind, (*[Lanes]float32)(dst[square*s.DstNext+i*s.DstRow+j*s.DstCol:]), &sum, bias)
			}
		}
	}
}

// store stores the results of a map as its kind says.
func store(kind Map, dst *[Lanes]float32, sum *lanes, bias *Bias) {
	for lane, v := range sum {
		switch kind {
		case Output:
			if v += float64(bias.Add[lane]); v < float64(bias.Floor[lane]) {
				v = float64(bias.Floor[lane])
			}
		case InputGrad:
			v += float64(dst[lane])
		}
		dst[lane] = float32(v)
	}
}
