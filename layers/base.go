package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Base is embedded by most layers. It holds their prototxt parameters, their device and their weights.
type Base struct {
	Param  *caffepb.LayerParameter
	Device *Device

	Weights   []*blob.Blob
	skipGrads []bool
}

// Params returns the weights, in the order of Caffe's blobs.
func (b *Base) Params() []*blob.Blob { return b.Weights }

// SetParamGrad sets whether Backward computes the gradient of weight i.
func (b *Base) SetParamGrad(i int, need bool) {
	for len(b.skipGrads) <= i {
		b.skipGrads = append(b.skipGrads, false)
	}
	b.skipGrads[i] = !need
}

// ParamGrad reports whether the layer has a weight i and Backward should add to its gradient.
func (b *Base) ParamGrad(i int) bool {
	return i < len(b.Weights) && (i >= len(b.skipGrads) || !b.skipGrads[i])
}

// MPE reports whether the layer runs on the reference path.
func (b *Base) MPE() bool { return b.Device.Engine == MPE }

// Train reports whether the net is built for training.
func (b *Base) Train() bool { return b.Param.GetPhase() == caffepb.Phase_TRAIN }

// NoGradient is the error that Backward returns in layers without a gradient.
func (b *Base) NoGradient() error {
	return fmt.Errorf("layers of type %s have no gradient", b.Param.GetType())
}

// AddWeight creates the layer's next weight with the given shape and fills it. A nil filler means zeros. SetUp calls it.
func (b *Base) AddWeight(filler *caffepb.FillerParameter, shape ...int) error {
	if err := b.Device.CheckShape(fmt.Sprintf("weight %d", len(b.Weights)), shape); err != nil {
		return err
	}
	w := b.Device.NewBlob(shape...)
	if b.Device.Machine.Values() && !b.Device.Unfilled && !b.Device.Stored[b.Param.GetName()] {
		if b.Device.WeightMemory != nil {
			w.PlaceData(b.Device.WeightMemory.Floats(w.Count()))
		}
		if w.Data(); !isZero(filler) { // new memory is zero: its pages are first touched when weights are loaded
			if err := Fill(w, filler, b.Device.Random); err != nil {
				return err
			}
		}
	}
	b.Weights = append(b.Weights, w)
	return nil
}
