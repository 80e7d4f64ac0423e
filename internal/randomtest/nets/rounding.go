package nets

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// rounder adds noise of the size of rounding errors to the results of MPE layers, forward and backward: Monte Carlo arithmetic
// (Parker 1997), applied per layer. The resulting change of the net's values shows how much of them is rounding, whatever
// amplifies the errors: sums that cancel, or a normalisation that divides by a deviation near 0.
//
// The errors of a layer are proportional to:
//
//   - products: the root mean square of their sums, since the terms of a sum near 0 are as large as those of any other (see sumError);
//   - normalisations: the values from which they subtract a mean, divided by the deviation (see normalised);
//   - softmax: the gradients of all classes, weighted by the class's probability, since their mean is subtracted;
//   - all others: each value. A 0, as ReLU and Dropout make, stays 0.
type rounder struct {
	r        *rand.Rand
	strategy shape.Strategy
	phase    caffepb.Phase
	normal   map[int]*normalised // by layer
}

func newRounder(r *rand.Rand, p *problem) *rounder {
	return &rounder{r, p.strategy, p.phase(), map[int]*normalised{}}
}

// ulps is the rounding error of a value after a few operations: two units in the last place of a float32.
const ulps = 4 * 0x1p-24

// sumError is the error of a layer's sums of products, relative to their root mean square. Winograd convolutions have larger
// errors. For them spreads is true: their transforms mix the values of a tile, so that even sums without terms have errors.
func sumError(l *caffepb.LayerParameter, st shape.Strategy) (part float64, spreads bool) {
	if l.ConvolutionParam == nil || st == shape.Explicit || st == shape.Implicit {
		return 1e-6, false
	}
	return 2e-5, true
}

// moving lists the layers without arithmetic: they move values, or share them with their bottoms.
var moving = []string{
	"Input", "DummyData", "Parameter", "Split", "Flatten", "Reshape", "Concat", "Slice", "Crop", "Tile", "BatchReindex", "Filter", "Im2col", "Embed",
	"Silence", "ArgMax", "Accuracy", "SegAccuracy", "Threshold", "Permute", "ShuffleChannel", "Unpooling",
}

// products lists the layers whose results are sums of products.
var products = []string{"Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution", "InnerProduct", "MarginInnerProduct", "LSTM", "RNN", "Lstm"}

// forward runs a net and returns its loss.
func (e *rounder) forward(n *swnet.Net) (loss float64, err error) {
	for i := range n.NumLayers() {
		part, err := e.forwardLayer(n, i)
		if err != nil {
			return 0, err
		}
		loss += part
	}
	return loss, nil
}

// backward runs a net backward.
func (e *rounder) backward(n *swnet.Net) error {
	for i := n.NumLayers() - 1; i >= 0; i-- {
		if err := e.backwardLayer(n, i); err != nil {
			return err
		}
	}
	return nil
}

// forwardLayer runs layer i and returns its part of the loss.
func (e *rounder) forwardLayer(n *swnet.Net, i int) (float64, error) {
	e.normal[i] = newNormalised(n, i, e.phase)
	loss, err := n.ForwardLayer(i)
	if err != nil {
		return 0, err
	}
	for _, top := range n.Tops(i) {
		e.add(n, i, top.Data())
		e.normal[i].addTo(top.Data(), e.r)
	}
	return loss, nil
}

// backwardLayer runs layer i backward, if the net needs this.
func (e *rounder) backwardLayer(n *swnet.Net, i int) error {
	if !n.NeedsBackward(i) {
		return nil
	}
	var above []float32 // the top's gradient, which an in-place layer overwrites
	if e.normal[i] != nil || n.LayerType(i) == "Softmax" {
		above = slices.Clone(n.Tops(i)[0].Diff())
	}
	if err := n.BackwardLayer(i); err != nil {
		return err
	}
	for j, b := range n.Bottoms(i) {
		if !n.Propagates(i, j) {
			continue
		}
		e.add(n, i, b.Diff())
		e.normal[i].addToGradient(b.Diff(), above, e.r)
		if n.LayerType(i) == "Softmax" {
			e.addOfMean(b.Diff(), above, n.Tops(i)[0].Data())
		}
	}
	return nil
}

// add adds the errors of layer i to one of its tops, or to the gradient of one of its bottoms.
func (e *rounder) add(n *swnet.Net, i int, values []float32) {
	kind := n.LayerType(i)
	if slices.Contains(moving, kind) {
		return
	}
	size := 0.0
	part, spreads := sumError(n.LayerParam(i), e.strategy)
	if slices.Contains(products, kind) {
		size = part * rms(values)
	}
	for k, v := range values {
		if v != 0 || spreads {
			values[k] += float32((size + ulps*math.Abs(float64(v))) * e.r.NormFloat64())
		}
	}
}

// addOfMean adds the error of the difference to a softmax's gradient, dx = y*(dy - sum(y*dy)).
func (e *rounder) addOfMean(dx, dy, y []float32) {
	size := ulps * rms(dy)
	for k := range dx {
		dx[k] += float32(size * float64(y[k]) * e.r.NormFloat64())
	}
}
