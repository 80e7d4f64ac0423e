package export

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// qdq is how a layer in INT8 is written: its inputs pass QuantizeLinear and DequantizeLinear, and its weights are bytes that pass DequantizeLinear. Runtimes
// recognise that form and compute in integers. Weights are bytes without signs, with a zero point of 128: of signed ones ONNX Runtime adds pairs of products in 16 bits on
// x86 processors without VNNI, which do not hold the largest. The zero value is that of other layers.
type qdq struct {
	scales  *quant.Scales
	weights string // the value of the weights, "" of other layers
}

// quantised writes weight i, of extents dims, of a layer in INT8. columns says that a channel's weights are a column.
func (l *layer) quantised(i int, dims []int, columns bool) (qdq, error) {
	q := l.p.GetQuantizationParam()
	if l.net.Precision(l.index) != cpe.INT8 || q == nil {
		return qdq{}, nil
	}
	if l.p.GetInnerProductParam().GetNormalize() {
		return qdq{}, errors.New("ONNX has no form for a layer in INT8 with normalize: give it precision: FP32")
	}
	data, axis := l.weightData(i), 0
	if columns {
		axis = 1
	}
	channels, row := dims[axis], len(data)/dims[axis]
	s, err := quant.New(q.GetInputScale(), q.GetInputZeroPoint(), q.GetWeightScale(), channels)
	if err != nil {
		return qdq{}, fmt.Errorf("quantization_param: %w", err)
	}
	if quant.Fits(row) != nil { // the layer computes in fp32
		return qdq{}, nil
	}
	of := func(at int) int { // the channel of a weight
		if columns {
			return at % channels
		}
		return at / row
	}
	scales := s.ChannelScales(data, of, channels)
	kind, zero := onnxpb.TensorProto_UINT8, byte(128)
	if l.opt.SignedWeights {
		kind, zero = onnxpb.TensorProto_INT8, 0
	}
	bytes := make([]byte, len(data))
	for k, w := range data {
		bytes[k] = byte(quant.RoundWeight(w, scales[of(k)])) + zero
	}
	in := []string{
		l.add(&constant{name: fmt.Sprintf("%s[%d]", l.name, i), dims: dims, bytes: bytes, kind: kind}),
		l.array("weight_scale", scales, channels),
		l.add(&constant{name: l.name + "/weight_zero_point", dims: []int{channels}, bytes: slices.Repeat([]byte{zero}, channels), kind: kind}),
	}
	return qdq{s, l.node("DequantizeLinear", in, attr{"axis", axis})}, nil
}

// input writes the rounding of an input.
func (q *qdq) input(l *layer, x string) string {
	if q.scales == nil {
		return x
	}
	scale := l.add(&constant{name: l.name + "/input_scale", dims: []int{}, floats: []float32{q.scales.Input}})
	zero := l.add(&constant{name: l.name + "/input_zero_point", dims: []int{}, bytes: []byte{q.scales.Zero}, kind: onnxpb.TensorProto_UINT8})
	return l.node("DequantizeLinear", []string{l.node("QuantizeLinear", []string{x, scale, zero}), scale, zero})
}
