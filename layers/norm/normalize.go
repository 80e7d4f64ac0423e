package norm

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "Normalize", Doc: "divides each item, or each pixel, by its L2 norm, and scales channels",
		Params: []string{"norm_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &normalize{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// normalize is the Normalize layer of two forks: y = s * x / sqrt(sum of x^2 + eps). The sum is over the channels of a pixel, or over an item
// (across_spatial).
//
// With norm_param it is SSD's layer (Liu et al. 2015, ParseNet): the factors s are its weight, one for each channel or one for all
// (channel_shared). Without norm_param it is the layer of forks for face recognition, which normalises items, has no weight, and adds no eps.
//
// With n the norm and d the sum of s*dy*x, dx = s*dy/n - x*d/n^3, and ds is the sum of dy*x/n.
type normalize struct {
	layers.Base
	scaled, across, shared bool
	eps                    float64

	dims  [3]int     // items x channels x values of a plane
	norms *blob.Blob // of each item or pixel

	squares, apply, products, grad *stream.Kernel
	factors, terms                 []float32  // by plane: of x or dy, and of x in dx
	ones                           []float32  // factors of a layer without weight
	unused                         *blob.Blob // dx, if nothing needs it
	ins                            [4][]float32
	outs                           [2][]float32
}

func (l *normalize) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetNormParam()
	l.scaled, l.across, l.shared = p != nil, p.GetAcrossSpatial(), p.GetChannelShared()
	l.norms = l.Device.NewBlob(0)
	if !l.scaled {
		l.across = true
		return nil
	}
	l.eps = float64(p.GetEps())
	if bottom[0].NumAxes() < 2 {
		return fmt.Errorf("bottom[0] must have at least 2 axes, its shape is %s", bottom[0].ShapeString())
	}
	filler := p.GetScaleFiller()
	if filler == nil {
		filler = &caffepb.FillerParameter{Value: proto.Float32(1)}
	}
	if l.shared {
		return l.AddWeight(filler)
	}
	return l.AddWeight(filler, bottom[0].Dim(1))
}

func (l *normalize) Reshape(bottom, top []*blob.Blob) error {
	n, c := bottom[0].Legacy(0), bottom[0].Legacy(1)
	if l.scaled && !l.shared && c != l.Weights[0].Count() {
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d channels", bottom[0].ShapeString(), l.Weights[0].Count())
	}
	top[0].ReshapeLike(bottom[0])
	dims := [3]int{n, c, bottom[0].Count() / max(1, n*c)}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.across {
		l.norms.Reshape(n)
	} else {
		l.norms.Reshape(n, dims[2])
	}
	l.ones = make([]float32, c)
	vec.Fill(l.ones, 1)
	switch {
	case l.MPE():
		return nil
	case l.across:
		return l.prepareItems()
	}
	return l.preparePixels()
}

// factor returns the factors of all channels.
func (l *normalize) factor() []float32 {
	switch {
	case !l.scaled:
		return l.ones
	case l.shared:
		vec.Fill(l.ones, l.Weights[0].Data()[0])
		return l.ones
	}
	return l.Weights[0].Data()
}

func (l *normalize) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	switch {
	case l.MPE():
		l.forwardMPE(x, y)
		return nil
	case l.across:
		return l.forwardItems(x, y)
	}
	l.ins[0], l.ins[1], l.outs = x, l.factor(), [2][]float32{y, l.norms.Data()}
	return l.apply.Run(l.ins[:2], l.outs[:])
}

// group returns the index of value i's norm, and its channel.
func (l *normalize) group(i int) (group, channel int) {
	plane := i / l.dims[2]
	if l.across {
		return plane / l.dims[1], plane % l.dims[1]
	}
	return plane/l.dims[1]*l.dims[2] + i%l.dims[2], plane % l.dims[1]
}

func (l *normalize) forwardMPE(x, y []float32) {
	norms, s := l.norms.Data(), l.factor()
	sums := make([]float64, len(norms))
	for i, v := range x {
		g, _ := l.group(i)
		sums[g] += float64(v) * float64(v)
	}
	for g, sum := range sums {
		norms[g] = float32(math.Sqrt(sum + l.eps))
	}
	for i, v := range x {
		g, c := l.group(i)
		y[i] = float32(float64(s[c]) * float64(v) / math.Sqrt(sums[g]+l.eps))
	}
}

// Traits implements Planned. Backward works from the bottom and the norms.
func (l *normalize) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Tops: true}, Keeps: []*blob.Blob{l.norms}}
}

func (l *normalize) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	x, dy, dx := bottom[0].Data(), top[0].Diff(), []float32(nil)
	if propagateDown[0] {
		dx = bottom[0].Diff()
	}
	if dx == nil && !l.ParamGrad(0) {
		return nil
	}
	switch {
	case l.MPE():
		l.backwardMPE(x, dy, dx)
		return nil
	case l.across:
		return l.backwardItems(x, dy, dx)
	}
	return l.backwardPixels(x, dy, dx)
}

func (l *normalize) backwardMPE(x, dy, dx []float32) {
	norms, s := l.norms.Data(), l.factor()
	dots, ds := make([]float64, len(norms)), make([]float64, l.dims[1])
	for i, v := range x {
		g, c := l.group(i)
		product := float64(dy[i]) * float64(v)
		dots[g] += float64(s[c]) * product
		ds[c] += product / float64(norms[g])
	}
	for i := range dx {
		g, c := l.group(i)
		n := float64(norms[g])
		dx[i] = float32(float64(s[c])*float64(dy[i])/n - float64(x[i])*dots[g]/(n*n*n))
	}
	l.addFactorGrad(ds)
}

// addFactorGrad adds ds by channel to the weight's gradient.
func (l *normalize) addFactorGrad(ds []float64) {
	if !l.ParamGrad(0) {
		return
	}
	grad := l.Weights[0].Diff()
	for c, v := range ds {
		if l.shared {
			c = 0
		}
		grad[c] += float32(v)
	}
}
