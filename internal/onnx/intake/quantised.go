package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// A model in 8 bits has QuantizeLinear and DequantizeLinear before its products, and its weights as bytes behind DequantizeLinear (QDQ). A layer whose input and
// weights both pass them gets a quantization_param and computes the same in INT8. Elsewhere the values stay in fp32, and a Clip layer takes the place of a pair: bytes end at 0 and 255, and
// tools that quantise take out the ReLU before a pair whose zero point is the least byte.

// rounding is what QuantizeLinear does to a value: byte b stands for (b-zero)*scale.
type rounding struct {
	scale float32
	zero  uint8
	bytes bool // the value is the bytes, which DequantizeLinear alone may read
	ended bool // the value is within the range of the bytes
}

// ends returns the values of the least and the largest byte.
func (r *rounding) ends() *caffepb.LayerParameter {
	value := func(b int) *float32 { return proto.Float32(float32(b-int(r.zero)) * r.scale) }
	return &caffepb.LayerParameter{ClipParam: &caffepb.ClipParameter{Min: value(0), Max: value(quant.MostInput)}}
}

// steps are the scales of weights that were bytes: one, or one for each place along an axis.
type steps struct {
	scales []float32
	axis   int
}

// roundingOf reads the scale and the zero point of a node, inputs 1 and 2. Signed bytes become unsigned ones: both count from their least.
func (n *node) roundingOf() (*rounding, error) {
	scale, err := n.weight(1)
	if err != nil {
		return nil, err
	}
	zero, err := n.optional(2)
	if err != nil {
		return nil, err
	}
	r := &rounding{}
	if len(scale.Floats) != 1 {
		return nil, fmt.Errorf("a scale of shape %v: an input of a layer has one for all values", scale.Dims)
	}
	r.scale = scale.Floats[0]
	if zero == nil {
		return r, nil
	}
	if len(zero.Ints) != 1 {
		return nil, fmt.Errorf("a zero point of shape %v: bytes are needed, one for all values", zero.Dims)
	}
	at := zero.Ints[0]
	if n.types[n.GetInput()[2]] == int8s {
		at -= math.MinInt8
	}
	if r.zero = uint8(at); int64(r.zero) != at {
		return nil, fmt.Errorf("the zero point %d is no byte", zero.Ints[0])
	}
	return r, nil
}

// quantizeLinear makes bytes of a value.
func quantizeLinear(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	r, err := n.roundingOf()
	if err != nil {
		return err
	}
	if kind := n.resultType(); kind != int8s && kind != uint8s {
		return fmt.Errorf("its results have type %v; layers compute in bytes alone", kind)
	}
	n.int("axis", 1)
	n.int("saturate", 1)
	made := *v
	r.bytes, made.rounded = true, r
	n.set(0, &made)
	return nil
}

// dequantizeLinear gives the value that the bytes stand for. Layers in INT8 end it at the bytes' range themselves.
func dequantizeLinear(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	r, err := n.roundingOf()
	n.int("axis", 1)
	switch {
	case err != nil:
		return err
	case v.rounded == nil || !v.rounded.bytes:
		return fmt.Errorf("input 0 (%q) comes from no QuantizeLinear; a net has no blobs of bytes", n.GetInput()[0])
	case r.scale != v.rounded.scale || r.zero != v.rounded.zero:
		return fmt.Errorf("its scale %g and zero point %d are not those of the QuantizeLinear before it, %g and %d", r.scale, r.zero, v.rounded.scale, v.rounded.zero)
	}
	n.roundings++
	product := func(reader *onnxpb.NodeProto, input int) bool {
		return input == 0 && slices.Contains(products, reader.GetOpType())
	}
	if n.everyReader(n.GetOutput()[0], 0, product) {
		made := *v
		made.rounded = r
		n.set(0, &made)
		return nil
	}
	if v, err = n.settled(v); err != nil {
		return err
	}
	if err := n.one("Clip", r.ends(), []*value{v}); err != nil {
		return err
	}
	r.ended = true
	out := n.values[n.GetOutput()[0]]
	out.perm, out.rounded, out.positive = v.perm, r, v.positive || r.zero == 0
	return nil
}

// endBefore puts a Clip layer before layer first and those behind it, between them and the value that the node reads.
func (n *node) endBefore(first int, r *rounding) error {
	v, end := n.values[n.GetInput()[0]], len(n.net.Layer)
	tops, err := n.add("Clip", r.ends(), []*value{{blob: v.blob, shape: v.shape}}, nil, v.blob+"_ended")
	if err != nil {
		return err
	}
	clip := n.net.Layer[end]
	for _, l := range n.net.Layer[first:end] {
		for i, b := range l.Bottom {
			if b == v.blob {
				l.Bottom[i] = tops[0].blob
			}
		}
	}
	n.net.Layer = slices.Insert(n.net.Layer[:end:end], first, clip)
	return nil
}

// endShared ends input 0 of a product where another input is the value before the rounding: layers of the product could not tell the two apart.
func (n *node) endShared() error {
	if !slices.Contains(products, n.GetOpType()) {
		return nil
	}
	name := n.GetInput()[0]
	v, r := n.values[name], n.roundingBefore(name, len(n.model.GetGraph().GetNode()))
	if v == nil || r == nil || r.ended {
		return nil
	}
	for _, other := range n.GetInput()[1:] {
		if o := n.values[other]; o == nil || o.constant != nil || o.blob != v.blob {
			continue
		}
		n.made = 1 // the product has the node's name
		tops, err := n.add("Clip", r.ends(), []*value{{blob: v.blob, shape: v.shape}}, nil, v.blob+"_ended")
		if n.made = 0; err != nil {
			return err
		}
		made, ended := *v, *r
		ended.ended = true
		made.blob, made.rounded = tops[0].blob, &ended
		n.values[name] = &made
		return nil
	}
	return nil
}

