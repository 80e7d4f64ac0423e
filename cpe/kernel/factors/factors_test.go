package factors_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

const lanes = shape.BlockLanes

// TestRoundedBlocks: what Round stores of images, some blocks of a span of pixels at a time, are the rounded values, by AddRounded at any span of a block
// and by EachRounded as a whole.
func TestRoundedBlocks(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		r := simdtest.Seeded(1)
		for range 60 {
			images, blocks, pixels := 1+r.IntN(3), 2*(1+r.IntN(4)), 1+r.IntN(40)
			values := make([]float32, images*blocks*pixels*lanes) // in shape.Blocks
			for i := range values {
				values[i] = float32(r.NormFloat64())
			}
			values[0], values[1], values[2], values[3] = 1e-39, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.MaxFloat32
			stored := store(r, values, images, blocks, pixels)
			for i := range values {
				values[i] = vec.BFloat16(values[i])
			}
			for range 20 {
				first := r.IntN(pixels)
				place, rows := (r.IntN(images*blocks)*pixels+first)*lanes, 1+r.IntN(pixels-first)
				y := make([]float32, rows*lanes)
				for i := range y {
					y[i] = float32(i)
				}
				factors.AddRounded(y, stored, place, pixels)
				for i, got := range y {
					if want := float32(i) + values[place+i]; got != want {
						t.Fatalf("%d images of %d blocks of %d pixels: value %d added is %g, want %g", images, blocks, pixels, place+i, got, want)
					}
				}
			}
			each := make([]float32, 0, len(values))
			factors.EachRounded(stored, func(at int, some []float32) {
				if at != len(each) {
					t.Fatalf("values from %d on, %d came before", at, len(each))
				}
				each = append(each, some...)
			})
			if slices.SortFunc(each, byBits); !slices.EqualFunc(each, sorted(values), func(a, b float32) bool { return byBits(a, b) == 0 }) {
				t.Fatalf("%d images of %d blocks of %d pixels: other values than those stored", images, blocks, pixels)
			}
		}
	})
}

// store stores images in rounded blocks, in pieces of some pixels and pairs of blocks.
func store(r *rand.Rand, values []float32, images, blocks, pixels int) []float32 {
	stored := slices.Repeat([]float32{float32(math.NaN())}, len(values))
	for image := range images {
		for block := 0; block < blocks; {
			several := 2 * (1 + r.IntN((blocks-block)/2))
			for at := 0; at < pixels; {
				rows := 1 + r.IntN(pixels-at)
				place, jump := ((image*blocks+block)*pixels+at)*lanes, (rows+r.IntN(3))*lanes
				x := make([]float32, several*jump)
				for b := range several {
					copy(x[b*jump:][:rows*lanes], values[place+b*pixels*lanes:])
				}
				factors.Round(stored, x, place, jump, several, rows, pixels)
				at += rows
			}
			block += several
		}
	}
	return stored
}

func byBits(a, b float32) int { return cmp.Compare(math.Float32bits(a), math.Float32bits(b)) }

func sorted(x []float32) []float32 {
	x = slices.Clone(x)
	slices.SortFunc(x, byBits)
	return x
}
