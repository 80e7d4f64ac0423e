package kerneltest

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"math/rand/v2"
	"sync"
)

// Draws are seeded random values. A test program draws them once and copies them for each array, since many arrays begin with the same values
// and drawing takes far longer than copying, most of all under the race detector.
type Draws struct {
	stream uint64
	draw   func(*rand.Rand) float32
	mutex  sync.Mutex
	seeds  map[uint64]*drawn
}

// drawn are the values drawn so far from a source.
type drawn struct {
	source *rand.Rand
	values []float32
}

// NewDraws returns the values that draw takes from PCG sources of a stream.
func NewDraws(stream uint64, draw func(*rand.Rand) float32) *Draws {
	return &Draws{stream: stream, draw: draw, seeds: map[uint64]*drawn{}}
}

// First returns a copy of the first n values of a seed.
func (d *Draws) First(n int, seed uint64) []float32 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	s := d.seeds[seed]
	if s == nil {
		s = &drawn{source: rand.New(rand.NewPCG(seed, d.stream))}
		d.seeds[seed] = s
	}
	for len(s.values) < n {
		s.values = append(s.values, d.draw(s.source))
	}
	return append(make([]float32, 0, n), s.values[:n]...)
}

// uniform are the values of Values.
var uniform = NewDraws(1, func(r *rand.Rand) float32 { return 2*r.Float32() - 1 })

// Values are n seeded values in [-1, 1).
func Values(n int, seed uint64) []float32 { return uniform.First(n, seed) }

// Rounded are Values rounded to bfloat16.
func Rounded(n int, seed uint64) []float32 {
	values := slices.Clone(Values(n, seed))
	for i, v := range values {
		values[i] = vec.BFloat16(v)
	}
	return values
}

// Stepped are factors that Scales do not change: whole numbers of 1/64, from -100/64 to 127/64.
func Stepped(n int, seed uint64) []float32 {
	values := slices.Clone(Values(n, seed))
	for i, v := range values {
		values[i] = float32(max(-100, min(127, int(v*256)))) / 64
	}
	return values
}

// Scales are those of a product of Stepped factors with some output channels.
func Scales(out int) *quant.Scales {
	s, err := quant.New(1./64, 100, []float32{1. / 64}, out)
	if err != nil {
		panic(err)
	}
	return s
}
