package vision

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Im2col", Doc: "copies the inputs of each kernel offset to columns: N x C x In... becomes N x (C * kernel) x Out...",
		Params: []string{"convolution_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &im2colLayer{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// im2colLayer is Caffe's Im2col layer: top(n, c, k, p) = bottom(n, c, p*stride - pad + k*dilation), 0 in the padding, for every kernel
// offset k and output position p.
type im2colLayer struct {
	layers.Base
	spatialWindow
	axis int // the channel axis

	bottomShape, topShape []int
	shape                 shape.Conv // with C = 1; N counts items times channels
	zeroTop, zeroBottom   part.Zeroer
	columns               *im2col.Columns // used on the host; modelled machines use moves
	moves                 []columnMove
}

// columnMove copies the inputs of one kernel offset to their column, and gradients back. One Copy covers N and the last two spatial axes,
// or only the second last if the last has a stride. at lists the Copy's starts for the other axes.
type columnMove struct {
	spread, fold *stream.Copy
	at           []columnStart
}

type columnStart struct{ image, column int }

func (l *im2colLayer) SetUp(bottom, _ []*blob.Blob) (err error) {
	p := l.Param.GetConvolutionParam()
	if p == nil {
		return errors.New("convolution_param is missing")
	}
	axis, ok := bottom[0].Axis(int(p.GetAxis()))
	spatial := bottom[0].NumAxes() - axis - 1
	if !ok || spatial < 1 {
		return fmt.Errorf("there is no spatial axis behind axis %d: bottom[0] has shape %s", p.GetAxis(), bottom[0].ShapeString())
	}
	l.axis = axis
	l.spatialWindow, err = readWindow(p, spatial)
	return err
}

func (l *im2colLayer) Reshape(bottom, top []*blob.Blob) error {
	if in := bottom[0].Shape(); !slices.Equal(l.bottomShape, in) {
		if len(in) != l.axis+1+len(l.kernel) {
			return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d spatial axes behind axis %d", bottom[0].ShapeString(), len(l.kernel), l.axis)
		}
		if err := l.plan(bottom[0]); err != nil {
			return err
		}
		l.bottomShape = slices.Clone(in)
	}
	top[0].Reshape(l.topShape...)
	return nil
}

func (l *im2colLayer) plan(bottom *blob.Blob) error {
	in := bottom.Shape()
	l.shape = shape.Conv{
		N: bottom.CountRange(0, l.axis+1), C: 1, Out: 1, Group: 1,
		In: slices.Clone(in[l.axis+1:]), Kernel: l.kernel, Stride: l.stride, Pad: l.pad, Dilation: l.dilation,
	}
	size := l.shape.OutSize()
	for i, s := range size {
		if s < 1 {
			return l.tooLarge(i, in[l.axis+1+i], s)
		}
	}
	l.topShape = append(append(slices.Clone(in[:l.axis]), blob.CountOf(append([]int{in[l.axis]}, l.kernel...)...)), size...)
	if err := l.Device.CheckShape("a top", l.topShape); err != nil {
		return err
	}
	if l.MPE() {
		return nil
	}
	return l.prepare(size)
}

// prepare makes, for modelled machines, one copy for every kernel offset with inputs outside the padding.
func (l *im2colLayer) prepare(size []int) error {
	if l.columns = im2col.NewColumns(l.Device.Machine, l.shape); l.columns != nil {
		return nil
	}
	if err := l.zeroTop.Reshape(&l.Base, l.shape.N*blob.CountOf(l.kernel...)*blob.CountOf(size...)); err != nil {
		return err
	}
	if err := l.zeroBottom.Reshape(&l.Base, l.shape.N*blob.CountOf(l.shape.In...)); err != nil {
		return err
	}
	l.moves = nil
	for k := range blob.CountOf(l.kernel...) {
		if err := l.addMove(size, k); err != nil {
			return err
		}
	}
	return nil
}

// run is the range lo <= o < hi of an axis's outputs whose input at a kernel offset lies outside the padding. Output lo reads input in.
type run struct{ lo, hi, in int }

// met returns the run of a kernel offset along axis i, which has size outputs.
func (l *im2colLayer) met(i, offset, size int) run {
	shift, stride := offset*l.dilation[i]-l.pad[i], l.stride[i]
	lo := max(0, (-shift+stride-1)/stride)
	hi := min(size, max(0, (l.shape.In[i]-shift+stride-1)/stride))
	return run{lo, max(lo, hi), lo*stride + shift}
}

func (l *im2colLayer) addMove(size []int, k int) error {
	axes := len(size)
	runs := make([]run, axes)
	for i, rest := axes-1, k; i >= 0; i-- {
		runs[i] = l.met(i, rest%l.kernel[i], size[i])
		rest /= l.kernel[i]
		if runs[i].lo == runs[i].hi {
			return nil
		}
	}
	plane, column := blob.CountOf(l.shape.In...), blob.CountOf(size...)
	c := stream.CopyShape{Outer: l.shape.N, Rows: 1, Cols: 1, SrcOuter: plane, DstOuter: blob.CountOf(l.kernel...) * column}
	inner := axes // the copy covers the axes from here on
	if last := axes - 1; l.stride[last] == 1 {
		c.Cols, inner = runs[last].hi-runs[last].lo, last
	}
	if i := inner - 1; i >= 0 {
		c.Rows, c.SrcRow, c.DstRow = runs[i].hi-runs[i].lo, l.stride[i]*blob.CountOf(l.shape.In[i+1:]...), blob.CountOf(size[i+1:]...)
		inner = i
	}
	back := stream.CopyShape{
		Outer: c.Outer, Rows: c.Rows, Cols: c.Cols, Add: true,
		SrcOuter: c.DstOuter, SrcRow: c.DstRow, DstOuter: c.SrcOuter, DstRow: c.SrcRow,
	}
	m := columnMove{at: []columnStart{{0, k * column}}}
	for i := range axes {
		m.at = l.starts(m.at, runs[i], i, size, i < inner)
	}
	var err error
	if m.spread, err = stream.NewCopy(l.Device.Machine, c); err != nil {
		return err
	}
	m.fold, err = stream.NewCopy(l.Device.Machine, back)
	l.moves = append(l.moves, m)
	return err
}

// starts extends the starts along axis i: to every output of the run if all is set, else to its first.
func (l *im2colLayer) starts(from []columnStart, r run, i int, size []int, all bool) []columnStart {
	n := 1
	if all {
		n = r.hi - r.lo
	}
	image, column := blob.CountOf(l.shape.In[i+1:]...), blob.CountOf(size[i+1:]...)
	var to []columnStart
	for _, s := range from {
		for o := range n {
			to = append(to, columnStart{s.image + (r.in+o*l.stride[i])*image, s.column + (r.lo+o)*column})
		}
	}
	return to
}

func (l *im2colLayer) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if l.MPE() {
		clear(y)
		l.each(func(image, column int) { y[column] = x[image] })
		return nil
	}
	if len(x) == 0 {
		return nil
	}
	if l.columns != nil {
		return l.columns.Spread(y, x)
	}
	if err := l.zeroTop.Run(y); err != nil {
		return err
	}
	for _, m := range l.moves {
		for _, at := range m.at {
			if err := m.spread.Run(y[at.column:], x[at.image:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// each visits all values outside the padding, with their indices in the images and in the columns.
func (l *im2colLayer) each(visit func(image, column int)) {
	size := l.shape.OutSize()
	plane, offsets, outputs := blob.CountOf(l.shape.In...), blob.CountOf(l.kernel...), blob.CountOf(size...)
	for n := range l.shape.N {
		for k := range offsets {
			for p := range outputs {
				if at, ok := convInput(&l.shape, size, p, k); ok {
					visit(n*plane+at, (n*offsets+k)*outputs+p)
				}
			}
		}
	}
}

// Traits implements Planned. Backward only moves gradients.
func (l *im2colLayer) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *im2colLayer) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	dy, dx := top[0].Diff(), bottom[0].Diff()
	if l.MPE() {
		clear(dx)
		l.each(func(image, column int) { dx[image] += dy[column] })
		return nil
	}
	if len(dx) == 0 {
		return nil
	}
	if l.columns != nil {
		return l.columns.Fold(dx, dy)
	}
	if err := l.zeroBottom.Run(dx); err != nil {
		return err
	}
	for _, m := range l.moves {
		for _, at := range m.at {
			if err := m.fold.Run(dx[at.image:], dy[at.column:]); err != nil {
				return err
			}
		}
	}
	return nil
}
