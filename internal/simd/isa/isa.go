// Package isa knows the levels of vector instructions: AVX-512, AVX2 with FMA, and plain Go.
//
// A Level says how many float32 values a vector has. The best level that the processor and the operating system support is chosen once, when
// the program starts. The environment variable SWCAFFE_SIMD (avx512, avx2 or go) asks for another one. If that is unknown or not supported,
// the best level is used, and Name returns the request too. A program linked with
//
//	-ldflags "-X github.com/swcaffe/swcaffe/internal/simd/isa.requested=go"
//
// asks for that level if the variable is not set. go test caches the results of such a program separately.
//
// The packages beside this one hold the kernels. They call assembly, or a loop in Go if Width is 0.
package isa

import "os"

// Level is a level of vector instructions.
type Level struct {
	Name  string
	Width int // float32 values of a vector, 0 for plain Go
}

// BlockLanes is the number of channels that lie side by side where images lie in blocks of channels: the widest vector's lanes.
const BlockLanes = 16

// plain is Go without vectors, which every computer has.
var plain = Level{Name: "go"}

var (
	active    = &plain
	requested string
)

func init() {
	if level := os.Getenv("SWCAFFE_SIMD"); level != "" {
		requested = level
	}
	active = choose(requested, supported())
}

// choose picks the level of a name, or the first of the list.
func choose(name string, levels []*Level) *Level {
	for _, l := range levels {
		if l.Name == name {
			return l
		}
	}
	return levels[0]
}

// Name is the level in use: avx512, avx2 or go. A request that could not be met follows in parentheses.
func Name() string {
	if requested != "" && requested != active.Name {
		return active.Name + " (" + requested + " is not available)"
	}
	return active.Name
}

// Levels are the names of the levels that this computer has, the best first.
func Levels() []string {
	var names []string
	for _, l := range supported() {
		names = append(names, l.Name)
	}
	return names
}

// Use changes the level to one of Levels and returns a function that changes it back. It is for tests: no kernel may run meanwhile.
func Use(name string) (restore func()) {
	l := choose(name, supported())
	if l.Name != name {
		panic("isa: this computer has no level " + name)
	}
	old := active
	active = l
	return func() { active = old }
}

// Width is the number of float32 values of a vector at the level in use: 16, 8, or 0 for plain Go.
func Width() int { return active.Width }

// Vectors reports whether the level in use has vectors. Plain Go has no kernels for operands that are not packed.
func Vectors() bool { return active.Width > 0 }

// Whole is the number of values in the whole vectors that n values fill; 0 for plain Go.
func Whole(n int) int {
	w := active.Width
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
