package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// lanes is the number of channels that lie side by side where an array lies in blocks.
const lanes = 16

// guard is how many values stand before and behind an array, and guardBits what they are: a NaN that no arithmetic makes.
const (
	guard     = 64
	guardBits = 0x7fa5dead
)

// array is one that a kernel reads or writes, between guards. Start, want and allowed have the order of planes even if it lies in blocks.
type array struct {
	name    string
	n       int
	start   []float32           // what it holds before a run; nil: NaN
	written bool                // by the kernel, else it must stay as it is
	plane   int                 // of values of a channel, if it lies in blocks, else 0
	open    bool                // its bits are nobody's business, such as packed places
	pixels  int                 // of a plane, some of which alone are there
	front   func(pixel int) int // where in its plane they stand, -1 for those that are not there; nil: all are

	want, allowed []float64 // nil: not known
	data          []float32 // what the kernel gets
	whole         []float32
	before        []float32 // as data, at the start of a run
}

// reset brings an array to its start, beside the beginning of a cache line by shift values.
func (a *array) reset(shift int) {
	if a.whole == nil {
		a.whole = make([]float32, 2*guard+shift+a.n)
		a.before = make([]float32, a.n)
		if a.start == nil {
			fillNaN(a.before)
		} else {
			copy(a.before, a.lie(a.start))
		}
	}
	bits := math.Float32frombits(guardBits)
	at := guard + shift
	a.data = a.whole[at : at+a.n : at+a.n]
	for i := range at {
		a.whole[i] = bits
	}
	for i := at + a.n; i < len(a.whole); i++ {
		a.whole[i] = bits
	}
	copy(a.data, a.before)
}

// intact reports what a kernel must not have written.
func (a *array) intact(shift int) error {
	at := guard + shift
	for i, v := range a.whole {
		inside := i >= at && i < at+a.n
		if !inside && math.Float32bits(v) != guardBits {
			return fmt.Errorf("%s of %d values: value %d beside it was written", a.name, a.n, i-at)
		}
		if inside && !a.written && !same(v, a.before[i-at]) {
			return fmt.Errorf("%s, which is only read: value %d was %g and is %g", a.name, i-at, a.before[i-at], v)
		}
	}
	return nil
}

// same reports whether values have the same bits, or are both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// place is where value i of the order of planes stands, -1 if it is not there.
func (a *array) place(i int) int {
	if a.front != nil {
		at := a.front(i % a.pixels)
		if at < 0 {
			return -1
		}
		i = i/a.pixels*a.pixels + at
	}
	if a.plane == 0 {
		return i
	}
	channel, pixel := i/a.plane, i%a.plane
	return (channel/lanes*a.plane+pixel)*lanes + channel%lanes
}

// lie brings values of planes to where they stand, among NaN.
func (a *array) lie(v []float32) []float32 {
	if a.plane == 0 && a.front == nil {
		return v
	}
	to := make([]float32, len(v))
	fillNaN(to)
	for i, x := range v {
		if at := a.place(i); at >= 0 {
			to[at] = x
		}
	}
	return to
}

// compare holds the results against the reference.
func (a *array) compare() error {
	for i, want := range a.want {
		at := a.place(i)
		if at < 0 {
			continue
		}
		v := float64(a.data[at])
		ok := math.Abs(v-want) <= a.allowed[i] || v == want || v != v && want != want
		if !ok {
			return fmt.Errorf("%s[%d] of %d = %g, the reference is %g, allowed is a difference of %.3g", a.name, i, a.n, v, want, a.allowed[i])
		}
	}
	return nil
}

// values draws n of a kind: ordinary ones in [-1, 1); coarse ones, multiples of 1/4, of which sums and products are exact and many are
// equal; or ones that mostly are 0. Special ones are coarse; the caller puts others among them.
func values(r *rand.Rand, kind string, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch kind {
		case "coarse", "special":
			v[i] = float32(r.IntN(9)-4) / 4
		case "zeros":
			if r.IntN(4) == 0 {
				v[i] = 2*r.Float32() - 1
			}
		default:
			v[i] = 2*r.Float32() - 1
		}
	}
	return v
}

// exact reports whether sums of products of two values of a kind are exact.
func exact(kind string) bool { return kind == "coarse" || kind == "special" }

// sums are sums of products in float64, and what results may differ from them.
type sums struct {
	value, size []float64
	terms       []int // of each
}

func newSums(n int) sums {
	return sums{make([]float64, n), make([]float64, n), make([]int, n)}
}

// startAt begins sums with values.
func (s *sums) startAt(v []float32) {
	for i, x := range v {
		s.value[i], s.size[i] = float64(x), math.Abs(float64(x))
	}
}

// unit is half a unit in the last place of a float32.
const unit = 1.0 / (1 << 24)

// rounding is the tolerance of a sum of n terms whose sizes add up to size. Roundings go up as often as down but for terms that are alike, so
// that their sum grows with the root of n; a term that is left out is more than that up to some ten thousand terms.
func rounding(n int, size float64) float64 {
	return unit * (8 + 8*math.Sqrt(float64(n))) * size
}

// allowed is the tolerance of each sum; 0 if values are exact.
func (s *sums) allowed(exact bool) []float64 {
	list := make([]float64, len(s.value))
	if !exact {
		for i := range list {
			list[i] = rounding(s.terms[i], s.size[i])
		}
	}
	return list
}
