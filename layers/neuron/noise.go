package neuron

import (
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
		Name: "Noise", Doc: "adds Gaussian or uniform noise in training",
		Couples: layers.InTraining("draws other random numbers in every worker"), Effects: layers.Draws,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &noise{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// noise is the Noise layer of forks for face recognition: y = x + n with n of mean bias in training, y = x otherwise. n is normal with
// deviation gaussian_std, or, without gaussian_std, uniform within uniform_range of the bias; with neither, y = x. The noise of element i is
// random number i of the pass's key, whatever tile or core computes it.
type noise struct {
	layers.Base
	key       uint64
	count     int
	add       *stream.Kernel
	move      part.Mover
	ins, outs [1][]float32
}

func (l *noise) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *noise) Reshape(bottom, top []*blob.Blob) error {
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	if l.count == bottom[0].Count() {
		return nil
	}
	l.count = bottom[0].Count()
	var err error
	if l.move, err = part.NewMover(&l.Base, 1, l.count); err != nil || l.MPE() {
		return err
	}
	streams := part.StreamsOf(&l.Base)
	l.add = streams.Make(stream.Pass{
		Name: "Noise", Dims: [3]int{1, 1, l.count}, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 8, Specials: 3},
		Op: func(t *stream.Tile) { l.addTo(t.Out[0][:t.I], t.In[0], t.I0) },
	})
	return streams.Err
}

// noisy reports whether Forward changes values.
func (l *noise) noisy() bool {
	p := l.Param.GetNoiseParam()
	return l.Train() && p != nil && (p.GaussianStd != nil || p.UniformRange != nil)
}

// addTo writes y = x + n. x begins at element first of the pass.
func (l *noise) addTo(y, x []float32, first int) {
	p := l.Param.GetNoiseParam()
	bias := float64(p.GetBias())
	for i := range y {
		at := 2 * uint64(first+i)
		n := (2*l.unit(at) - 1) * float64(p.GetUniformRange())
		if p.GaussianStd != nil { // Box and Muller 1958
			n = float64(p.GetGaussianStd()) * math.Sqrt(-2*math.Log(l.unit(at))) * math.Cos(2*math.Pi*l.unit(at+1))
		}
		y[i] = float32(float64(x[i]) + bias + n)
	}
}

// unit returns a random number between 0 and 1, both excluded.
func (l *noise) unit(counter uint64) float64 {
	return (float64(vec.Uniform(l.key, counter)) + 0.5) / (1 << vec.UniformBits)
}

func (l *noise) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	switch {
	case !l.noisy():
		return l.copy(top[0] == bottom[0], y, x)
	case l.MPE():
		l.key = l.Device.Share.PassKey(l.Device.Random.Uint64())
		l.addTo(y, x, 0)
		return nil
	}
	l.key = l.Device.Share.PassKey(l.Device.Random.Uint64())
	l.ins[0], l.outs[0] = x, y
	return l.add.Run(l.ins[:], l.outs[:])
}

// copy copies an array to another, unless they are one.
func (l *noise) copy(same bool, dst, src []float32) error {
	if same {
		return nil
	}
	return l.move.Run(dst, src)
}

// Traits implements Planned. The noise depends on an element's index, so that training needs planes.
func (l *noise) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing, Grads: layers.Grads{Passes: layers.AllBottoms}}
	if !l.noisy() {
		t.Layout = l.AnyLayout()
	}
	return t
}

func (l *noise) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	return l.copy(top[0].SharesDiff(bottom[0]), bottom[0].Diff(), top[0].Diff())
}
