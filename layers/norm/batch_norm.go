package norm

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "BatchNorm", Doc: "y = (x - mean) / sqrt(var + eps) by channel, with the batch's statistics or stored ones",
		Couples: ofBatchStatistics, Effects: learnsStatistics,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			if hasNVFields(p.GetBatchNormParam()) {
				return &bn{Base: layers.Base{Param: p, Device: d}}
			}
			return &batchNorm{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// batchNorm is Caffe's BatchNorm layer (Ioffe and Szegedy 2015, algorithm 1), without scale and shift. Its three weights are running sums:
// of means, of variances (times m/(m-1) for m values per channel), and of the factor that divides both. The solver does not update them.
type batchNorm struct {
	layers.Base
	global   bool // use stored statistics, which are constants for the gradient
	fraction float32
	eps      float64

	axes       int // of the bottom
	normaliser normaliser
	norm       *blob.Blob // a copy of y, since a later layer may overwrite the top in place

	means, variances []float32 // the running sums; all core groups add the batch to them at once
}

func (l *batchNorm) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetBatchNormParam()
	l.global = !l.Train()
	if p != nil && p.UseGlobalStats != nil {
		l.global = p.GetUseGlobalStats()
	}
	l.fraction, l.eps = p.GetMovingAverageFraction(), float64(p.GetEps())
	l.norm = l.Device.NewBlob(0)
	c := channels(bottom[0])
	for _, n := range []int{c, c, 1} {
		if err := l.AddWeight(nil, n); err != nil {
			return err
		}
	}
	return l.fixParams()
}

// fixParams sets the solver's multipliers of all weights to 0.
func (l *batchNorm) fixParams() error {
	for i := range l.Weights {
		if len(l.Param.Param) <= i {
			l.Param.Param = append(l.Param.Param, &caffepb.ParamSpec{})
		}
		p := l.Param.Param[i]
		if p.LrMult != nil && p.GetLrMult() != 0 {
			return fmt.Errorf("cannot configure batch normalization statistics as layer parameters: lr_mult of param %d is %g", i, p.GetLrMult())
		}
		p.LrMult, p.DecayMult = proto.Float32(0), proto.Float32(0)
	}
	return nil
}

// Statistics implements RunningStatistics.
func (l *batchNorm) Statistics() []*blob.Blob {
	if l.global {
		return nil
	}
	return l.Weights
}

// channels returns the extent of axis 1, or 1 for a blob with one axis.
func channels(b *blob.Blob) int { return b.Legacy(1) }

func (l *batchNorm) Reshape(bottom, top []*blob.Blob) error {
	c := channels(bottom[0])
	if c != l.Weights[0].Count() {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d channels", bottom[0].ShapeString(), l.Weights[0].Count())
	}
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	l.axes = bottom[0].NumAxes()
	n, copies := bottom[0].Legacy(0), 1
	if !l.global {
		l.norm.ReshapeLike(bottom[0])
		copies = 2
	}
	dims := [3]int{n, c, bottom[0].Count() / max(1, n*c)}
	if err := l.InBlocks(l.axes, dims).Check(layers.Arranged{In: layers.Blocks(l.normaliser.blocked), Out: layers.Blocks(l.normaliser.blocked)}); err != nil {
		return err
	}
	return l.normaliser.reshape(&l.Base, dims, copies)
}

// Arrange implements Planned.
func (l *batchNorm) Arrange(a layers.Arranged) error {
	return l.normaliser.arrange(&l.Base, a)
}

func (l *batchNorm) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if l.global {
		l.useStored()
		return l.normaliser.apply(x, y, nil)
	}
	if err := l.useBatch(x); err != nil {
		return err
	}
	return l.normaliser.apply(x, y, l.norm.Data())
}

// storedFactor returns what the stored sums are multiplied by. If they were never added to, both statistics are 0.
func (l *batchNorm) storedFactor() float64 {
	if times := float64(l.Weights[2].Values()[0]); times != 0 {
		return 1 / times
	}
	return 0
}

// useStored sets mean and scale from the stored statistics.
func (l *batchNorm) useStored() {
	n, factor := &l.normaliser, l.storedFactor()
	means, variances := l.Weights[0].Values(), l.Weights[1].Values()
	for c := range n.mean {
		n.mean[c] = float32(factor * float64(means[c]))
		n.scale[c] = float32(1 / math.Sqrt(factor*float64(variances[c])+l.eps))
	}
}

// useBatch computes the batch's statistics and adds them to the running sums.
func (l *batchNorm) useBatch(x []float32) error {
	n := &l.normaliser
	batch, err := n.statistics(x)
	if err != nil {
		return err
	}
	l.beginBatch()
	for c, v := range batch {
		l.addChannel(c, v)
	}
	return nil
}

// beginBatch fetches the running sums and updates their factor for another batch. addChannel then adds each channel to the sums.
func (l *batchNorm) beginBatch() {
	l.means, l.variances = l.Weights[0].Data(), l.Weights[1].Data()
	factor := l.Weights[2].Data()
	factor[0] = factor[0]*l.fraction + 1
}

// addChannel sets the scale of channel c from its variance, and adds mean and variance to the running sums. The mean is already set.
func (l *batchNorm) addChannel(c int, variance float64) {
	n := &l.normaliser
	correction := 1.0
	if m := n.count(); m > 1 {
		correction = m / (m - 1)
	}
	n.scale[c] = float32(1 / math.Sqrt(variance+l.eps))
	l.means[c] = l.means[c]*l.fraction + n.mean[c]
	l.variances[c] = l.variances[c]*l.fraction + float32(correction*variance)
}

// Traits implements Planned. Forward keeps y, unless the statistics are constants.
func (l *batchNorm) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing, Layout: l.InBlocks(l.axes, l.normaliser.dims), Joins: layers.Joins{Finish: l.Blockable()}}
	if !l.global {
		t.Keeps = []*blob.Blob{l.norm}
	}
	if l.isMap() {
		t.Is.Map = l
	}
	return t
}

func (l *batchNorm) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	dy, dx := top[0].Diff(), bottom[0].Diff()
	if l.global {
		return l.normaliser.fixedGradient(dy, dx)
	}
	return l.normaliser.gradient(dy, l.norm.Data(), dx, true)
}

// learnsStatistics is the effect of layers that normalise by the batch's mean and variance and keep running averages of both.
func learnsStatistics(p *caffepb.LayerParameter) string {
	const learns = "changes its running statistics in every pass"
	switch n := p.GetBatchNormParam(); {
	case n != nil && n.UseGlobalStats != nil && n.GetUseGlobalStats() || p.GetBnParam().GetFrozen():
		return ""
	case n != nil && n.UseGlobalStats != nil:
		return learns
	}
	return layers.EffectInTraining(learns)(p)
}

// ofBatchStatistics is the rule of layers that normalise by the batch's mean and variance while they train.
func ofBatchStatistics(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	if p.GetBatchNormParam().GetUseGlobalStats() || p.GetBnParam().GetFrozen() {
		return layers.Coupling{}
	}
	return layers.InTraining("takes mean and variance over the items of each worker, not of the whole batch")(p, bottoms)
}
