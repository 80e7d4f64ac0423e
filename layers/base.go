package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Base is what most layers embed: their parameters from the prototxt, their device and their weights.
type Base struct {
	Param  *caffepb.LayerParameter
	Device *Device

	params    []*blob.Blob
	skipGrads []bool
}

// Params returns the weights, in the order of Caffe's blobs.
func (b *Base) Params() []*blob.Blob { return b.params }

// SetParamGrad says whether the gradient of weight i is wanted.
func (b *Base) SetParamGrad(i int, need bool) {
	for len(b.skipGrads) <= i {
		b.skipGrads = append(b.skipGrads, false)
	}
	b.skipGrads[i] = !need
}

// paramGrad reports whether Backward should compute the gradient of weight i.
func (b *Base) paramGrad(i int) bool {
	return i < len(b.params) && (i >= len(b.skipGrads) || !b.skipGrads[i])
}

// mpe reports whether the reference path was asked for.
func (b *Base) mpe() bool { return b.Device.Engine == MPE }

// train reports whether the net is built for training.
func (b *Base) train() bool { return b.Param.GetPhase() == caffepb.Phase_TRAIN }

// addWeight makes weight number len(Params) with the given shape and fills it.
func (b *Base) addWeight(filler *caffepb.FillerParameter, shape ...int) error {
	if err := b.Device.CheckShape(fmt.Sprintf("weight %d", len(b.params)), shape); err != nil {
		return err
	}
	w := b.Device.NewBlob(shape...)
	if b.Device.Machine.Values() {
		if err := Fill(w, filler, b.Device.Random); err != nil {
			return err
		}
	}
	b.params = append(b.params, w)
	return nil
}
