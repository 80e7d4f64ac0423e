package kerneltest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDraws: arrays of any length, drawn in any order, are those of a fresh source, and no array shares memory with another.
func TestDraws(t *testing.T) {
	normal := func(r *rand.Rand) float32 { return float32(r.NormFloat64()) }
	d := NewDraws(3, normal)
	for _, n := range []int{5, 0, 100, 7, 100, 101} {
		for seed := range uint64(3) {
			got, source := d.First(n, seed), rand.New(rand.NewPCG(seed, 3))
			want := make([]float32, n)
			for i := range want {
				want[i] = normal(source)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d values of seed %d are %v, want %v", n, seed, got, want)
			}
			for i := range got {
				got[i] = -99 // must not reach the next array
			}
		}
	}
}
