package layers

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "LRN", Doc: "local response normalisation across channels or within a channel",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			base := Base{Param: p, Device: d}
			if p.GetLrnParam().GetNormRegion() == caffepb.LRNParameter_WITHIN_CHANNEL {
				return &lrnWithin{Base: base}
			}
			return &lrnAcross{Base: base}
		},
		Bottoms: Exactly(1), Tops: Exactly(1),
	})
}

// lrnSize reads local_size, which must be odd.
func lrnSize(p *caffepb.LRNParameter, bottom *blob.Blob) (int, error) {
	if size := int(p.GetLocalSize()); size%2 == 1 {
		if bottom.NumAxes() != 4 {
			return 0, fmt.Errorf("bottom[0] must have 4 axes (num, channels, height, width), its shape is %s", bottom.ShapeString())
		}
		return size, nil
	}
	return 0, fmt.Errorf("LRN only supports odd values for local_size, it is %d", p.GetLocalSize())
}

// lrnAcross is Caffe's LRN layer across channels (Krizhevsky et al. 2012): with n = local_size and the window of n channels
// around c, s(c) = k + alpha/n * sum of x^2 and y = x * s^-beta;
// dx(c) = dy(c)*s(c)^-beta - 2*alpha*beta/n * x(c) * sum over the window of dy*y/s. Backward computes s and y anew, which takes
// less time than reading what Forward could have kept.
type lrnAcross struct {
	Base
	size           int
	alpha, beta, k float32
	dims           [3]int
	run, grad      *kernel.StreamKernel
	ins            [2][]float32
	outs           [1][]float32
}

func (l *lrnAcross) SetUp(bottom, _ []*blob.Blob) (err error) {
	p := l.Param.GetLrnParam()
	l.alpha, l.beta, l.k = p.GetAlpha(), p.GetBeta(), p.GetK()
	l.size, err = lrnSize(p, bottom[0])
	return err
}

func (l *lrnAcross) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	dims, err := splitAxis(bottom[0], 1)
	if err != nil || l.dims == dims {
		return err
	}
	l.dims = dims
	if l.mpe() {
		return nil
	}
	full := kernel.Full
	l.run, err = kernel.NewStream(l.Device.Machine, kernel.Stream{
		Name: "LRN", Dims: dims, WholeMid: true, ByMid: true, Ins: []kernel.Array{full}, Outs: []kernel.Array{full}, Scratch: l.scratches(1),
		Cost: kernel.Work{Flops: float64(l.size + 3), Specials: 2}, Op: l.forwardTile,
	})
	if err != nil {
		return err
	}
	l.grad, err = kernel.NewStream(l.Device.Machine, kernel.Stream{
		Name: "LRN gradient", Dims: dims, WholeMid: true, ByMid: true, Ins: []kernel.Array{full, full}, Outs: []kernel.Array{full}, Scratch: 1 + l.scratches(2),
		Cost: kernel.Work{Flops: float64(2*l.size + 9), Specials: 3}, Op: l.backwardTile,
	})
	return err
}

func (l *lrnAcross) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if !l.mpe() {
		l.ins[0], l.outs[0] = x, y
		return l.run.Run(l.ins[:1], l.outs[:])
	}
	l.eachWindow(func(at int, window func(visit func(at int))) {
		y[at] = float32(float64(x[at]) * math.Pow(l.scale(x, window), -float64(l.beta)))
	})
	return nil
}

// scale is s of the element that a window surrounds.
func (l *lrnAcross) scale(x []float32, window func(visit func(at int))) float64 {
	var sum float64
	window(func(at int) { sum += float64(x[at]) * float64(x[at]) })
	return float64(l.k) + float64(l.alpha)/float64(l.size)*sum
}

// eachWindow visits every element with a function that visits the elements of the channels around it.
func (l *lrnAcross) eachWindow(visit func(at int, window func(visit func(at int)))) {
	channels, inner := l.dims[1], l.dims[2]
	for at := range l.dims[0] * channels * inner {
		c := at / inner % channels
		visit(at, func(visit func(at int)) {
			for k := max(0, c-l.size/2); k <= min(channels-1, c+l.size/2); k++ {
				visit(at + (k-c)*inner)
			}
		})
	}
}

// BackwardReads implements BackwardReader: y is computed from x.
func (l *lrnAcross) BackwardReads() (bottoms, tops bool) { return true, false }

func (l *lrnAcross) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	x, dy, dx := bottom[0].Data(), top[0].Diff(), bottom[0].Diff()
	if !l.mpe() {
		l.ins, l.outs[0] = [2][]float32{dy, x}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	s := make([]float64, len(x))
	l.eachWindow(func(at int, window func(visit func(at int))) { s[at] = l.scale(x, window) })
	beta := float64(l.beta)
	l.eachWindow(func(at int, window func(visit func(at int))) {
		var sum float64
		window(func(at int) { sum += float64(dy[at]) * float64(x[at]) * math.Pow(s[at], -beta-1) })
		dx[at] = float32(float64(dy[at])*math.Pow(s[at], -beta) - 2*float64(l.alpha)*beta/float64(l.size)*float64(x[at])*sum)
	})
	return nil
}
