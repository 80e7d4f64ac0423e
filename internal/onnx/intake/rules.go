package intake

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// rule adds the layers for a node and sets its outputs.
type rule func(n *node) error

var rules map[string]rule

func init() {
	rules = map[string]rule{
		"Conv": conv, "ConvTranspose": convTranspose, "MaxPool": maxPool, "AveragePool": averagePool,
		"GlobalAveragePool": globalPool(caffepb.PoolingParameter_AVE), "GlobalMaxPool": globalPool(caffepb.PoolingParameter_MAX),
		"Gemm": gemm, "MatMul": matMul, "BatchNormalization": batchNormalization, "LRN": lrn, "Softmax": softmax, "LogSoftmax": logSoftmax,
		"Relu": positive("ReLU"), "Sigmoid": positive("Sigmoid"), "Tanh": simple("TanH"), "Abs": positive("AbsVal"), "Softplus": positive("BNLL"),
		"LeakyRelu": leakyRelu, "PRelu": prelu, "Elu": elu, "Clip": clip, "Exp": simple("Exp"), "Log": simple("Log"), "HardSigmoid": hardSigmoid,
		"Sqrt": powerOf(0.5, 1, 0), "Neg": powerOf(1, -1, 0), "Reciprocal": powerOf(-1, 1, 0), "Pow": pow,
		"Add": add, "Sub": sub, "Mul": mul, "Div": div, "Max": maximum, "Sum": sum,
		"Identity": alias, "Dropout": dropout, "Cast": cast, "Greater": greater, "ArgMax": argMax,
		"Flatten": flatten, "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": squeeze, "Transpose": transpose, "Pad": pad,
		"Concat": concat, "Split": split, "Slice": slice, "Tile": tile, "Gather": gather,
		"ReduceMean": reduce(caffepb.ReductionParameter_MEAN), "ReduceSum": reduce(caffepb.ReductionParameter_SUM),
		"ReduceL1": reduce(caffepb.ReductionParameter_ASUM), "ReduceSumSquare": reduce(caffepb.ReductionParameter_SUMSQ),
	}
}

// elementwise adds a layer that computes each element by itself. A transpose stays waiting.
func (n *node) elementwise(kind string, p *caffepb.LayerParameter) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	if err := n.one(kind, p, []*value{v}); err != nil {
		return err
	}
	n.values[n.GetOutput()[0]].perm = v.perm
	return nil
}

func simple(kind string) rule {
	return func(n *node) error { return n.elementwise(kind, &caffepb.LayerParameter{}) }
}

// positive is simple for layers without negative outputs.
func positive(kind string) rule {
	return func(n *node) error {
		if err := n.elementwise(kind, &caffepb.LayerParameter{}); err != nil {
			return err
		}
		n.values[n.GetOutput()[0]].positive = true
		return nil
	}
}

func leakyRelu(n *node) error {
	return n.elementwise("ReLU", &caffepb.LayerParameter{ReluParam: &caffepb.ReLUParameter{NegativeSlope: proto.Float32(n.float("alpha", 0.01))}})
}

func elu(n *node) error {
	return n.elementwise("ELU", &caffepb.LayerParameter{EluParam: &caffepb.ELUParameter{Alpha: proto.Float32(n.float("alpha", 1))}})
}

func prelu(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	p := &caffepb.PReLUParameter{}
	switch axis, size, ok := channelOf(t.Dims, v.shape); {
	case len(t.Floats) == 1:
		p.ChannelShared = proto.Bool(true)
	case !ok || axis != 1 || size != 1:
		return fmt.Errorf("slopes of shape %v for an input of shape %v; Caffe has one for each channel, or one", t.Dims, v.shape)
	}
	return n.one("PReLU", &caffepb.LayerParameter{PreluParam: p}, []*value{v}, t)
}

func powerParam(power, scale, shift float32) *caffepb.LayerParameter {
	p := &caffepb.PowerParameter{}
	if power != 1 {
		p.Power = proto.Float32(power)
	}
	if scale != 1 {
		p.Scale = proto.Float32(scale)
	}
	if shift != 0 {
		p.Shift = proto.Float32(shift)
	}
	return &caffepb.LayerParameter{PowerParam: p}
}

func powerOf(power, scale, shift float32) rule {
	return func(n *node) error { return n.elementwise("Power", powerParam(power, scale, shift)) }
}

func pow(n *node) error {
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if len(t.Floats) != 1 {
		return fmt.Errorf("the exponent has shape %v; Caffe's Power has one exponent", t.Dims)
	}
	return n.elementwise("Power", powerParam(t.Floats[0], 1, 0))
}

func hardSigmoid(n *node) error {
	if err := n.elementwise("Power", powerParam(1, n.float("alpha", 0.2), n.float("beta", 0.5))); err != nil {
		return err
	}
	return n.clipTo(n.values[n.GetOutput()[0]], 0, 1)
}

