package vision

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Pooling", Doc: "maximum, mean or random value of windows of N x C x H x W; a second top gets the positions of the maxima; NaN is the largest value",
		Couples: drawnPooling, Effects: drawsPositions,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &pooling{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Between(1, 2),
	})
}

// pooling is Caffe's Pooling layer. A window with NaN has the maximum NaN. Caffe's comparisons skip NaN, which hides that a net diverges.
type pooling struct {
	layers.Base
	window pool.Shape // kernel, stride, padding and method; Reshape sets the extents
	floor  bool
	places bool // a second top holds the maxima's positions

	shape    pool.Shape
	topShape [4]int
	pool     *pool.Kernel
	mask     *blob.Blob // position of each maximum, in the format of pool.Kernel; nil if not needed
}

func (l *pooling) SetUp(bottom, top []*blob.Blob) (err error) {
	p := cmp.Or(l.Param.GetPoolingParam(), &caffepb.PoolingParameter{})
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	l.places = len(top) > 1
	l.floor = p.GetRoundMode() == caffepb.PoolingParameter_FLOOR || !p.GetCeilMode()
	if p.RoundMode != nil && p.CeilMode != nil && p.GetCeilMode() == (p.GetRoundMode() == caffepb.PoolingParameter_FLOOR) {
		return fmt.Errorf("round_mode %v and ceil_mode %t contradict each other", p.GetRoundMode(), p.GetCeilMode())
	}
	read := readPoolWindow
	if p.GetGlobalPooling() {
		read = readGlobalWindow
	}
	if l.window, err = read(p); err != nil {
		return err
	}
	l.window.Method, l.window.Train = pool.Method(p.GetPool()), l.Train()
	switch w := &l.window; {
	case w.Method != pool.Max && l.places:
		return errors.New("a second top (the positions of the maxima) needs MAX pooling")
	case w.Method == pool.Stochastic && w.PH+w.PW > 0:
		return fmt.Errorf("padding is implemented for average and max pooling only: pad is %d x %d", w.PH, w.PW)
	}
	return nil
}

// readGlobalWindow reads the parameters of global pooling, whose window is the whole plane. Reshape sets its size.
func readGlobalWindow(p *caffepb.PoolingParameter) (pool.Shape, error) {
	if p.KernelSize != nil || p.KernelH != nil || p.KernelW != nil {
		return pool.Shape{}, errors.New("with global_pooling the kernel size cannot be specified")
	}
	for _, pad := range []uint32{p.GetPad(), p.GetPadH(), p.GetPadW()} {
		if pad != 0 {
			return pool.Shape{}, fmt.Errorf("with global_pooling pad must be 0, it is %d", pad)
		}
	}
	for _, stride := range []*uint32{p.Stride, p.StrideH, p.StrideW} {
		if stride != nil && *stride != 1 {
			return pool.Shape{}, fmt.Errorf("with global_pooling stride must be 1, it is %d", *stride)
		}
	}
	return pool.Shape{SH: 1, SW: 1}, nil
}

// readPoolWindow reads kernel, stride and padding.
func readPoolWindow(p *caffepb.PoolingParameter) (w pool.Shape, err error) {
	if w.KH, w.KW, err = pair("kernel", p.KernelSize, p.KernelH, p.KernelW, 0); err != nil {
		return w, err
	}
	if w.SH, w.SW, err = pair("stride", p.Stride, p.StrideH, p.StrideW, 1); err != nil {
		return w, err
	}
	if w.PH, w.PW, err = pair("pad", p.Pad, p.PadH, p.PadW, 0); err != nil {
		return w, err
	}
	switch {
	case w.KH < 1 || w.KW < 1:
		return w, fmt.Errorf("filter dimensions must be positive, they are %d x %d", w.KH, w.KW)
	case w.SH < 1 || w.SW < 1:
		return w, fmt.Errorf("stride must be positive, it is %d x %d", w.SH, w.SW)
	case w.PH >= w.KH || w.PW >= w.KW:
		return w, fmt.Errorf("pad %d x %d must be smaller than kernel %d x %d", w.PH, w.PW, w.KH, w.KW)
	case max(w.KH, w.KW, w.SH, w.SW) > blob.MaxCount:
		return w, fmt.Errorf("kernel %d x %d and stride %d x %d must be at most %d", w.KH, w.KW, w.SH, w.SW, blob.MaxCount)
	}
	return w, nil
}

