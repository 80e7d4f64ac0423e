package norm

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// bnWeights are the places of a form's weights. factor divides mean and variance; -1: there is none.
type bnWeights struct{ slope, bias, mean, variance, factor int }

var (
	weightsOfBN = bnWeights{slope: 0, bias: 1, mean: 2, variance: 3, factor: -1}
	weightsOfNV = bnWeights{mean: 0, variance: 1, factor: 2, slope: 3, bias: 4}
)

// SetUp tells the layers apart by the fields that are set.
func (l *bn) SetUp(bottom, _ []*blob.Blob) error {
	l.norm = l.Device.NewBlob(0)
	if l.Param.GetType() == "BatchNorm" {
		return l.setUpNV(l.Param.GetBatchNormParam(), channels(bottom[0]))
	}
	p := l.Param.GetBnParam()
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
		l.at = weightsOfBN
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
	l.at = weightsOfBN
	l.fix(l.at.mean, l.at.variance)
	return errors.Join(l.AddWeight(orFiller(p.ScaleFiller, ones), 1, c, 1, 1), l.AddWeight(p.ShiftFiller, 1, c, 1, 1), l.AddWeight(nil, 1, c, 1, 1), l.AddWeight(nil, 1, c, 1, 1))
}

// leastVariance is the default of var_eps in PSPNet's first release.
const leastVariance = 1e-10

// setUpPSPNet prepares PSPNet's layer.
func (l *bn) setUpPSPNet(p *caffepb.BNParameter, c int) error {
	l.averages, l.momentum, l.eps, l.frozen = true, float64(p.GetMomentum()), float64(p.GetEps()), p.GetFrozen()
	l.fixed = l.frozen || !l.Train()
	variance := &caffepb.FillerParameter{}
	l.at = weightsOfBN
	l.fix(l.at.mean, l.at.variance)
	if l.frozen { // nothing will update it
		variance = ones
		l.fix(l.at.slope, l.at.bias)
	}
	return errors.Join(l.AddWeight(orFiller(p.GetSlopeFiller(), ones), 1, c), l.AddWeight(p.GetBiasFiller(), 1, c), l.AddWeight(nil, 1, c), l.AddWeight(variance, 1, c))
}

// fix sets the solver's multipliers of weights to 0.
func (l *bn) fix(weights ...int) {
	for _, i := range weights {
		for len(l.Param.Param) <= i {
			l.Param.Param = append(l.Param.Param, &caffepb.ParamSpec{})
		}
		l.Param.Param[i].LrMult, l.Param.Param[i].DecayMult = proto.Float32(0), proto.Float32(0)
	}
}

var ones = &caffepb.FillerParameter{Value: proto.Float32(1)}

func orFiller(f, missing *caffepb.FillerParameter) *caffepb.FillerParameter {
	if f == nil {
		return missing
	}
	return f
}

// hasNVFields reports whether a BatchNorm layer is NVCaffe's, which scales and shifts.
func hasNVFields(p *caffepb.BatchNormParameter) bool {
	return p.GetScaleBias() || p.GetScaleFiller() != nil || p.GetBiasFiller() != nil
}

// setUpNV prepares NVCaffe's BatchNorm.
func (l *bn) setUpNV(p *caffepb.BatchNormParameter, c int) error {
	fraction := float64(p.GetMovingAverageFraction())
	if !(fraction >= 0 && fraction <= 1) {
		return fmt.Errorf("moving_average_fraction must be between 0 and 1, it is %g", fraction)
	}
	if l.Device.Log != nil {
		l.Device.Log.Infof("layer %q: batch_norm_param has scale_bias, scale_filler or bias_filler: NVCaffe's BatchNorm with weights mean, variance, factor, scale and bias", l.Param.GetName())
	}
	l.at = weightsOfNV
	l.averages, l.momentum, l.eps = true, fraction, max(float64(p.GetEps()), leastNVEps)
	l.fixed = !l.Train() || p.GetUseGlobalStats()
	l.fix(l.at.mean, l.at.variance, l.at.factor)
	return errors.Join(l.AddWeight(nil, c), l.AddWeight(nil, c), l.AddWeight(nil, 1), l.AddWeight(orFiller(p.ScaleFiller, ones), c), l.AddWeight(p.BiasFiller, c))
}

// leastNVEps is the least eps that NVCaffe, like cuDNN, takes.
const leastNVEps = 1e-5
