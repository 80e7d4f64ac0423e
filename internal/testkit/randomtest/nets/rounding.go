package nets

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
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
//   - their weights' gradients: the deviation that these sums would have if their terms had random signs (see deviations). The sums
//     themselves may all cancel: those before a BatchNorm do;
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

// linear lists the layers whose weights' gradients are sums of products of bottoms and tops' gradients.
var linear = []string{"Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution", "InnerProduct"}

// moving lists the layers without arithmetic: they move values, or share them with their bottoms.
var moving = []string{
	"Input", "DummyData", "Parameter", "Split", "Flatten", "Reshape", "Concat", "Slice", "Crop", "Tile", "BatchReindex", "Filter", "Im2col", "Embed",
	"ContinuationIndicator", "PriorBox", "BoxAnnotatorOHEM", "DetectionEvaluate", "DetectionOutput", "YoloDetectionOutput",
	"Yolov3DetectionOutput", "Proposal", "CTCGreedyDecoder", "Silence", "ArgMax", "Accuracy", "SegAccuracy", "Threshold", "Permute", "Transpose", "Reverse", "ShuffleChannel", "Unpooling",
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
	if err := e.addToWeights(n, i); err != nil {
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

// addToWeights adds the errors of layer i to its weights' gradients, if they are sums of products. Biases are plain sums in all
// convolutions.
func (e *rounder) addToWeights(n *swnet.Net, i int) error {
	if len(n.Layer(i).Params()) == 0 || !slices.Contains(linear, n.LayerType(i)) {
		return nil
	}
	all, err := deviations(n, i)
	if err != nil {
		return err
	}
	for k, w := range n.Layer(i).Params() {
		st := e.strategy
		if k > 0 {
			st = shape.Explicit
		}
		part, spreads := sumError(n.LayerParam(i), st)
		mean := rms(all[k])
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			continue
		}
		for j, own := range all[k] {
			size := float64(own)
			if spreads {
				size = mean
			}
			if size > 0 {
				w.Diff()[j] += float32(part * size * e.r.NormFloat64())
			}
		}
	}
	return nil
}

// deviations returns, for the gradient of each weight of a linear layer, the root of the sum of its squared terms. A sum of terms with
// random signs has this deviation. The layer's own Backward computes the sums, of squared bottoms and squared gradients of the tops.
func deviations(n *swnet.Net, i int) (all [][]float32, err error) {
	params, x, dy, dx := n.Layer(i).Params(), datas(n.Bottoms(i)), diffs(n.Tops(i)), diffs(n.Bottoms(i))
	sums := diffs(params)
	for _, b := range n.Bottoms(i) {
		square(b.Data())
	}
	for _, b := range n.Tops(i) {
		square(b.Diff())
	}
	zeroGrads(n, i)
	err = n.BackwardLayer(i)
	for _, w := range params {
		root := slices.Clone(w.Diff())
		for j, v := range root {
			root[j] = float32(math.Sqrt(float64(v)))
		}
		all = append(all, root)
	}
	restore(params, sums, (*blob.Blob).Diff)
	restore(n.Bottoms(i), x, (*blob.Blob).Data)
	restore(n.Bottoms(i), dx, (*blob.Blob).Diff)
	restore(n.Tops(i), dy, (*blob.Blob).Diff)
	return all, err
}

func square(x []float32) {
	for k, v := range x {
		x[k] = v * v
	}
}