// checkBytes refuses other readers of bytes.
func (n *node) checkBytes() error {
	for _, in := range n.GetInput() {
		if v := n.values[in]; v != nil && v.rounded != nil && v.rounded.bytes && n.GetOpType() != "DequantizeLinear" {
			return fmt.Errorf("it reads the bytes of %q; layers read what DequantizeLinear makes of them", in)
		}
	}
	return nil
}

// dequantized is a constant that DequantizeLinear makes of bytes.
func (n *node) dequantized() (*value, error) {
	t, err := n.weight(0)
	if err != nil {
		return nil, err
	}
	scale, err := n.weight(1)
	if err != nil {
		return nil, err
	}
	zero, err := n.optional(2)
	if err != nil {
		return nil, err
	}
	s := &steps{scales: scale.Floats}
	inner, extent := len(t.Ints), 1
	if len(scale.Floats) > 1 {
		if s.axis, err = axisOf(n.int("axis", 1), len(t.Dims)); err != nil {
			return nil, err
		}
		extent, inner = t.Dims[s.axis], count(t.Dims[s.axis+1:])
	}
	n.int("axis", 1)
	if len(t.Ints) == 0 || len(scale.Floats) != extent || n.int("block_size", 0) != 0 {
		return nil, fmt.Errorf("values of shape %v with scales of shape %v, in blocks of %d: integers with one scale, or one for each place of axis %d, are needed", t.Dims, scale.Dims, n.int("block_size", 0), s.axis)
	}
	out, fits := floats(make([]float32, len(t.Ints)), t.Dims...), true
	for i, q := range t.Ints {
		place := i / inner % extent
		if zero != nil && len(zero.Ints) > 0 {
			q -= zero.Ints[min(place, len(zero.Ints)-1)]
		}
		fits = fits && q >= -quant.MostWeight && q <= quant.MostWeight
		out.Floats[i] = float32(q) * scale.Floats[place]
	}
	if !fits {
		s = nil // more than 127 steps: no weights of a layer in INT8
	}
	return &value{constant: out, steps: s}, nil
}

// roundingBefore returns the rounding that a value has passed, also where operators that move elements are behind it; nil if there is none. The value is one
// of the first nodes.
func (t *translator) roundingBefore(name string, nodes int) *rounding {
	if v := t.values[name]; v != nil && v.rounded != nil {
		return v.rounded
	}
	for i := nodes - 1; i >= 0; i-- {
		if p := t.model.GetGraph().GetNode()[i]; slices.Contains(p.GetOutput(), name) && slices.Contains(moving, p.GetOpType()) {
			return t.roundingBefore(p.GetInput()[0], i)
		}
	}
	return nil
}

// products are the operators that may become layers in INT8.
var products = []string{"Conv", "Gemm", "MatMul"}

// quantise gives the layer that the node has become, one of those from layer first on, the scales of its input and weights. If it has none for INT8, its input ends where the bytes end.
func (n *node) quantise(first int) error {
	if !slices.Contains(products, n.GetOpType()) {
		return nil
	}
	x := n.roundingBefore(n.GetInput()[0], len(n.model.GetGraph().GetNode()))
	if x == nil || n.inBytes(first, x) || x.ended {
		return nil
	}
	return n.endBefore(first, x)
}

// inBytes gives the layer that the node has become its quantization_param, and reports whether it could.
func (n *node) inBytes(first int, x *rounding) bool {
	w := n.values[n.GetInput()[1]]
	if w == nil || w.steps == nil || n.float("alpha", 1) != 1 {
		return false
	}
	for _, l := range n.net.Layer[first:] {
		outputs, axis := l.GetConvolutionParam().GetNumOutput(), 0
		if p := l.InnerProductParam; p != nil {
			if outputs = p.GetNumOutput(); p.GetTranspose() {
				axis = 1
			}
		} else if l.ConvolutionParam == nil || l.GetType() != "Convolution" {
			continue
		}
		if _, err := quant.New(x.scale, uint32(x.zero), w.steps.scales, int(outputs)); err != nil {
			n.notes = append(n.notes, fmt.Sprintf("Layer %q stays in fp32: %v", l.GetName(), err))
			return false
		}
		if s := w.steps; len(s.scales) > 1 && s.axis != axis {
			return false
		}
		l.QuantizationParam = &caffepb.QuantizationParameter{InputScale: proto.Float32(x.scale), WeightScale: slices.Clone(w.steps.scales)}
		if x.zero != 0 {
			l.QuantizationParam.InputZeroPoint = proto.Uint32(uint32(x.zero))
		}
		n.net.Precision = caffepb.Precision_INT8.Enum()
		n.quantised++
		return true
	}
	return false
}

// noteRoundings says what roundings have become.
func (t *translator) noteRoundings() {
	if t.roundings > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d layers compute in INT8; of %d values that the model rounds to bytes, those that other layers read stay in fp32, within the range of the bytes", t.quantised, t.roundings))
	}
}
