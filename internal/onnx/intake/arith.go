package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// channelOf aligns a constant's shape with a value's, at the end. It returns the first axis that the constant covers and the number of axes;
// ok is false if the covered extents are not the value's.
func channelOf(dims, shape []int) (axis, size int, ok bool) {
	if len(dims) > len(shape) {
		return 0, 0, false
	}
	full := append(slices.Repeat([]int{1}, len(shape)-len(dims)), dims...)
	first, end := 0, len(full)
	for first < end && full[first] == 1 {
		first++
	}
	for end > first && full[end-1] == 1 {
		end--
	}
	return first, end - first, slices.Equal(full[first:end], shape[first:end])
}

func add(n *node) error { return n.arithmetic(1, false) }
func sub(n *node) error { return n.arithmetic(-1, false) }
func mul(n *node) error { return n.arithmetic(1, true) }
func div(n *node) error { return n.arithmetic(-1, true) }

// arithmetic is x + sign*y, or with product x * y^sign.
func (n *node) arithmetic(sign float32, product bool) error {
	a, err := n.operand(0)
	if err != nil {
		return err
	}
	b, err := n.operand(1)
	if err != nil {
		return err
	}
	switch {
	case a.constant != nil && b.constant != nil:
		return fmt.Errorf("both operands are constants of types that are not folded")
	case b.constant != nil:
		return n.withConstant(0, operandOf(b.constant, sign, product), product)
	case a.constant == nil:
		return n.ofTwo(a, b, sign, product)
	case sign == 1:
		return n.withConstant(1, a.constant, product)
	}
	return n.reversed(a.constant, product)
}

// operandOf turns a subtrahend into a summand, a divisor into a factor.
func operandOf(t *onnx.Tensor, sign float32, product bool) *onnx.Tensor {
	if sign == 1 {
		return t
	}
	out := floats(make([]float32, len(t.Floats)), t.Dims...)
	for i, v := range t.Floats {
		out.Floats[i] = -v
		if product {
			out.Floats[i] = 1 / v
		}
	}
	return out
}

// reversed is c - x or c / x: -x + c, or (1/x) c.
func (n *node) reversed(c *onnx.Tensor, product bool) error {
	v, err := n.plain(1)
	if err != nil {
		return err
	}
	switch {
	case len(c.Floats) == 1 && len(c.Dims) <= len(v.shape) && !product:
		return n.one("Power", powerParam(1, -1, c.Floats[0]), []*value{v})
	case len(c.Floats) == 1 && len(c.Dims) <= len(v.shape):
		if err := n.one("Power", powerParam(-1, 1, 0), []*value{v}); err != nil {
			return err
		}
		return n.one("Power", powerParam(1, c.Floats[0], 0), []*value{n.values[n.GetOutput()[0]]})
	}
	first, err := n.held(c, n.GetOutput()[0]+"_constant")
	if err != nil {
		return err
	}
	return n.ofTwo(first, v, -1, product)
}

// withConstant is input k plus or times a constant: a Power, Scale or Bias layer, or the bias of the layer before.
func (n *node) withConstant(k int, t *onnx.Tensor, product bool) error {
	v, err := n.input(k)
	if err != nil {
		return err
	}
	if product && n.absorbed[n.GetOutput()[0]] {
		n.set(0, v) // the pooling before it has taken it over
		n.renameTop(v)
		return nil
	}
	if t.Floats == nil {
		return fmt.Errorf("a constant of integers")
	}
	if len(t.Dims) > len(v.dims()) { // the constant gives the result more axes
		if v, err = n.settle(v); err != nil {
			return err
		}
		c, err := n.held(t, n.GetOutput()[0]+"_constant")
		if err != nil {
			return err
		}
		return n.repeated(v, c, 1, product)
	}
	if v.perm != nil && v.flat == 0 && v.pad == nil && len(t.Floats) > 1 {
		full := floats(t.Floats, append(slices.Repeat([]int{1}, len(v.perm)-len(t.Dims)), t.Dims...)...)
		t = transposed(full, inverse(v.perm))
	} else if v.flat > 0 || v.pad != nil {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	perm := v.perm
	v = &value{blob: v.blob, shape: v.shape}
	defer func() {
		if out := n.values[n.GetOutput()[0]]; out != nil {
			out.perm = perm
		}
	}()
	axis, size, ok := channelOf(t.Dims, v.shape)
	if !product && ok && n.absorbBias(k, v, t, axis, size) {
		return nil
	}
	switch {
	case len(t.Floats) == 1 && product:
		return n.one("Power", powerParam(1, t.Floats[0], 0), []*value{v})
	case len(t.Floats) == 1:
		return n.one("Power", powerParam(1, 1, t.Floats[0]), []*value{v})
	case !ok:
		c, err := n.held(t, n.GetOutput()[0]+"_constant")
		if err != nil {
			return err
		}
		return n.repeated(v, c, 1, product)
	case product:
		p := &caffepb.ScaleParameter{}
		setAxes(&p.Axis, &p.NumAxes, axis, size)
		return n.one("Scale", &caffepb.LayerParameter{ScaleParam: p}, []*value{v}, t)
	}
	p := &caffepb.BiasParameter{}
	setAxes(&p.Axis, &p.NumAxes, axis, size)
	return n.one("Bias", &caffepb.LayerParameter{BiasParam: p}, []*value{v}, t)
}

func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, p := range perm {
		out[p] = i
	}
	return out
}

func setAxes(axis, size **int32, a, n int) {
	if a != 1 {
		*axis = proto.Int32(int32(a))
	}
	if n != 1 {
		*size = proto.Int32(int32(n))
	}
}

