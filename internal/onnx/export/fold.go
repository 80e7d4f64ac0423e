package export

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
)

// folded says how a layer is merged with its neighbours. gone means that an earlier layer computes it. Otherwise the layer computes all layers
// up to number by, whose top it writes.
type folded struct {
	gone    bool
	by      int
	top     string
	weights map[int][]float32 // the layer's weights after folding
	bias    []float32         // for a convolution or inner product without bias
	scaling int               // for BatchNorm: the Scale layer whose weights it takes; -1: none
}

// plan finds the layers to merge: a Scale after a BatchNorm, and with Options.Fold both after a layer with weights.
func (e *exporter) plan() map[int]*folded {
	merged := map[int]*folded{}
	for i := range e.net.NumLayers() {
		if merged[i] != nil || len(e.net.Tops(i)) != 1 {
			continue
		}
		switch kind := e.net.LayerType(i); {
		case kind == "BatchNorm" && e.globalStatistics(i) && len(e.net.Layer(i).Params()) == 3:
			if j := e.reader(i); j >= 0 && e.net.LayerType(j) == "Scale" && e.byChannel(j) {
				merged[i] = &folded{by: j, top: e.net.LayerParam(j).GetTop()[0], scaling: j}
				merged[j] = &folded{gone: true}
			}
		case e.opt.Fold && e.foldable(i):
			e.foldInto(i, merged)
		}
	}
	return merged
}

// reader returns the layer that reads the only top of layer i, or -1. A net has Split layers, so there is at most one.
func (e *exporter) reader(i int) int {
	top := e.net.LayerParam(i).GetTop()[0]
	for j := i + 1; j < e.net.NumLayers(); j++ {
		if slices.Contains(e.net.LayerParam(j).GetBottom(), top) {
			return j
		}
	}
	return -1
}

func (e *exporter) globalStatistics(i int) bool {
	p := e.net.LayerParam(i).GetBatchNormParam()
	return len(e.net.Layer(i).Params()) == 5 || p == nil || p.UseGlobalStats == nil || p.GetUseGlobalStats()
}

// epsilon returns what a BatchNorm layer adds to variances. NVCaffe's, which has five weights, takes no less than cuDNN does.
func (e *exporter) epsilon(i int) float32 {
	eps := e.net.LayerParam(i).GetBatchNormParam().GetEps()
	if len(e.net.Layer(i).Params()) == 5 {
		return max(eps, 1e-5)
	}
	return eps
}

// byChannel reports whether a Scale or Bias layer has one weight for each index of axis 1.
func (e *exporter) byChannel(j int) bool {
	bottom, w := e.net.Bottoms(j), e.net.Layer(j).Params()
	axis := e.net.LayerParam(j).GetScaleParam().GetAxis()
	if e.net.LayerType(j) == "Bias" {
		axis = e.net.LayerParam(j).GetBiasParam().GetAxis()
	}
	at, ok := bottom[0].Axis(int(axis))
	return len(bottom) == 1 && ok && at == 1 && w[0].NumAxes() == 1
}

// foldable reports whether layer i multiplies with weights and has its outputs on axis 1.
func (e *exporter) foldable(i int) bool {
	if len(e.net.Bottoms(i)) != 1 || e.net.Precision(i) == cpe.INT8 {
		return false
	}
	p, bottom := e.net.LayerParam(i), e.net.Bottoms(i)[0]
	axis := p.GetConvolutionParam().GetAxis()
	switch e.net.LayerType(i) {
	case "InnerProduct":
		if p.GetInnerProductParam().GetNormalize() {
			return false
		}
		axis = p.GetInnerProductParam().GetAxis()
	case "Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution":
	default:
		return false
	}
	at, ok := bottom.Axis(int(axis))
	return ok && at == 1
}

// foldInto multiplies the BatchNorm, Scale and Bias layers behind layer i into its weights.
func (e *exporter) foldInto(i int, merged map[int]*folded) {
	w := e.net.Layer(i).Params()
	outputs := e.net.Tops(i)[0].Dim(1)
	factor, shift := make([]float64, outputs), make([]float64, outputs)
	for c := range factor {
		factor[c] = 1
		if len(w) > 1 {
			shift[c] = float64(w[1].Data()[c])
		}
	}
	at := i
	for j := e.reader(i); j >= 0 && e.absorb(j, factor, shift); j = e.reader(j) {
		at, merged[j] = j, &folded{gone: true}
	}
	if at == i {
		return
	}
	f := &folded{by: at, top: e.net.LayerParam(at).GetTop()[0], weights: map[int][]float32{}}
	channel := e.outputOf(i)
	values := slices.Clone(w[0].Data())
	for k := range values {
		values[k] = float32(float64(values[k]) * factor[channel(k)])
	}
	bias := make([]float32, outputs)
	for c := range bias {
		bias[c] = float32(shift[c])
	}
	f.weights[0] = values
	if len(w) > 1 {
		f.weights[1] = bias
	} else {
		f.bias = bias
	}
	merged[i] = f
}

// absorb applies layer j to y = factor * x + shift, if it is of a kind that can be folded.
func (e *exporter) absorb(j int, factor, shift []float64) bool {
	if len(e.net.Bottoms(j)) != 1 {
		return false
	}
	w := e.net.Layer(j).Params()
	switch kind := e.net.LayerType(j); {
	case kind == "BatchNorm" && e.globalStatistics(j):
		mean, variance := statistics(e.net.Layer(j))
		eps := float64(e.epsilon(j))
		for c := range factor {
			s, add := 1/math.Sqrt(float64(variance[c])+eps), 0.0
			if len(w) == 5 {
				s, add = s*float64(w[3].Data()[c]), float64(w[4].Data()[c])
			}
			factor[c], shift[c] = factor[c]*s, (shift[c]-float64(mean[c]))*s+add
		}
	case kind == "Scale" && e.byChannel(j):
		for c := range factor {
			s := float64(w[0].Data()[c])
			factor[c], shift[c] = factor[c]*s, shift[c]*s
			if len(w) > 1 {
				shift[c] += float64(w[1].Data()[c])
			}
		}
	case kind == "Bias" && e.byChannel(j):
		for c := range shift {
			shift[c] += float64(w[0].Data()[c])
		}
	default:
		return false
	}
	return true
}

// outputOf returns the function from the index of a weight to the output channel that it makes.
func (e *exporter) outputOf(i int) func(k int) int {
	p, w := e.net.LayerParam(i), e.net.Layer(i).Params()[0]
	switch {
	case e.net.LayerType(i) == "Deconvolution":
		group, perGroup, inner := int(p.GetConvolutionParam().GetGroup()), w.Dim(1), w.CountFrom(2)
		inputs := w.Dim(0) / group
		return func(k int) int { return k/(inner*perGroup)/inputs*perGroup + k/inner%perGroup }
	case p.GetInnerProductParam().GetTranspose() && e.net.LayerType(i) == "InnerProduct":
		return func(k int) int { return k % w.Dim(1) }
	}
	inner := w.CountFrom(1)
	return func(k int) int { return k / inner }
}

// statistics returns a BatchNorm layer's means and variances: its sums divided by their factor, zeros if that is 0.
func statistics(l layers.Layer) (mean, variance []float32) {
	w := l.Params()
	scale := float32(0)
	if f := w[2].Data()[0]; f != 0 {
		scale = 1 / f
	}
	if scale == 1 {
		return w[0].Data(), w[1].Data()
	}
	mean, variance = slices.Clone(w[0].Data()), slices.Clone(w[1].Data())
	for c := range mean {
		mean[c] *= scale
		variance[c] *= scale
	}
	return mean, variance
}
