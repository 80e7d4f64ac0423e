// Package isa knows the levels of vector instructions: AVX-512, AVX2 with FMA, NEON, and plain Go.
//
// A Level says how many float32 values a vector has. The best level that the processor and the operating system support is chosen once, when
// the program starts. The environment variable SWCAFFE_SIMD (avx512, avx2, neon or go) asks for another one, and, behind a colon, for some kernels alone,
// joined with +: with avx2:vgemm.Micro everything but the micro-kernel of products is computed in Go. If what it asks for is unknown or not supported, the best
// level is used, and Name returns the request too. A program linked with
//
//	-ldflags "-X github.com/swcaffe/swcaffe/internal/base/simd/isa.requested=go"
//
// asks for that level if the variable is not set. go test caches the results of such a program separately.
//
// The packages beside this one have a table each, of their block sizes and their kernels in assembly. They Offer the tables of the levels, and find
// the entries of the level in use in a variable. What a table has no kernel for is computed by a loop in Go.
package isa

import (
	"os"
	"slices"
	"strings"
)

// Level is a level of vector instructions.
type Level struct {
	Name  string
	Lanes int // float32 values of a vector, 0 for plain Go
}

// BlockLanes is the number of channels that lie side by side where images lie in blocks of channels: the widest vector's lanes.
const BlockLanes = 16

// plain is Go without vectors, which every computer has.
var plain = Level{Name: "go"}

var (
	active    = &plain
	only      []string // the kernels in use; nil for all
	requested string
)

func init() {
	if level := os.Getenv("SWCAFFE_SIMD"); level != "" {
		requested = level
	}
	active, only = choose(requested, supported())
}

// choose picks the level and the kernels of a request, or the first of the list with all its kernels.
func choose(request string, levels []*Level) (*Level, []string) {
	name, kernels, some := strings.Cut(request, ":")
	for _, l := range levels {
		if l.Name == name {
			if some {
				return l, strings.Split(kernels, "+")
			}
			return l, nil
		}
	}
	return levels[0], nil
}

// Name is the level in use: avx512, avx2, neon or go, and the kernels in use if not all are. A request that could not be met follows in parentheses.
func Name() string {
	name := active.Name
	if only != nil {
		name += ":" + strings.Join(only, "+")
	}
	missing := func(kernel string) bool { return !offered[kernel] }
	if requested != "" && requested != name || slices.ContainsFunc(only, missing) {
		return name + " (" + requested + " is not available)"
	}
	return name
}

// Levels are the names of the levels that this computer has, the best first.
func Levels() []string {
	var names []string
	for _, l := range supported() {
		names = append(names, l.Name)
	}
	return names
}

// Use changes the level to what a name asks for, as SWCAFFE_SIMD does, and returns a function that changes it back. It is for tests: no kernel may
// run meanwhile.
func Use(name string) (restore func()) {
	level, kernels := choose(name, supported())
	if had, _, _ := strings.Cut(name, ":"); level.Name != had {
		panic("isa: this computer has no level " + name)
	}
	before, some := active, only
	set(level, kernels)
	return func() { set(before, some) }
}

// set changes the level and all tables.
func set(level *Level, kernels []string) {
	active, only = level, kernels
	for _, enter := range tables {
		enter()
	}
}

// Lanes is the number of float32 values of a vector at the level in use, 0 for plain Go.
func Lanes() int { return active.Lanes }

// Whole is the number of values in the whole vectors that n values fill; 0 for plain Go.
func Whole(n int) int {
	w := active.Lanes
	if w == 0 {
		return 0
	}
	return n / w * w
}

// words are 16 words of ones, then 16 of zeros.
var words = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// Mask points to the words of a mask of the first n lanes; n is at most 16. Kernels that count lanes themselves get Mask(0): the mask of n lanes
// begins n words before it.
func Mask(n int) *int32 { return &words[16-n] }