// pair reads a field that is given once for both axes, or as _h and _w.
func pair(name string, both, h, w *uint32, missing int) (int, int, error) {
	switch {
	case both != nil && (h != nil || w != nil):
		return 0, 0, fmt.Errorf("either %s (_size) or %s_h and %s_w may be specified, not both", name, name, name)
	case both != nil:
		return int(*both), int(*both), nil
	case (h == nil) != (w == nil):
		return 0, 0, fmt.Errorf("both %s_h and %s_w are required where one of them is given", name, name)
	}
	value := func(v *uint32) int {
		if v == nil {
			return missing
		}
		return int(*v)
	}
	return value(h), value(w), nil
}

// packedOutputs is the number of outputs from which packing the mask pays off.
const packedOutputs = 1 << 20

func (l *pooling) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	in, s := bottom[0].Shape(), l.window
	s.N, s.C, s.H, s.W = in[0], in[1], in[2], in[3]
	if s.H < 1 || s.W < 1 {
		return fmt.Errorf("the planes of bottom[0] are empty: its shape is %s", bottom[0].ShapeString())
	}
	if l.Param.GetPoolingParam().GetGlobalPooling() {
		s.KH, s.KW = s.H, s.W
	}
	s.OH, s.OW = l.outputs(s.H, s.KH, s.SH, s.PH), l.outputs(s.W, s.KW, s.SW, s.PW)
	if s.OH < 1 || s.OW < 1 {
		return fmt.Errorf("kernel %d x %d is too large for the padded input %d x %d", s.KH, s.KW, s.H+2*s.PH, s.W+2*s.PW)
	}
	l.topShape = [4]int{s.N, s.C, s.OH, s.OW}
	for _, t := range top {
		t.Reshape(l.topShape[:]...)
	}
	s.Packed = !l.places && s.N*s.C*s.OH*s.OW >= packedOutputs
	if s.InBlocks, s.OutBlocks = l.shape.InBlocks, l.shape.OutBlocks; l.shape == s {
		return nil
	}
	return l.prepare(s)
}

// prepare makes the kernel and the mask of a shape.
func (l *pooling) prepare(s pool.Shape) error {
	words := s.N * s.C * s.OH * s.OW
	if !l.MPE() {
		pool, err := pool.New(l.Device.Machine, s)
		if err != nil {
			return err
		}
		l.pool, words = pool, pool.MaskWords()
	}
	l.shape, l.mask = s, nil
	if s.Masked() {
		l.mask = l.Device.NewBlob(words)
	}
	return nil
}

// outputs returns the number of windows along an axis. A division with remainder rounds up, unless round_mode is FLOOR. If either axis is
// padded, a last window that would start past the image and its leading padding is dropped.
func (l *pooling) outputs(size, kernel, stride, pad int) int {
	steps := float64(size+2*pad-kernel) / float64(stride)
	n := int(math.Ceil(steps)) + 1
	if l.floor {
		n = int(math.Floor(steps)) + 1
	}
	if padded := l.window.PH+l.window.PW > 0; padded && (n-1)*stride >= size+pad {
		n--
	}
	return n
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "relu-pool", Fuse: func(first, second layers.Layer) layers.Layer { return poolReLU(second, first) }})
	layers.RegisterFusion(layers.Fusion{Name: "pool-relu", Fuse: func(first, second layers.Layer) layers.Layer {
		if l, ok := first.(*pooled); ok {
			return l.withReLU(second)
		}
		return poolReLU(first, second)
	}})
}

