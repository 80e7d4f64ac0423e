package norm

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "BN", Doc: "batch normalisation by channel with scale and shift, in the forms of PSPNet and SegNet",
		Couples: ofBatchStatistics, Effects: learnsStatistics,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &bn{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// bn is the BN layer of three forks, and NVCaffe's BatchNorm: y = slope * (x - mean) / sqrt(variance + eps) + bias by channel.
//
// PSPNet's has the weights slope, bias, mean and variance, the last two running averages: new = momentum * old + (1 - momentum) * batch. The
// test phase uses them, and so does a frozen layer, which also keeps slope and bias. The first release of PSPNet (moving_average, decay or
// axis) has the same weights in other shapes; there momentum is 1 - decay, and the test phase uses the averages only if moving_average is set.
// SegNet's layer (scale_filler, shift_filler, var_eps or bn_mode) has the weights scale and shift only. It uses the batch's statistics in both
// phases, and with bn_mode INFERENCE none: then the weights include them.
// NVCaffe's BatchNorm (scale_bias, scale_filler or bias_filler) has the weights mean, variance, their divisor, scale and bias. The averages are
// new = fraction * old + (1 - fraction) * batch, of variances times m/(m-1) for m values per channel, and those of the first batch are its own.
type bn struct {
	layers.Base
	at            bnWeights
	frozen, fixed bool // fixed: the statistics do not depend on x
	averages      bool // there are running averages
	momentum, eps float64

	normaliser normaliser
	norm       *blob.Blob // (x - mean) / sqrt(variance + eps)
	factors    []float32  // slope / sqrt(variance + eps), for Backward

	forward *stream.Kernel
	ins     [5][]float32
	outs    [2][]float32
}

// learns reports whether Forward updates the running averages.
func (l *bn) learns() bool { return l.averages && !l.fixed && l.Train() }

// Statistics implements RunningStatistics.
func (l *bn) Statistics() []*blob.Blob {
	if !l.learns() {
		return nil
	}
	if l.at.factor >= 0 {
		return []*blob.Blob{l.Weights[l.at.mean], l.Weights[l.at.variance], l.Weights[l.at.factor]}
	}
	return []*blob.Blob{l.Weights[l.at.mean], l.Weights[l.at.variance]}
}

func (l *bn) Reshape(bottom, top []*blob.Blob) error {
	c := channels(bottom[0])
	if c != l.Weights[0].Count() {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d channels", bottom[0].ShapeString(), l.Weights[0].Count())
	}
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	l.norm.ReshapeLike(bottom[0])
	n := bottom[0].Legacy(0)
	dims := [3]int{n, c, bottom[0].Count() / max(1, n*c)}
	if l.normaliser.dims == dims {
		return nil
	}
	l.factors = make([]float32, c)
	if err := l.normaliser.reshape(&l.Base, dims, 1); err != nil || l.MPE() {
		return err
	}
	streams, row := part.StreamsOf(&l.Base), stream.Row
	l.forward = streams.Make(stream.Pass{
		Name: "BN", Dims: dims, Ins: part.Arrays(1, row, row, row, row), Outs: part.Arrays(2), Cost: stream.Work{Flops: 4},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			norm := t.Out[1][at : at+n]
			normalise(norm, t.In[0][at:], t.In[1], t.In[2], t.I, m)
			scaleShift(t.Out[0][at:at+n], norm, t.In[3], t.In[4], t.I, m)
		}),
	})
	return streams.Err
}

func (l *bn) Forward(bottom, top []*blob.Blob) error {
	x, y, norm := bottom[0].Data(), top[0].Data(), l.norm.Data()
	if err := l.statistics(x); err != nil {
		return err
	}
	n := &l.normaliser
	slope, bias := l.Weights[l.at.slope].Values(), l.Weights[l.at.bias].Values()
	for c, s := range slope {
		l.factors[c] = s * n.scale[c]
	}
	if !l.MPE() {
		l.ins, l.outs = [5][]float32{x, n.mean, n.scale, slope, bias}, [2][]float32{y, norm}
		return l.forward.Run(l.ins[:], l.outs[:])
	}
	for i, v := range x {
		c := n.mid(i)
		z := (float64(v) - float64(n.mean[c])) * float64(n.scale[c])
		norm[i], y[i] = float32(z), float32(z*float64(slope[c])+float64(bias[c]))
	}
	return nil
}

