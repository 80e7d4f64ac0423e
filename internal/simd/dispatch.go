package simd

import "os"

// op names an elementwise kernel.
type op int

const (
	opFill op = iota
	opAdd
	opSub
	opMul
	opDiv
	opAddScalar
	opScale
	opAxpy
	opAxpby
	opMulAdd
	opSquare
	opSqrt
	opAbs
	opAffine
	opReLU
	opReLUGrad
	opMax
	opMin
	opMulSign
	opClamp
	opClampGrad
	opAbove
	opELUSlope
	opSigmoidGrad
	opTanhGrad
	opPReLU
	opPReLUGrad
	opTake
	opLarger
	opWhere
	opExp
	opLog
	opSigmoid
	opTanh
	opPow25
	opPow75
	opMulInvPow75
	opInverse
	opPow
)

// fold names a reduction.
type fold int

const (
	foldSum fold = iota
	foldDot
	foldSumSq
	foldAbsSum
)

// level is one set of kernels. A level of width zero is plain Go.
type level struct {
	name          string
	width         int
	mr, nr        int
	rows, vectors int // of the tile of ScatteredKernel
}

var (
	goLevel   = level{name: "go", mr: 4, nr: 8, rows: 4, vectors: 2}
	active    = &goLevel
	requested string
)

func init() {
	requested = os.Getenv("SWCAFFE_SIMD")
	active = choose(requested, supported())
}

// choose picks the level of a name, or the first of the list.
func choose(name string, levels []*level) *level {
	for _, l := range levels {
		if l.name == name {
			return l
		}
	}
	return levels[0]
}

// Name is the level in use: avx512, avx2 or go. A request that could not be
// met follows in parentheses.
func Name() string {
	if requested != "" && requested != active.name {
		return active.name + " (" + requested + " is not available)"
	}
	return active.name
}

// Levels are the names of the levels that this computer has, the best first.
func Levels() []string {
	var names []string
	for _, l := range supported() {
		names = append(names, l.name)
	}
	return names
}

// Micro returns the rows and columns of the tile of MicroKernel.
func Micro() (mr, nr int) { return active.mr, active.nr }

// Vectors reports whether the level in use computes with vectors; plain Go has no use for operands that are not packed.
func Vectors() bool { return active.width > 0 }
