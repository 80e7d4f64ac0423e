package norm

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "BN", Doc: "batch normalisation by channel with scale and shift, in the forms of PSPNet and SegNet",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &bn{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// bn is the BN layer of three forks: y = slope * (x - mean) / sqrt(variance + eps) + bias by channel.
//
// PSPNet's has the weights slope, bias, mean and variance, the last two running averages: new = momentum * old + (1 - momentum) * batch. The
// test phase uses them, and so does a frozen layer, which also keeps slope and bias. The first release of PSPNet (moving_average, decay or
// axis) has the same weights in other shapes; there momentum is 1 - decay, and the test phase uses the averages only if moving_average is set.
// SegNet's layer (scale_filler, shift_filler, var_eps or bn_mode) has the weights scale and shift only. It uses the batch's statistics in both
// phases, and with bn_mode INFERENCE none: then the weights include them.
type bn struct {
	layers.Base
	frozen, fixed bool // fixed: the statistics do not depend on x
	averages      bool // there are running averages
	momentum, eps float64

	axes       int
	normaliser normaliser
	norm       *blob.Blob // (x - mean) / sqrt(variance + eps)
	factors    []float32  // slope / sqrt(variance + eps), for Backward

	forward *stream.Kernel
	ins     [5][]float32
	outs    [2][]float32
}

func (l *bn) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetBnParam()
	l.norm = l.Device.NewBlob(0)
	moving := p != nil && (p.MovingAverage != nil || p.Decay != nil || p.Axis != nil)
	segnet := moving || p != nil && (p.ScaleFiller != nil || p.ShiftFiller != nil || p.VarEps != nil || p.BnMode != nil)
	switch {
	case segnet && (p.SlopeFiller != nil || p.BiasFiller != nil || p.Momentum != nil || p.Eps != nil || p.Frozen != nil):
		return errors.New("bn_param has fields of PSPNet's BN layer (slope_filler, bias_filler, momentum, eps, frozen) and of SegNet's or PSPNet's first (scale_filler, shift_filler, var_eps, bn_mode, moving_average, decay, axis): they are different layers")
	case moving && p.BnMode != nil:
		return errors.New("bn_param has fields of SegNet's BN layer (bn_mode) and of PSPNet's first (moving_average, decay, axis): they are two layers")
	case p.GetAxis() != 1:
		return fmt.Errorf("axis must be 1, it is %d", p.GetAxis())
	case moving:
		return l.setUpMoving(p, channels(bottom[0]))
	case segnet:
		c := channels(bottom[0])
		l.eps, l.fixed = float64(p.GetVarEps()), p.GetBnMode() == caffepb.BNParameter_INFERENCE
		return errors.Join(l.AddWeight(orFiller(p.ScaleFiller, ones), 1, c, 1, 1), l.AddWeight(p.ShiftFiller, 1, c, 1, 1))
	}
	return l.setUpPSPNet(p, channels(bottom[0]))
}

// setUpMoving prepares the layer of PSPNet's first release.
func (l *bn) setUpMoving(p *caffepb.BNParameter, c int) error {
	decay := float64(p.GetDecay())
	if !(decay >= 0 && decay <= 1) {
		return fmt.Errorf("decay must be between 0 and 1, it is %g", decay)
	}
	l.averages, l.momentum, l.eps = true, 1-decay, leastVariance
	if p.VarEps != nil {
		l.eps = float64(p.GetVarEps())
	}
	l.fixed = p.GetMovingAverage() && !l.Train()
	l.fix(2)
	return errors.Join(l.AddWeight(orFiller(p.ScaleFiller, ones), 1, c, 1, 1), l.AddWeight(p.ShiftFiller, 1, c, 1, 1), l.AddWeight(nil, 1, c, 1, 1), l.AddWeight(nil, 1, c, 1, 1))
}

// leastVariance is the default of var_eps in PSPNet's first release.
const leastVariance = 1e-10

// setUpPSPNet prepares PSPNet's layer.
func (l *bn) setUpPSPNet(p *caffepb.BNParameter, c int) error {
	l.averages, l.momentum, l.eps, l.frozen = true, float64(p.GetMomentum()), float64(p.GetEps()), p.GetFrozen()
	l.fixed = l.frozen || !l.Train()
	variance, first := &caffepb.FillerParameter{}, 2
	if l.frozen { // nothing will update it
		variance, first = ones, 0
	}
	l.fix(first)
	return errors.Join(l.AddWeight(orFiller(p.GetSlopeFiller(), ones), 1, c), l.AddWeight(p.GetBiasFiller(), 1, c), l.AddWeight(nil, 1, c), l.AddWeight(variance, 1, c))
}

// fix sets the solver's multipliers of the weights from a first one on to 0.
func (l *bn) fix(first int) {
	for i := range 4 {
		for len(l.Param.Param) <= i {
			l.Param.Param = append(l.Param.Param, &caffepb.ParamSpec{})
		}
		if q := l.Param.Param[i]; i >= first {
			q.LrMult, q.DecayMult = proto.Float32(0), proto.Float32(0)
		}
	}
}

var ones = &caffepb.FillerParameter{Value: proto.Float32(1)}

func orFiller(f, missing *caffepb.FillerParameter) *caffepb.FillerParameter {
	if f == nil {
		return missing
	}
	return f
}

// learns reports whether Forward updates the running averages.
func (l *bn) learns() bool { return l.averages && !l.fixed && l.Train() }

// Statistics implements RunningStatistics.
func (l *bn) Statistics() []*blob.Blob {
	if !l.learns() {
		return nil
	}
	return l.Weights[2:]
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
	slope, bias := l.Weights[0].Values(), l.Weights[1].Values()
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
		copy(n.mean, l.Weights[2].Values())
		for c, v := range l.Weights[3].Values() {
			n.scale[c] = float32(1 / math.Sqrt(float64(v)+l.eps))
		}
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
		if l.learns() {
			l.average(2, c, float64(n.mean[c]))
			l.average(3, c, variances[c])
		}
	}
	return nil
}

// average adds a batch's value to the running average of channel c in weight i.
func (l *bn) average(i, c int, batch float64) {
	stored := &l.Weights[i].Data()[c]
	*stored = float32(l.momentum*float64(*stored) + (1-l.momentum)*batch)
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
	slopes, biases := l.ParamGrad(0) && !l.frozen, l.ParamGrad(1) && !l.frozen
	if slopes || biases || !l.fixed {
		if err := n.gradientMeans(dy, norm); err != nil {
			return err
		}
	}
	if slopes {
		l.addGrad(0, n.dyyMean)
	}
	if biases {
		l.addGrad(1, n.dyMean)
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
