package utility

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "ArgMax", Doc: "the indices, or the values, of the top_k largest values along an axis or of each item",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 {
			if a := p.GetArgmaxParam(); a == nil || a.Axis == nil {
				return 1
			}
			return p.GetArgmaxParam().GetAxis()
		}, "compares items"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &argMax{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// argMax is Caffe's ArgMax layer. With an axis, the top has the bottom's shape with top_k along that axis. It holds indices (with
// out_max_val: values), largest value first. Without an axis the top is items x 1 x top_k indices into an item's values, or, with
// out_max_val, items x 2 x top_k: indices, then values. Of equal values the larger index comes first.
type argMax struct {
	layers.Base
	topK            int
	indices, values bool // what the top holds
	dims            [3]int
	shape           []int // of the top
	order           []int // MPE: indices along the axis, sorted

	find   *stream.Kernel // computes an outer x inner Plane for each entry of the top
	place  *stream.Copy   // copies a Plane to its place in the top
	planes [][]float32
	ins    [1][]float32
}

func (l *argMax) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetArgmaxParam()
	l.topK = int(p.GetTopK())
	if l.topK < 1 {
		return fmt.Errorf("top_k must be at least 1, it is %d", l.topK)
	}
	l.values = p.GetOutMaxVal()
	l.indices = !l.values || p == nil || p.Axis == nil
	return nil
}

func (l *argMax) Reshape(bottom, top []*blob.Blob) error {
	p := l.Param.GetArgmaxParam()
	items := bottom[0].Legacy(0)
	dims := [3]int{items, bottom[0].CountFrom(min(1, bottom[0].NumAxes())), 1}
	if p != nil && p.Axis != nil {
		var err error
		if dims, err = part.SplitAxis(bottom[0], int(p.GetAxis())); err != nil {
			return err
		}
	}
	if l.topK > dims[1] {
		return fmt.Errorf("top_k %d must be less than or equal to the number of classes %d", l.topK, dims[1])
	}
	l.shape = append(l.shape[:0], items, 1, l.topK)
	if p != nil && p.Axis != nil {
		axis, _ := bottom[0].Axis(int(p.GetAxis()))
		l.shape = append(l.shape[:0], bottom[0].Shape()...)
		l.shape[axis] = l.topK
	} else {
		l.shape[1] = l.places() / l.topK
		for len(l.shape) < bottom[0].NumAxes() {
			l.shape = append(l.shape, 1)
		}
	}
	top[0].Reshape(l.shape...)
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.MPE() {
		l.order = pages.Make[int](dims[1])
		return nil
	}
	return l.prepare()
}

// places returns the number of top values for each pair of outer and inner indices.
func (l *argMax) places() int {
	if l.indices && l.values {
		return 2 * l.topK
	}
	return l.topK
}

func (l *argMax) prepare() (err error) {
	outs := make([]stream.Array, l.places())
	l.planes = make([][]float32, l.places())
	for j := range outs {
		outs[j] = stream.Plane
		if len(outs) > 1 {
			l.planes[j] = pages.Make[float32](l.dims[0] * l.dims[2])
		}
	}
	l.find, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "ArgMax", Dims: l.dims, WholeMid: true, Ins: part.Arrays(1), Outs: outs, Scratch: 1,
		Cost: stream.Work{Flops: 1}, Op: l.tile,
	})
	if err != nil || len(outs) == 1 {
		return err
	}
	l.place, err = stream.NewCopy(l.Device.Machine, stream.CopyShape{
		Outer: l.dims[0], Rows: 1, Cols: l.dims[2], SrcOuter: l.dims[2], DstOuter: len(outs) * l.dims[2],
	})
	return err
}

// tile keeps a list of the best indices while it goes along the axis, best first. A later index precedes earlier ones with an equal value.
func (l *argMax) tile(t *stream.Tile) {
	best := t.Scratch[0][:l.topK]
	for o := range t.O {
		if l.topK == 1 && t.I > 1 && t.M > 1 && l.lines(t, o) {
			continue
		}
		for i := range t.I {
			x := t.In[0][o*t.OStride+i:]
			var worst float32 // smallest listed value, once the list is full
			for m := range t.M {
				if m >= l.topK && x[m*t.MStride] < worst {
					continue
				}
				at := min(m, l.topK)
				for at > 0 && cmp.Compare(x[m*t.MStride], x[int(best[at-1])*t.MStride]) >= 0 {
					if at < l.topK {
						best[at] = best[at-1]
					}
					at--
				}
				if at < l.topK {
					best[at] = float32(m)
				}
				if m >= l.topK-1 {
					worst = x[int(best[l.topK-1])*t.MStride]
				}
			}
			l.write(best, x, t.MStride, func(j int) *float32 { return &t.Out[j][o*t.PStride+i] })
		}
	}
}

// lines finds the maxima of one outer index by whole lines of inner values, from the last middle index to the first. It returns false if
// the last line holds a NaN: a NaN ranks below all numbers, which the vector comparison does not observe.
func (l *argMax) lines(t *stream.Tile, o int) bool {
	line := func(m int) []float32 { return t.In[0][o*t.OStride+m*t.MStride:][:t.I] }
	if slices.ContainsFunc(line(t.M-1), func(v float32) bool { return v != v }) {
		return false
	}
	best, at := t.Scratch[0][:t.I], t.Scratch[0][t.I:2*t.I]
	copy(best, line(t.M-1))
	vec.Fill(at, float32(t.M-1))
	for m := t.M - 2; m >= 0; m-- {
		vec.Take(at, line(m), best, float32(m))
		vec.Larger(best, line(m), best)
	}
	if l.indices {
		copy(t.Out[0][o*t.PStride:], at)
	}
	if l.values {
		copy(t.Out[len(t.Out)-1][o*t.PStride:], best)
	}
	return true
}

// write writes indices, values, or both.
func (l *argMax) write(best, x []float32, stride int, place func(j int) *float32) {
	for j, m := range best {
		if l.indices {
			*place(j) = m
		}
		if l.values {
			*place(l.places() - l.topK + j) = x[int(m)*stride]
		}
	}
}

func (l *argMax) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if l.MPE() {
		l.sorted(x, y)
		return nil
	}
	if len(y) == 0 {
		return nil
	}
	if len(l.planes) == 1 {
		l.planes[0] = y
	}
	l.ins[0] = x
	if err := l.find.Run(l.ins[:], l.planes); err != nil || len(l.planes) == 1 {
		return err
	}
	for j, plane := range l.planes {
		if err := l.place.Run(y[j*l.dims[2]:], plane); err != nil {
			return err
		}
	}
	return nil
}

// sorted is the MPE path. It sorts the whole axis.
func (l *argMax) sorted(x, y []float32) {
	inner := l.dims[2]
	for n := range l.dims[0] * inner {
		from, to := x[n/inner*l.dims[1]*inner+n%inner:], y[n/inner*l.places()*inner+n%inner:]
		for m := range l.order {
			l.order[m] = m
		}
		slices.SortFunc(l.order, func(a, b int) int {
			if c := cmp.Compare(from[b*inner], from[a*inner]); c != 0 {
				return c
			}
			return b - a
		})
		for j, m := range l.order[:l.topK] {
			if l.indices {
				to[j*inner] = float32(m)
			}
			if l.values {
				to[(l.places()-l.topK+j)*inner] = from[m*inner]
			}
		}
	}
}

func (l *argMax) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }
