package layers

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	Register(Type{
		Name: "BatchNorm", Doc: "y = (x - mean) / sqrt(var + eps) by channel, with the batch's statistics or stored ones",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &batchNorm{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(1), Tops: Exactly(1), InPlace: true,
	})
}

// batchNorm is Caffe's BatchNorm layer (Ioffe and Szegedy 2015), without scale and shift. Its three weights are running
// sums: of means, of variances (times m/(m-1) for m values a channel) and of the factor both must be divided by; the solver
// does not touch them.
type batchNorm struct {
	Base
	global   bool
	fraction float32
	eps      float64

	dims       [3]int // items, channels, values a channel
	norm       *blob.Blob
	mean, std1 []float32 // of the running pass; std1 is 1/sqrt(var + eps)
	a, b       []float32 // means of dy and of dy*y

	meanSums, varSums, gradSums, forward, backward *kernel.StreamKernel
	ins                                            [5][]float32
	outs                                           [2][]float32
}

func (l *batchNorm) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetBatchNormParam()
	l.global = !l.train()
	if p != nil && p.UseGlobalStats != nil {
		l.global = p.GetUseGlobalStats()
	}
	l.fraction, l.eps = p.GetMovingAverageFraction(), float64(p.GetEps())
	l.norm = blob.New(0)
	for i, n := range []int{l.channels(bottom[0]), l.channels(bottom[0]), 1} {
		l.params = append(l.params, blob.New(n))
		if len(l.Param.Param) <= i {
			l.Param.Param = append(l.Param.Param, &caffepb.ParamSpec{})
		}
		if l.Param.Param[i].LrMult != nil && l.Param.Param[i].GetLrMult() != 0 {
			return fmt.Errorf("cannot configure batch normalization statistics as layer parameters: lr_mult of param %d is %g", i, l.Param.Param[i].GetLrMult())
		}
		l.Param.Param[i].LrMult, l.Param.Param[i].DecayMult = proto.Float32(0), proto.Float32(0)
	}
	return nil
}

func (l *batchNorm) channels(b *blob.Blob) int {
	if b.NumAxes() < 2 {
		return 1
	}
	return b.Dim(1)
}

func (l *batchNorm) Reshape(bottom, top []*blob.Blob) error {
	c := l.channels(bottom[0])
	if c != l.params[0].Count() {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d channels", bottom[0].ShapeString(), l.params[0].Count())
	}
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	n := bottom[0].Legacy(0)
	dims := [3]int{n, c, bottom[0].Count() / max(1, n*c)}
	if dims == l.dims {
		return nil
	}
	l.dims = dims
	l.norm.ReshapeLike(bottom[0])
	l.mean, l.std1, l.a, l.b = make([]float32, c), make([]float32, c), make([]float32, c), make([]float32, c)
	if l.mpe() {
		return nil
	}
	return l.prepare()
}

func (l *batchNorm) prepare() (err error) {
	full, row := kernel.Full, kernel.Row
	m := l.Device.Machine
	if l.meanSums, err = newChannelSum(l.Device, l.dims); err != nil {
		return err
	}
	l.varSums, err = kernel.NewStream(m, kernel.Stream{
		Name: "batch norm variance", Dims: l.dims, Ins: []kernel.Array{full, row}, Sums: 1, Cost: kernel.Work{Flops: 3},
		Op: func(t *kernel.Tile) {
			eachRow(t, func(at, n, m int) {
				if t.I > 1 {
					t.Sum[m] += simd.SqDiff(t.In[0][at:at+n], t.In[1][m])
					return
				}
				for k, v := range t.In[0][at : at+n] {
					d := float64(v) - float64(t.In[1][k])
					t.Sum[k] += d * d
				}
			})
		},
	})
	if err != nil {
		return err
	}
	l.forward, err = kernel.NewStream(m, kernel.Stream{
		Name: "batch norm", Dims: l.dims, Ins: []kernel.Array{full, row, row}, Outs: []kernel.Array{full, full}, Cost: kernel.Work{Flops: 2},
		Op: func(t *kernel.Tile) { eachRow(t, func(at, n, m int) { normaliseRow(t, at, n, m) }) },
	})
	if err != nil {
		return err
	}
	l.gradSums, err = kernel.NewStream(m, kernel.Stream{
		Name: "batch norm gradient sums", Dims: l.dims, Ins: []kernel.Array{full, full}, Sums: 2, Cost: kernel.Work{Flops: 3},
		Op: func(t *kernel.Tile) { eachRow(t, func(at, n, m int) { sumRow(t, at, n, m) }) },
	})
	if err != nil {
		return err
	}
	l.backward, err = kernel.NewStream(m, kernel.Stream{
		Name: "batch norm gradient", Dims: l.dims, Ins: []kernel.Array{full, full, row, row, row}, Outs: []kernel.Array{full},
		Cost: kernel.Work{Flops: 4}, Op: func(t *kernel.Tile) { eachRow(t, func(at, n, m int) { gradientRow(t, at, n, m) }) },
	})
	return err
}

// normaliseRow: y = (x - mean) * std1, written to both outputs.
func normaliseRow(t *kernel.Tile, at, n, m int) {
	y, mean, std1 := t.Out[1][at:at+n], t.In[1], t.In[2]
	if t.I == 1 {
		simd.Sub(y, t.In[0][at:], mean)
		simd.Mul(y, y, std1)
	} else {
		simd.AddScalar(y, t.In[0][at:], -mean[m])
		simd.Scale(y, y, std1[m])
	}
	copy(t.Out[0][at:at+n], y)
}

