package quantise

import (
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestChannelByChannel: depthwise convolutions are those of several channels whose weights have one each, whatever their type is called.
func TestChannelByChannel(t *testing.T) {
	for _, tt := range []struct {
		layer           string
		bottom, weights []int
		want            bool
	}{
		{`type: "Convolution" convolution_param { num_output: 8 kernel_size: 3 group: 8 }`, []int{2, 8, 9, 9}, []int{8, 1, 3, 3}, true},
		{`type: "Convolution" convolution_param { num_output: 16 kernel_size: 3 group: 8 }`, []int{2, 8, 9, 9}, []int{16, 1, 3, 3}, true},
		{`type: "DepthwiseConvolution" convolution_param { num_output: 8 kernel_size: 3 }`, []int{2, 8, 9, 9}, []int{8, 1, 3, 3}, true},
		{`type: "ConvolutionDepthwise" convolution_param { num_output: 8 kernel_size: 3 axis: -3 }`, []int{2, 8, 9, 9}, []int{8, 1, 3, 3}, true},
		{`type: "Convolution" convolution_param { num_output: 20 kernel_size: 5 }`, []int{2, 1, 28, 28}, []int{20, 1, 5, 5}, false},
		{`type: "Convolution" convolution_param { num_output: 8 kernel_size: 3 group: 2 }`, []int{2, 8, 9, 9}, []int{8, 4, 3, 3}, false},
		{`type: "InnerProduct" inner_product_param { num_output: 8 }`, []int{2, 1}, []int{8, 1}, false},
	} {
		l := &caffepb.LayerParameter{}
		if err := prototext.Unmarshal([]byte(tt.layer), l); err != nil {
			t.Fatal(err)
		}
		if got := channelByChannel(l, blob.New(tt.bottom...), blob.New(tt.weights...)); got != tt.want {
			t.Errorf("%s: %v", tt.layer, got)
		}
	}
}

// TestRatio: outputs of power 2 with an error of 0.02 are at 40 dB; outputs without errors at 120, also where all are 0, as of a layer without weights.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		exact, rounded []float32
		want           float64
	}{
		{[]float32{1, -1}, []float32{1.01, -1.01}, 40},
		{[]float32{1, -1}, []float32{1, -1}, 120},
		{[]float32{0, 0}, []float32{0, 0}, 120},
	} {
		d := &deviation{sums: make([]float64, 1)}
		d.add(c.exact, c.rounded, 2)
		if got := d.ratio(true); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%v, rounded to %v: %g dB, want %g", c.exact, c.rounded, got, c.want)
		}
	}
}
