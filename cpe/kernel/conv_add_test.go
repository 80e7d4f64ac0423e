package kernel

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// TestAddInputGrad: where a convolution can add the gradient of its images, it adds what it would write.
func TestAddInputGrad(t *testing.T) {
	for _, tt := range []struct {
		shape ConvShape
		adds  bool // on the host
	}{
		{conv2(3, 7, 20, 1, 9, 11, 1, 1, 1, 0, 1), true},
		{conv2(2, 300, 70, 1, 14, 14, 1, 1, 1, 0, 1), true},
		{conv2(2, 8, 12, 4, 6, 5, 1, 1, 1, 0, 1), true},
		{conv2(2, 40, 33, 1, 15, 14, 1, 1, 2, 0, 1), true},
		{conv2(1, 5, 6, 1, 10, 7, 1, 1, 3, 0, 1), true},
		{conv2(2, 6, 5, 1, 9, 9, 3, 3, 1, 1, 1), false},
		{conv2(2, 6, 5, 1, 9, 9, 1, 1, 1, 1, 1), false},
	} {
		onMachines(t, func(t *testing.T, m *cpe.Machine) {
			s := tt.shape
			c, err := NewConv(m, s, Auto)
			if err != nil {
				t.Fatal(err)
			}
			if adds := c.AddsInputGrad(); adds != (tt.adds && m.Native()) {
				t.Fatalf("%v adds to the images' gradient: %v", s, adds)
			}
			if !c.AddsInputGrad() {
				return
			}
			n := s.N * s.C * size(s.In)
			dy, w := values(s.N*s.Out*size(s.OutSize()), 1), values(s.Out*s.depth(), 2)
			dx, sum, want := make([]float32, n), values(n, 3), make([]float64, n)
			if err := c.InputGrad(dy, w, dx); err != nil {
				t.Fatal(err)
			}
			for i, v := range dx {
				want[i] = float64(v) + float64(sum[i])
			}
			if err := c.AddInputGrad(dy, w, sum); err != nil {
				t.Fatal(err)
			}
			near(t, s.String(), sum, want, s.Out)
		})
	}
}