// gradientRow: dx = (dy - a - b*y) * std1.
func gradientRow(t *kernel.Tile, at, n, m int) {
	dx, dy, y := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n]
	a, b, std1 := t.In[2], t.In[3], t.In[4]
	if t.I == 1 {
		for k := range dx {
			dx[k] = (dy[k] - a[k] - b[k]*y[k]) * std1[k]
		}
		return
	}
	simd.AddScalar(dx, dy, -a[m])
	simd.Axpy(dx, y, -b[m])
	simd.Scale(dx, dx, std1[m])
}

func (l *batchNorm) Forward(bottom, top []*blob.Blob) error {
	x := bottom[0].Data()
	if l.global {
		l.useGlobal()
	} else if err := l.useBatch(x); err != nil {
		return err
	}
	y, norm := top[0].Data(), l.norm.Data()
	if !l.mpe() {
		l.ins[0], l.ins[1], l.ins[2], l.outs = x, l.mean, l.std1, [2][]float32{y, norm}
		return l.forward.Run(l.ins[:3], l.outs[:])
	}
	for i, v := range x {
		c := i / l.dims[2] % l.dims[1]
		norm[i] = float32((float64(v) - float64(l.mean[c])) * float64(l.std1[c]))
		y[i] = norm[i]
	}
	return nil
}

// useGlobal takes the stored statistics; a factor of 0 makes them 0.
func (l *batchNorm) useGlobal() {
	scale := float64(l.params[2].Data()[0])
	if scale != 0 {
		scale = 1 / scale
	}
	for c := range l.mean {
		l.mean[c] = float32(scale * float64(l.params[0].Data()[c]))
		l.std1[c] = float32(1 / math.Sqrt(scale*float64(l.params[1].Data()[c])+l.eps))
	}
}

// useBatch computes the batch's statistics in two passes and adds them to the running sums.
func (l *batchNorm) useBatch(x []float32) error {
	count := float64(l.dims[0] * l.dims[2])
	sums, err := l.channelSums(x, l.meanSums, func(v float32, _ int) float64 { return float64(v) })
	if err != nil {
		return err
	}
	for c, s := range sums {
		l.mean[c] = float32(s / count)
	}
	if sums, err = l.channelSums(x, l.varSums, func(v float32, c int) float64 {
		d := float64(v) - float64(l.mean[c])
		return d * d
	}); err != nil {
		return err
	}
	correction := 1.0
	if count > 1 {
		correction = count / (count - 1)
	}
	means, variances, factor := l.params[0].Data(), l.params[1].Data(), l.params[2].Data()
	factor[0] = factor[0]*l.fraction + 1
	for c, s := range sums {
		variance := s / count
		l.std1[c] = float32(1 / math.Sqrt(variance+l.eps))
		means[c] = means[c]*l.fraction + l.mean[c]
		variances[c] = variances[c]*l.fraction + float32(correction*variance)
	}
	return nil
}

// channelSums adds f(x) up by channel, on the layer's path; k computes the same f.
func (l *batchNorm) channelSums(x []float32, k *kernel.StreamKernel, f func(v float32, c int) float64) ([]float64, error) {
	if !l.mpe() {
		l.ins[0], l.ins[1] = x, l.mean
		n := 1
		if k == l.varSums {
			n = 2
		}
		return k.Sums(), k.Run(l.ins[:n], nil)
	}
	sums := make([]float64, l.dims[1])
	for i, v := range x {
		c := i / l.dims[2] % l.dims[1]
		sums[c] += f(v, c)
	}
	return sums, nil
}

// Backward: with stored statistics dx = dy/std; else dx = (dy - mean(dy) - mean(dy*y)*y) / std, means over the batch.
func (l *batchNorm) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	dy, y, dx := top[0].Diff(), l.norm.Data(), bottom[0].Diff()
	clear(l.a)
	clear(l.b)
	if !l.global {
		sums, err := l.gradientSums(dy, y)
		if err != nil {
			return err
		}
		count := float64(l.dims[0] * l.dims[2])
		for c := range l.a {
			l.b[c], l.a[c] = float32(sums[c]/count), float32(sums[l.dims[1]+c]/count)
		}
	}
	if !l.mpe() {
		l.ins, l.outs[0] = [5][]float32{dy, y, l.a, l.b, l.std1}, dx
		return l.backward.Run(l.ins[:], l.outs[:1])
	}
	for i, g := range dy {
		c := i / l.dims[2] % l.dims[1]
		dx[i] = float32((float64(g) - float64(l.a[c]) - float64(l.b[c])*float64(y[i])) * float64(l.std1[c]))
	}
	return nil
}

// gradientSums returns by channel the sums of dy*y, then those of dy.
func (l *batchNorm) gradientSums(dy, y []float32) ([]float64, error) {
	if !l.mpe() {
		l.ins[0], l.ins[1] = dy, y
		return l.gradSums.Sums(), l.gradSums.Run(l.ins[:2], nil)
	}
	sums := make([]float64, 2*l.dims[1])
	for i, g := range dy {
		c := i / l.dims[2] % l.dims[1]
		sums[c] += float64(g) * float64(y[i])
		sums[l.dims[1]+c] += float64(g)
	}
	return sums, nil
}
