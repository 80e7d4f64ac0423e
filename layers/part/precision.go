package part

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// ReadScales checks a layer's quantization_param q, if it has one, and returns its scales, nil if the layer does not compute in INT8: depth is the number of products
// that an output sums. A layer whose sums may leave int32 computes in float32, with a warning, unless its own precision is INT8.
func ReadScales(b *layers.Base, q *caffepb.QuantizationParameter, outputs, depth int) (*quant.Scales, error) {
	if q == nil {
		return nil, nil
	}
	s, err := quant.New(q.GetInputScale(), q.GetInputZeroPoint(), q.GetWeightScale(), outputs)
	if err != nil {
		return nil, fmt.Errorf("quantization_param: %w", err)
	}
	if b.Device.Precision != cpe.INT8 {
		return nil, nil
	}
	switch err := quant.Fits(depth); {
	case err == nil:
		return s, nil
	case b.Param.Precision != nil:
		return nil, fmt.Errorf("precision: INT8: %w", err)
	case b.Device.Log != nil:
		b.Device.Log.Warnf("layer %q stays in fp32: %v", b.Param.GetName(), err)
	}
	return nil, nil
}

// Types returns the number types of the products of a layer with some scales, or none.
func Types(b *layers.Base, s *quant.Scales) op.Types {
	if s != nil {
		return op.Quantised
	}
	return b.Device.Types()
}