func clip(n *node) error {
	bounds := [2]float32{n.float("min", -math.MaxFloat32), n.float("max", math.MaxFloat32)}
	for k := range bounds {
		t, err := n.optional(1 + k)
		if err != nil {
			return err
		}
		if t != nil && len(t.Floats) != 1 {
			return fmt.Errorf("a bound of shape %v", t.Dims)
		}
		if t != nil {
			bounds[k] = max(-math.MaxFloat32, min(math.MaxFloat32, t.Floats[0]))
		}
	}
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	return n.clipTo(v, bounds[0], bounds[1])
}

// clipTo adds a Clip layer, or a ReLU for the bounds 0 and none.
func (n *node) clipTo(v *value, lo, hi float32) error {
	kind, p := "Clip", &caffepb.LayerParameter{ClipParam: &caffepb.ClipParameter{Min: proto.Float32(lo), Max: proto.Float32(hi)}}
	if lo == 0 && hi == math.MaxFloat32 {
		kind, p = "ReLU", &caffepb.LayerParameter{}
	}
	perm := v.perm
	if err := n.one(kind, p, []*value{v}); err != nil {
		return err
	}
	out := n.values[n.GetOutput()[0]]
	out.perm, out.positive = perm, lo >= 0
	return nil
}

func alias(n *node) error {
	v, err := n.input(0)
	n.set(0, v)
	return err
}

// cast is nothing between float types, and for the indices of ArgMax and the truth values of Greater, which Caffe has as floats.
func cast(n *node) error {
	switch to := n.int("to", 0); to {
	case 1, 6, 7, 10, 11, 16:
		v, err := n.input(0)
		n.set(0, v)
		return err
	default:
		return fmt.Errorf("a cast to type %d", to)
	}
}

func dropout(n *node) error {
	ratio := n.float("ratio", 0.5)
	if t, err := n.optional(1); err != nil {
		return err
	} else if t != nil && len(t.Floats) == 1 {
		ratio = t.Floats[0]
	}
	p := &caffepb.LayerParameter{}
	if ratio != 0.5 {
		p.DropoutParam = &caffepb.DropoutParameter{DropoutRatio: proto.Float32(ratio)}
	}
	return n.elementwise("Dropout", p)
}

func greater(n *node) error {
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if len(t.Floats) != 1 {
		return fmt.Errorf("a threshold of shape %v; Caffe's Threshold has one", t.Dims)
	}
	return n.elementwise("Threshold", &caffepb.LayerParameter{ThresholdParam: &caffepb.ThresholdParameter{Threshold: proto.Float32(t.Floats[0])}})
}

// gemm is an InnerProduct. A flattening before it becomes the layer's axis.
func gemm(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	axis := 1
	if v.flat > 0 && v.perm == nil && v.pad == nil && v.flat-1 < len(v.shape) {
		axis, v = v.flat-1, &value{blob: v.blob, shape: v.shape}
	} else if v, err = n.settle(v); err != nil {
		return err
	}
	if n.int("transA", 0) != 0 || len(t.Dims) != 2 {
		return fmt.Errorf("transA %d and weights of shape %v; Caffe's InnerProduct takes rows and a matrix", n.int("transA", 0), t.Dims)
	}
	if axis != 1 && len(v.shape) != axis+1 && axis > 1 {
		if v, err = n.reshape(v, []int{count(v.shape[:axis]), count(v.shape[axis:])}); err != nil {
			return err
		}
		axis = 1
	}
	b, err := n.optional(2)
	if err != nil {
		return err
	}
	outputs := t.Dims[1]
	if n.int("transB", 0) != 0 {
		outputs = t.Dims[0]
	}
	if b != nil {
		if b, err = spread(times(b, n.float("beta", 1)), outputs); err != nil {
			return err
		}
	}
	if err := n.innerProduct(v, times(t, n.float("alpha", 1)), b, axis, n.int("transB", 0) == 0); err != nil {
		return err
	}
	if out := n.values[n.GetOutput()[0]]; len(out.shape) != 2 {
		if out, err = n.reshape(out, []int{count(out.shape) / outputs, outputs}); err != nil {
			return err
		}
		n.set(0, out)
	}
	return nil
}

func (n *node) innerProduct(v *value, w, b *onnx.Tensor, axis int, transpose bool) error {
	p := &caffepb.InnerProductParameter{NumOutput: proto.Uint32(uint32(w.Dims[0]))}
	if transpose {
		p.NumOutput, p.Transpose = proto.Uint32(uint32(w.Dims[1])), proto.Bool(true)
	}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	weights := []*onnx.Tensor{w}
	if b == nil {
		p.BiasTerm = proto.Bool(false)
	} else {
		weights = append(weights, b)
	}
	return n.one("InnerProduct", &caffepb.LayerParameter{InnerProductParam: p}, []*value{v}, weights...)
}

