package explicit_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

func TestInt8(t *testing.T) {
	convtest.Packed(t, "explicit-int8", op.Quantised, append(many, []shape.Conv{
		convtest.Shape2D(1, 3, 20, 1, 17, 19, 7, 7, 2, 3, 1),
		convtest.Shape2D(2, 16, 33, 1, 9, 8, 3, 3, 2, 1, 1),
		convtest.Shape2D(2, 10, 10, 10, 7, 6, 3, 3, 1, 1, 1), // depthwise
		convtest.Shape2D(1, 12, 70, 2, 7, 6, 3, 2, 1, 2, 2),
		convtest.Shape2D(1, 100, 5, 1, 5, 4, 3, 3, 3, 0, 1), // sums of more than 512 products
		{N: 3, C: 5, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{3}, Pad: []int{3}, Dilation: []int{1}},
		{N: 1, C: 2, Out: 4, Group: 1, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
		{N: 1, C: 2, Out: 4, Group: 1, In: []int{3, 4, 2, 5}, Kernel: []int{2, 2, 1, 3}, Stride: []int{2, 1, 1, 2}, Pad: []int{1, 0, 0, 1}, Dilation: []int{1, 2, 1, 1}},
	}...))
}

func TestBFloat16(t *testing.T) { convtest.Packed(t, "explicit-bf16", op.RoundedFactors, many) }

// many are shapes with 16 channels or more.
var many = []shape.Conv{
	convtest.Shape2D(1, 16, 16, 1, 3, 4, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 48, 64, 1, 7, 7, 3, 3, 1, 1, 1),
	convtest.Shape2D(1, 20, 33, 1, 11, 12, 5, 5, 1, 0, 1),
	convtest.Shape2D(3, 40, 16, 1, 9, 7, 3, 2, 1, 2, 1),
	convtest.Shape2D(2, 96, 64, 2, 13, 9, 5, 5, 1, 2, 1),  // groups
	convtest.Shape2D(1, 64, 48, 1, 17, 15, 3, 3, 1, 2, 2), // dilation
	convtest.Shape2D(1, 48, 48, 1, 40, 20, 3, 3, 1, 1, 1), // bands
	{N: 3, C: 32, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{1}, Pad: []int{3}, Dilation: []int{1}},
	{N: 1, C: 32, Out: 32, Group: 1, In: []int{6, 9}, Kernel: []int{1, 3}, Stride: []int{1, 1}, Pad: []int{2, 0}, Dilation: []int{1, 1}},
	convtest.Shape2D(2, 17, 35, 1, 19, 14, 3, 5, 2, 2, 1), // strides, and a place that is not full
	convtest.Shape2D(1, 96, 64, 2, 15, 13, 3, 3, 3, 0, 1),
	{N: 1, C: 18, Out: 20, Group: 1, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
}
