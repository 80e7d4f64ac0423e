package pool

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestPackedMask: a packed mask leads gradients to the places that indices lead them to, ties, NaN and outputs that ReLU clears
// included, and takes a byte an output where windows are pooled by planes.
func TestPackedMask(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range poolShapes {
			for _, relu := range []bool{false, true} {
				s.Train, s.ReLU = true, relu
				t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) { testPackedMask(t, m, s) })
			}
		}
	})
}

func testPackedMask(t *testing.T, m *cpe.Machine, s Shape) {
	in, out := s.N*s.C*s.H*s.W, s.N*s.C*s.OH*s.OW
	x, dy := kerneltest.Values(in, 1), kerneltest.Values(out, 2)
	for i := range x {
		if x[i] = float32(math.Trunc(float64(x[i])*8)) / 8; i%41 == 7 {
			x[i] = float32(math.NaN())
		}
	}
	var y, dx [2][]float32
	for k, packed := range []bool{false, true} {
		s.Packed = packed
		p, err := New(m, s)
		if err != nil {
			t.Fatal(err)
		}
		words := p.MaskWords()
		if want := p.planes != nil && p.planes.kernel.Packs() && packed; words != out && !want || want && words != (out+3)/4 {
			t.Fatalf("a mask of %d words for %d outputs", words, out)
		}
		y[k], dx[k] = make([]float32, out), kerneltest.Values(in, 3)
		mask := make([]int32, words)
		for i := range mask {
			mask[i] = -7
		}
		if err := p.Forward(x, y[k], mask, 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Backward(dy, mask, dx[k]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(bits(y[0]), bits(y[1])) || !slices.Equal(bits(dx[0]), bits(dx[1])) {
		t.Error("a packed mask gives other values")
	}
}

// bits are the bits of values, among which NaN equals itself.
func bits(values []float32) []uint32 {
	list := make([]uint32, len(values))
	for i, v := range values {
		list[i] = math.Float32bits(v)
	}
	return list
}