func times(t *onnx.Tensor, factor float32) *onnx.Tensor {
	if factor == 1 {
		return t
	}
	out := floats(make([]float32, len(t.Floats)), t.Dims...)
	for i, v := range t.Floats {
		out.Floats[i] = factor * v
	}
	return out
}

// spread gives a bias one value for each output.
func spread(b *onnx.Tensor, outputs int) (*onnx.Tensor, error) {
	switch len(b.Floats) {
	case outputs:
		return b, nil
	case 1:
		out := floats(make([]float32, outputs), outputs)
		for i := range out.Floats {
			out.Floats[i] = b.Floats[0]
		}
		return out, nil
	}
	return nil, fmt.Errorf("a bias of shape %v for %d outputs", b.Dims, outputs)
}

// matMul is an InnerProduct over the last axis.
func matMul(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if len(t.Dims) != 2 || len(v.shape) < 2 {
		return fmt.Errorf("factors of shapes %v and %v; Caffe's InnerProduct multiplies with a matrix", v.shape, t.Dims)
	}
	return n.innerProduct(v, t, nil, len(v.shape)-1, true)
}

// batchNormalization is a BatchNorm and, unless its factors are 1 and its summands 0, a Scale in place behind it.
func batchNormalization(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	var t [4]*onnx.Tensor
	for k := range t {
		if t[k], err = n.weight(1 + k); err != nil {
			return err
		}
	}
	if n.int("training_mode", 0) != 0 || n.int("spatial", 1) != 1 {
		return fmt.Errorf("training_mode and spatial: 0 have no form in Caffe's BatchNorm")
	}
	p := &caffepb.LayerParameter{BatchNormParam: &caffepb.BatchNormParameter{Eps: proto.Float32(n.float("epsilon", 1e-5))}}
	out := n.GetOutput()[0]
	scaled := false
	for c := range t[0].Floats {
		scaled = scaled || t[0].Floats[c] != 1
	}
	for c := range t[1].Floats {
		scaled = scaled || t[1].Floats[c] != 0
	}
	if !scaled {
		return n.one("BatchNorm", p, []*value{v}, t[2], t[3], floats([]float32{1}, 1))
	}
	normed, err := n.add("BatchNorm", p, []*value{v}, []*onnx.Tensor{t[2], t[3], floats([]float32{1}, 1)}, out+"@"+n.GetName())
	if err != nil {
		return err
	}
	return n.one("Scale", &caffepb.LayerParameter{ScaleParam: &caffepb.ScaleParameter{BiasTerm: proto.Bool(true)}}, normed, t[0], t[1])
}

func lrn(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	return n.one("LRN", &caffepb.LayerParameter{LrnParam: &caffepb.LRNParameter{
		LocalSize: proto.Uint32(uint32(n.int("size", 0))), Alpha: proto.Float32(n.float("alpha", 1e-4)), Beta: proto.Float32(n.float("beta", 0.75)),
		K: proto.Float32(n.float("bias", 1)),
	}}, []*value{v})
}

// softmax works along one axis. Before opset 13 it worked on all axes from axis on, which is the same if the others have extent 1.
func softmax(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	missing := -1
	if n.opset < 13 {
		missing = 1
	}
	axis, err := axisOf(n.int("axis", missing), len(v.dims()))
	if err != nil {
		return err
	}
	if n.opset < 13 && count(v.dims()[axis+1:]) != 1 {
		return fmt.Errorf("in opset %d it sums over all axes from %d on of shape %v; Caffe's Softmax sums over one axis", n.opset, axis, v.dims())
	}
	perm := v.perm
	if perm != nil && v.pad == nil && v.flat == 0 {
		axis, v = perm[axis], &value{blob: v.blob, shape: v.shape}
	} else if v, err = n.settle(v); err != nil {
		return err
	}
	p := &caffepb.LayerParameter{}
	if axis != 1 {
		p.SoftmaxParam = &caffepb.SoftmaxParameter{Axis: proto.Int32(int32(axis))}
	}
	if err := n.one("Softmax", p, []*value{v}); err != nil {
		return err
	}
	out := n.values[n.GetOutput()[0]]
	out.perm, out.positive = perm, true
	return nil
}

func logSoftmax(n *node) error {
	if err := softmax(n); err != nil {
		return err
	}
	v := n.values[n.GetOutput()[0]]
	perm := v.perm
	if err := n.one("Log", &caffepb.LayerParameter{}, []*value{v}); err != nil {
		return err
	}
	n.values[n.GetOutput()[0]].perm = perm
	return nil
}
