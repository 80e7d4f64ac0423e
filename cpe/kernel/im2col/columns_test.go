package im2col

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestColumns compares with the definition, for images of which core groups share many: padding, strides and dilation along two axes.
func TestColumns(t *testing.T) {
	s := shape.Conv{
		N: 61, C: 1, Out: 1, Group: 1, In: []int{11, 13}, Kernel: []int{3, 2}, Stride: []int{2, 3}, Pad: []int{2, 1}, Dilation: []int{1, 2},
	}
	out := s.OutSize()
	plane, positions, offsets := 11*13, out[0]*out[1], 3*2
	image, columns := kerneltest.Values(s.N*plane, 1), kerneltest.Values(s.N*offsets*positions, 2)
	spread, sums := make([]float32, len(columns)), make([]float32, len(image))
	for i := range columns {
		n, k, p := i/positions/offsets, i/positions%offsets, i%positions
		y, x := p/out[1]*2-2+k/2, p%out[1]*3-1+k%2*2
		if y >= 0 && y < 11 && x >= 0 && x < 13 {
			spread[i] = image[n*plane+y*13+x]
			sums[n*plane+y*13+x] += columns[i]
		}
	}
	for _, cores := range []int{1, 3} {
		c := NewColumns(kerneltest.HostMachine(t, cores), s)
		got, back := kerneltest.Values(len(columns), 3), kerneltest.Values(len(image), 4)
		if err := c.Spread(got, image); err != nil {
			t.Fatal(err)
		}
		if err := c.Fold(back, columns); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != spread[i] {
				t.Fatalf("%d cores: column value %d is %g, want %g", cores, i, v, spread[i])
			}
		}
		for i, v := range back {
			if v != sums[i] {
				t.Fatalf("%d cores: sum %d is %g, want %g", cores, i, v, sums[i])
			}
		}
	}
}
