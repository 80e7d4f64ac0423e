package direct_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

func TestPacked(t *testing.T) {
	convtest.Packed(t, "implicit-bf16", op.RoundedFactors, []shape.Conv{
		convtest.Shape2D(1, 16, 16, 1, 3, 4, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 48, 64, 1, 7, 7, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 20, 33, 1, 11, 12, 5, 5, 1, 0, 1),
		convtest.Shape2D(3, 40, 16, 1, 9, 7, 3, 2, 1, 2, 1),
		convtest.Shape2D(2, 96, 64, 2, 13, 9, 5, 5, 1, 2, 1),  // groups
		convtest.Shape2D(1, 64, 48, 1, 17, 15, 3, 3, 1, 2, 2), // dilation
		convtest.Shape2D(1, 48, 48, 1, 40, 20, 3, 3, 1, 1, 1), // bands
		{N: 3, C: 32, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{1}, Pad: []int{3}, Dilation: []int{1}},
		{N: 1, C: 32, Out: 32, Group: 1, In: []int{6, 9}, Kernel: []int{1, 3}, Stride: []int{1, 1}, Pad: []int{2, 0}, Dilation: []int{1, 1}},
	})
}