// statistics sets the means and 1 / sqrt(variance + eps), and updates the running averages.
func (l *bn) statistics(x []float32) error {
	n := &l.normaliser
	switch {
	case l.fixed && !l.averages:
		clear(n.mean)
		vec.Fill(n.scale, 1)
		return nil
	case l.fixed:
		l.useStored()
		return nil
	}
	if len(x) == 0 { // there are no statistics
		return nil
	}
	variances, err := n.statistics(x)
	if err != nil {
		return err
	}
	for c := range n.scale {
		n.scale[c] = float32(1 / math.Sqrt(variances[c]+l.eps))
	}
	if l.learns() {
		l.average(variances)
	}
	return nil
}

// divisor returns what divides the stored mean and variance: 1, or the weight for it.
func (l *bn) divisor() float64 {
	if l.at.factor < 0 {
		return 1
	}
	return float64(l.Weights[l.at.factor].Values()[0])
}

// part is the factor of the stored mean and variance, 0 if there are none.
func (l *bn) part() float64 {
	if d := l.divisor(); d != 0 {
		return 1 / d
	}
	return 0
}

// useStored sets means and scales from the running averages. If their divisor is 0, there are none, and they count 0.
func (l *bn) useStored() {
	n, part := &l.normaliser, l.part()
	variances := l.Weights[l.at.variance].Values()
	for c, v := range l.Weights[l.at.mean].Values() {
		n.mean[c] = float32(part * float64(v))
		n.scale[c] = float32(1 / math.Sqrt(part*float64(variances[c])+l.eps))
	}
}

// average adds a batch's statistics to the running averages.
func (l *bn) average(variances []float64) {
	n, old, correction := &l.normaliser, l.momentum, 1.0
	fresh := 1 - old
	if l.at.factor >= 0 {
		switch d := l.divisor(); d {
		case 0:
			old, fresh = 0, 1
		default:
			old /= d
		}
		l.Weights[l.at.factor].Data()[0] = 1
		if m := n.count(); m > 1 {
			correction = m / (m - 1)
		}
	}
	means, stored := l.Weights[l.at.mean].Data(), l.Weights[l.at.variance].Data()
	for c, v := range variances {
		means[c] = float32(old*float64(means[c]) + fresh*float64(n.mean[c]))
		stored[c] = float32(old*float64(stored[c]) + fresh*correction*v)
	}
}

// Traits implements Planned. Forward keeps the normalised values.
func (l *bn) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.norm}}
	if l.isMap() {
		t.Is.Map = l
	}
	return t
}

func (l *bn) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	n, dy, norm := &l.normaliser, top[0].Diff(), l.norm.Data()
	if len(dy) == 0 {
		return nil
	}
	slopes, biases := l.ParamGrad(l.at.slope) && !l.frozen, l.ParamGrad(l.at.bias) && !l.frozen
	if slopes || biases || !l.fixed {
		if err := n.gradientMeans(dy, norm); err != nil {
			return err
		}
	}
	if slopes {
		l.addGrad(l.at.slope, n.dyyMean)
	}
	if biases {
		l.addGrad(l.at.bias, n.dyMean)
	}
	if !propagateDown[0] {
		return nil
	}
	scale := n.scale
	n.scale = l.factors
	defer func() { n.scale = scale }()
	if l.fixed {
		return n.fixedGradient(dy, bottom[0].Diff())
	}
	return n.gradientFromMeans(dy, norm, bottom[0].Diff())
}

// addGrad adds a gradient by channel, given as a mean, to that of weight i.
func (l *bn) addGrad(i int, means []float32) {
	grad := l.Weights[i].Diff()
	for c, m := range means {
		grad[c] += float32(float64(m) * l.normaliser.count())
	}
}
