package layertest

import (
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/blob"
)

// Bottom describes one bottom of a Case.
type Bottom struct {
	Shape []int
	Fill  Fill // nil means Uniform(-1, 1)
	// NoGradient: the bottom's gradient is not requested (labels, indices).
	NoGradient bool
}

// Fill writes a blob's values.
type Fill func(r *rand.Rand, values []float32)

// In is a bottom with values between -1 and 1.
func In(shape ...int) Bottom { return Bottom{Shape: shape} }

// Filled is a bottom with values drawn by fill.
func Filled(fill Fill, shape ...int) Bottom { return Bottom{Shape: shape, Fill: fill} }

// Given is a bottom with the given values.
func Given(values []float32, shape ...int) Bottom {
	return Bottom{Shape: shape, Fill: func(_ *rand.Rand, dst []float32) { copy(dst, values) }}
}

// Labels is a bottom of integers 0 <= n < classes, without a gradient.
func Labels(classes int, shape ...int) Bottom {
	return Bottom{Shape: shape, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for i := range values {
			values[i] = float32(r.IntN(classes))
		}
	}}
}

// Uniform draws values lo <= v < hi.
func Uniform(lo, hi float32) Fill {
	return func(r *rand.Rand, values []float32) {
		for i := range values {
			values[i] = lo + (hi-lo)*r.Float32()
		}
	}
}

// Distinct spreads values evenly between lo and hi, in random order. No two are closer than (hi-lo)/(n-1), so that small steps change no
// maximum.
func Distinct(lo, hi float32) Fill {
	return func(r *rand.Rand, values []float32) {
		for i, p := range r.Perm(len(values)) {
			values[i] = lo + (hi-lo)*float32(p)/float32(max(1, len(values)-1))
		}
	}
}

// AwayFrom draws values between -1 and 1 that keep a margin from the given kinks.
func AwayFrom(margin float32, kinks ...float32) Fill {
	return func(r *rand.Rand, values []float32) {
		for i := range values {
			for values[i] = 2*r.Float32() - 1; near(values[i], margin, kinks); {
				values[i] = 2*r.Float32() - 1
			}
		}
	}
}

func near(v, margin float32, kinks []float32) bool {
	for _, k := range kinks {
		if math.Abs(float64(v-k)) < float64(margin) {
			return true
		}
	}
	return false
}

// fill writes values from a generator seeded by kind and index, so that no two blobs are alike.
func fill(b *blob.Blob, f Fill, kind string, index int) {
	if f == nil {
		f = Uniform(-1, 1)
	}
	stream := uint64(index)
	for _, c := range kind {
		stream = stream*131 + uint64(c)
	}
	f(rand.New(rand.NewPCG(seed, stream)), b.Data())
}
