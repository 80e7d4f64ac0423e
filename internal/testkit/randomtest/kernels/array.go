package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// lanes is the number of channels in a block, for arrays in blocked layout.
const lanes = 16

// guard is the number of guard values before and after an array; guardBits is their bit pattern, a NaN that no arithmetic
// produces.
const (
	guard     = 64
	guardBits = 0x7fa5dead
)

// array is an argument of a kernel, surrounded by guard values. start, want and allowed are in plane order, even if the data are
// in blocked layout.
type array struct {
	name    string
	n       int
	start   []float32           // contents before a run; nil: NaN
	written bool                // the kernel writes it; otherwise it must not change
	plane   int                 // blocked layout: values in a plane; planar layout: 0
	stored  bool                // in rounded blocks
	open    bool                // its bits are not compared, for example packed places
	pixels  int                 // pixels in a plane, if only some of them are stored
	front   func(pixel int) int // index of a pixel in its plane's storage, -1 if it is not stored; nil: all are stored

	want, allowed []float64 // expected values and tolerances; nil: unknown
	data          []float32 // the kernel's argument
	whole         []float32
	before        []float32 // copy of data at the start of a run
}

// reset sets an array to its start values, shift values away from a cache line boundary.
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

// intact reports writes to guards and to arrays that must not change.
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

// place returns the index in data of value i in plane order, -1 if it is not stored.
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

// lie returns values in plane order rearranged as in data, with NaN elsewhere.
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
	if a.stored {
		blocks := to
		to = make([]float32, len(v))
		fillNaN(to)
		factors.Round(to, blocks, 0, a.plane*lanes, len(v)/a.plane/lanes, a.plane, a.plane)
	}
	return to
}

// widened returns the data, of rounded blocks their values.
func (a *array) widened() []float32 {
	if !a.stored {
		return a.data
	}
	values := make([]float32, a.n)
	for at := 0; at < a.n; at += a.plane * lanes {
		factors.AddRounded(values[at:at+a.plane*lanes], a.data, at, a.plane)
	}
	return values
}

// compare compares the results with the reference.
func (a *array) compare() error {
	data := a.widened()
	for i, want := range a.want {
		at := a.place(i)
		if at < 0 {
			continue
		}
		v := float64(data[at])
		ok := math.Abs(v-want) <= a.allowed[i] || v == want || v != v && want != want
		if !ok {
			return fmt.Errorf("%s[%d] of %d = %g, the reference is %g, allowed is a difference of %.3g", a.name, i, a.n, v, want, a.allowed[i])
		}
	}
	return nil
}

// values draws n values of a kind: ordinary ones in [-1, 1); coarse ones, multiples of 1/4, with exact sums and products and many
// equal values; or mostly zeros. Special values are coarse; the caller inserts infinities and the like.
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
		case "stepped": // whole numbers of the scales
			v[i] = float32(r.IntN(228)-100) / 64
		case "rounded":
			v[i] = vec.BFloat16(2*r.Float32() - 1)
		default:
			v[i] = 2*r.Float32() - 1
		}
	}
	return v
}

// exact reports whether sums of products of two values of a kind are exact.
func exact(kind string) bool { return kind == "coarse" || kind == "special" }

// sums are sums of products in float64, with what their tolerances depend on.
type sums struct {
	value, size []float64
	terms       []int // number of terms in each sum
}

func newSums(n int) sums {
	return sums{make([]float64, n), make([]float64, n), make([]int, n)}
}

// startAt sets the initial values of sums.
func (s *sums) startAt(v []float32) {
	for i, x := range v {
		s.value[i], s.size[i] = float64(x), math.Abs(float64(x))
	}
}

// unit is half a unit in the last place of a float32 at 1.
const unit = 1.0 / (1 << 24)

// rounding is the tolerance of a sum of n terms, whose absolute values add up to size. Rounding errors are random in sign, except
// for similar terms, so their sum grows with the square root of n. A missing term exceeds the tolerance for n up to some ten
// thousand.
func rounding(n int, size float64) float64 {
	return unit * (8 + 8*math.Sqrt(float64(n))) * size
}

// allowed returns the tolerance of each sum; 0 if values are exact.
func (s *sums) allowed(exact bool) []float64 {
	list := make([]float64, len(s.value))
	if !exact {
		for i := range list {
			list[i] = rounding(s.terms[i], s.size[i])
		}
	}
	return list
}