// renameTop gives the blob of a value the name of the node's output.
func (n *node) renameTop(v *value) {
	if out := n.GetOutput()[0]; !n.blobs[out] {
		n.rename(v.blob, out)
	}
}

// absorbBias makes a constant the bias of the layer that computes v, if nothing else reads v.
func (n *node) absorbBias(k int, v *value, t *onnx.Tensor, axis, size int) bool {
	last := n.net.Layer[len(n.net.Layer)-1]
	if !n.readOnce(v.blob) || len(last.GetTop()) != 1 || last.GetTop()[0] != v.blob || size != 1 || len(last.GetBlobs()) != 1 {
		return false
	}
	switch c, i, s := last.ConvolutionParam, last.InnerProductParam, last.ScaleParam; {
	case c != nil && axis == 1 && !c.GetBiasTerm():
		c.BiasTerm = nil
	case i != nil && axis == len(v.shape)-1 && !i.GetBiasTerm():
		i.BiasTerm = nil
	case s != nil && len(last.GetBottom()) == 1 && int(s.GetAxis()) == axis && s.GetNumAxes() == 1 && !s.GetBiasTerm():
		s.BiasTerm = proto.Bool(true)
		if i := len(last.GetName()) - len("/Mul"); i > 0 && last.GetName() == n.GetName()+"/Mul" {
			last.Name = proto.String(unique(n.GetName(), n.layerNames))
		}
	default:
		return false
	}
	last.Blobs = append(last.Blobs, &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{int64(len(t.Floats))}}, Data: t.Floats})
	out := &value{blob: v.blob, shape: v.shape}
	n.set(0, out)
	n.renameTop(out)
	return true
}

// readOnce tells whether a blob has one reader. An Identity, a Cast or a Reshape to the same shape gives a blob another name: each name may be read
// once, which makes a chain of them with the reader at its end. A graph output reads its name.
func (t *translator) readOnce(blob string) bool {
	for name, v := range t.values {
		if v != nil && v.constant == nil && v.blob == blob && t.readers[name] > 1 {
			return false
		}
	}
	return true
}

// ofTwo combines two values of one shape in an Eltwise layer. If one has extents of 1 behind a common beginning, it is a Scale or Bias layer.
func (n *node) ofTwo(a, b *value, sign float32, product bool) error {
	var err error
	perm := a.perm
	if !slices.Equal(a.perm, b.perm) || len(a.shape) != len(b.shape) || a.pad != nil || b.pad != nil || a.flat != b.flat || a.flat > 0 {
		perm = nil
		if a, err = n.settle(a); err != nil {
			return err
		}
		if b, err = n.settle(b); err != nil {
			return err
		}
	}
	if product && sign == -1 {
		inverted, err := n.add("Power", powerParam(-1, 1, 0), []*value{b}, nil, n.GetOutput()[0]+"_inverse")
		if err != nil {
			return err
		}
		b = inverted[0]
	}
	if !slices.Equal(a.shape, b.shape) {
		err := n.unequal(a, b, sign, product)
		if err == nil {
			n.values[n.GetOutput()[0]].perm = perm
		}
		return err
	}
	p := &caffepb.EltwiseParameter{}
	switch {
	case product:
		p.Operation = caffepb.EltwiseParameter_PROD.Enum()
	case sign == -1:
		p.Coeff = []float32{1, -1}
	}
	if err := n.one("Eltwise", &caffepb.LayerParameter{EltwiseParam: p}, []*value{a, b}); err != nil {
		return err
	}
	n.values[n.GetOutput()[0]].perm = perm
	return nil
}

func (n *node) unequal(a, b *value, sign float32, product bool) error {
	if count(b.shape) > count(a.shape) && (sign == 1 || product) {
		a, b = b, a
	}
	axis, size, ok := channelOf(b.shape, a.shape)
	alike := len(b.shape) == len(a.shape) && a.shape[0] == 1 && axis > 0 && count(a.shape[:axis]) > 1 // b's batch may not become an axis of 1
	if !ok || alike {
		return n.repeated(a, b, sign, product)
	}
	if len(b.shape) == len(a.shape) && axis > 0 && count(b.shape[:axis]) == 1 && a.shape[0] == 1 {
		axis, size = 0, axis+size // keep the batch's axis, so that its size may change
	}
	first := len(b.shape) - (len(a.shape) - axis)
	small, err := n.reshape(b, b.shape[first:first+size])
	if err != nil {
		return err
	}
	if sign == -1 && !product {
		negative, err := n.add("Power", powerParam(1, -1, 0), []*value{small}, nil, small.blob+"_negative")
		if err != nil {
			return err
		}
		small = negative[0]
	}
	if product {
		return n.one("Scale", &caffepb.LayerParameter{ScaleParam: &caffepb.ScaleParameter{Axis: proto.Int32(int32(axis))}}, []*value{a, small})
	}
	return n.one("Bias", &caffepb.LayerParameter{BiasParam: &caffepb.BiasParameter{Axis: proto.Int32(int32(axis))}}, []*value{a, small})
}

// repeated combines values whose extents of 1 are in other places than behind a common beginning: Tile layers repeat them.
func (n *node) repeated(a, b *value, sign float32, product bool) error {
	return composed(func(c chain) *value {
		in := c.spreadAll(a, b)
		switch {
		case product:
			return c.product(in...)
		case sign == -1:
			return c.total([]float32{1, -1}, in...)
		}
		return c.total(nil, in...)
	})(n)
}