// poolReLU combines maximum pooling with a ReLU layer without negative slope before or after it, or returns nil. In both cases the pooled
// values are rectified: there are fewer of them, and Backward need not read the pooling's bottom.
func poolReLU(first, relu layers.Layer) layers.Layer {
	l, ok := first.(*pooling)
	if !ok || !layers.TraitsOf(relu).Is.ReLU.Plain() || l.MPE() || l.window.ReLU || l.window.Method != pool.Max || l.places {
		return nil
	}
	both := &pooling{Base: l.Base, window: l.window, floor: l.floor}
	both.window.ReLU = true
	return both
}

// Algorithm implements Algorithmic.
func (l *pooling) Algorithm(d shape.Direction, _ bool) shape.Algorithm {
	if l.pool == nil || d == shape.WeightGradient {
		return ""
	}
	return l.pool.Algorithm(d)
}

// Explain implements layers.Explainer.
func (l *pooling) Explain(d shape.Direction) ([]*op.Explanation, error) {
	if l.pool == nil || d == shape.WeightGradient {
		return nil, nil
	}
	e, err := l.pool.Explain(d, l.Device.Tuner != nil)
	return []*op.Explanation{e}, err
}

func (l *pooling) Forward(bottom, top []*blob.Blob) error {
	var key uint64
	if l.shape.Method == pool.Stochastic && l.Train() {
		key = l.Device.Share.PassKey(l.Device.Random.Uint64())
	}
	x, y, mask := bottom[0].Data(), top[0].Data(), l.indices()
	if l.MPE() {
		poolForwardMPE(&l.shape, x, y, mask, key)
	} else if err := l.pool.Forward(x, y, mask, key); err != nil {
		return err
	}
	if len(top) > 1 {
		places := top[1].Data()
		for i, m := range mask {
			places[i] = float32(m)
		}
	}
	return nil
}

// indices returns the mask's values.
func (l *pooling) indices() []int32 {
	if l.mask == nil {
		return nil
	}
	return pool.Indices(l.mask.Data())
}

// Traits implements Planned. The mask tells Backward where gradients go. If the kernels support it, bottoms and tops have channels in
// blocks independently of each other. A second top holds positions in planes.
func (l *pooling) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing}
	if l.mask != nil {
		t.Keeps = []*blob.Blob{l.mask}
	}
	if l.pool != nil {
		can := !l.places && l.pool.Blocks()
		t.Layout = layers.Blocking{Bottoms: can, Tops: can}
		t.Scratch = layers.Scratch{Forward: l.pool.Scratch(), Bottoms: l.pool.Scratch()}
		t.Turns.Times, t.Turns.Values = l.pool.Turns()
	}
	return t
}

// Arrange implements Planned.
func (l *pooling) Arrange(a layers.Arranged) error {
	s := l.shape
	if s.InBlocks == a.In.Blocks && s.OutBlocks == a.Out.Blocks {
		return nil
	}
	s.InBlocks, s.OutBlocks = a.In.Blocks, a.Out.Blocks
	return l.prepare(s)
}

func (l *pooling) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	switch {
	case !propagateDown[0]:
		return nil
	case l.shape.Method == pool.Stochastic && !l.Train():
		return errors.New("stochastic pooling has no gradient in phase TEST")
	case l.MPE():
		poolBackwardMPE(&l.shape, top[0].Diff(), l.indices(), bottom[0].Diff())
		return nil
	}
	return l.pool.Backward(top[0].Diff(), l.indices(), bottom[0].Diff())
}

// drawnPooling is the rule of Pooling: stochastic pooling draws numbers.
func drawnPooling(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	if p.GetPoolingParam().GetPool() != caffepb.PoolingParameter_STOCHASTIC {
		return layers.Coupling{}
	}
	return layers.InTraining("draws other random numbers in every worker")(p, bottoms)
}

// drawsPositions is the effect of stochastic pooling.
func drawsPositions(p *caffepb.LayerParameter) string {
	if p.GetPoolingParam().GetPool() != caffepb.PoolingParameter_STOCHASTIC {
		return ""
	}
	return layers.Draws(p)
}
