package quantise

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// StoreInt8 replaces the weights of quantised layers by bytes and scales (BlobProto.int8_data). The net computes the same with them.
func StoreInt8(r *Result) error {
	for _, l := range r.Weights.Layer {
		p := only(r.Net, l.GetName())
		q := p.GetQuantizationParam()
		if q == nil || p.GetInnerProductParam().GetTranspose() { // there the weights of a channel do not lie side by side
			continue
		}
		data, scales := l.Blobs[0].Data, q.GetWeightScale()
		if len(scales) == 0 || len(data)%len(scales) != 0 {
			return fmt.Errorf("layer %q: %d scales for %d weights", l.GetName(), len(scales), len(data))
		}
		bytes, row := make([]byte, len(data)), len(data)/len(scales)
		for i, w := range data {
			bytes[i] = byte(quant.RoundWeight(w, scales[i/row]))
		}
		l.Blobs[0].Data, l.Blobs[0].Int8Data = nil, &caffepb.Int8Values{Data: bytes, Scale: scales}
	}
	return nil
}
