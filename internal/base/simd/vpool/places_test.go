package vpool

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestPlaces: the indices of maxima come back from their codes, -1 for maxima that were rectified; nothing around codes and indices is written.
func TestPlaces(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, s := range planeShapes() {
			p := NewPlanes(s)
			if p == nil || !p.Packs() {
				continue // no kernel
			}
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
				checkPlaces(t, p, s, false)
				checkPlaces(t, p, s, true)
			})
		}
	})
}

func checkPlaces(t *testing.T, p *Planes, s Shape, relu bool) {
	m := s.OH * s.OW
	y, mask := make([]float32, m), make([]int32, m)
	p.Max(y, mask, coarse(s.H*s.W, true))
	rectified, wholeY := guarded[float32](m)
	copy(rectified, y)
	codes := make([]uint8, m+40)
	for i := range codes {
		codes[i] = 77
	}
	index, wholeIndex := guarded[int32](m)
	p.PackPlaces(codes[20:20+m], mask, rectified, relu)
	p.UnpackPlaces(index, codes[20:20+m])
	if !wholeY() || !wholeIndex() {
		t.Fatal("values or indices around the outputs are written")
	}
	for i, c := range codes {
		if (i < 20 || i >= 20+m) && c != 77 {
			t.Fatalf("code %d of %d is written", i-20, m)
		}
	}
	for o, v := range y {
		want, at := v, mask[o]
		if relu && v <= 0 {
			want, at = 0, -1
		}
		if index[o] != at || math.Float32bits(rectified[o]) != math.Float32bits(want) {
			t.Fatalf("relu %t: output %d is %g from %d, want %g from %d", relu, o, rectified[o], index[o], want, at)
		}
	}
}
