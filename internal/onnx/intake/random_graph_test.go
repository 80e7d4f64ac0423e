package intake

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// drawer draws a model of a few nodes that exporters write: each node reads values that are there, and its attributes fit their shapes and the
// opset. Every value that no node reads is an output, and sometimes one that is read too.
type drawer struct {
	*maker
	r     *rand.Rand
	opset int
	dims  map[string][]int64
	live  []string // values that nodes may read, in order
	count int
}

// drawGraph draws a model with at most some nodes. The same seed gives the same nodes, up to their number.
func drawGraph(seed uint64, nodes int) *maker {
	r := rand.New(rand.NewPCG(seed, 5))
	opset := []int{7, 8, 9, 10, 11, 12, 13, 15, 17, 18}[r.IntN(10)]
	var x []int64
	small := func(most int) int64 { return int64(1 + r.IntN(most)) }
	switch r.IntN(6) {
	case 0:
		x = []int64{small(4), small(6)}
	case 1:
		x = []int64{small(4), small(6), 2 + small(8)}
	default:
		x = []int64{small(3), small(8), 2 + small(8), 2 + small(8)}
	}
	d := &drawer{maker: newModel(int64(opset), x...), r: r, opset: opset, dims: map[string][]int64{"x": x}, live: []string{"x"}}
	d.m.IrVersion = proto.Int64(8)
	d.maker.r = rand.New(rand.NewPCG(seed, 6))
	if r.IntN(4) == 0 {
		z := slices.Clone(x)
		if r.IntN(2) == 0 {
			z[r.IntN(len(z))] = 1
		}
		d.input("z", z...)
		d.dims["z"], d.live = z, append(d.live, "z")
	}
	for want := 2 + r.IntN(9); len(d.m.Graph.Node) < min(want, nodes); {
		d.step()
	}
	d.finish()
	return d.maker
}

// finish makes outputs of what no node reads.
func (d *drawer) finish() {
	read := map[string]bool{}
	for _, n := range d.m.Graph.Node {
		for _, in := range n.Input {
			read[in] = true
		}
	}
	d.m.Graph.Output = nil
	also := rand.New(rand.NewPCG(uint64(d.count), 7))
	for _, name := range d.live {
		if name != "x" && name != "z" && (!read[name] || also.IntN(8) == 0) {
			d.m.Graph.Output = append(d.m.Graph.Output, valueInfo(name, nil))
		}
	}
}

func (d *drawer) integer(lo, hi int64) int64 { return lo + d.r.Int64N(hi-lo+1) }
func (d *drawer) chance(p float64) bool      { return d.r.Float64() < p }

// pick returns a value of some numbers of axes, mostly a late one.
func (d *drawer) pick(least, most int) (string, []int64) {
	var fit []string
	for _, name := range d.live {
		if n := len(d.dims[name]); n >= least && n <= most {
			fit = append(fit, name)
		}
	}
	if len(fit) == 0 {
		return "", nil
	}
	name := fit[len(fit)-1]
	if d.chance(0.3) {
		name = fit[d.r.IntN(len(fit))]
	}
	return name, d.dims[name]
}

// add adds a node whose output has a shape.
func (d *drawer) add(op, inputs string, dims []int64, attrs ...*onnxpb.AttributeProto) {
	n := int64(1)
	for _, e := range dims {
		n *= e
	}
	if n > 5000 {
		return
	}
	d.count++
	name := fmt.Sprint("v", d.count)
	d.node(name, op, inputs, attrs...)
	d.dims[name], d.live = dims, append(d.live, name)
}

// weights adds a constant of normal values and returns its name.
func (d *drawer) weights(scale float32, dims ...int64) string {
	name := fmt.Sprint("w", len(d.m.Graph.Initializer))
	d.floats(name, dims...)
	t := d.m.Graph.Initializer[len(d.m.Graph.Initializer)-1]
	for i := range t.FloatData {
		t.FloatData[i] = scale * float32(d.maker.r.NormFloat64())
	}
	return name
}

// single adds a constant of one float, without axes.
func (d *drawer) single(value float32) string {
	name := fmt.Sprint("w", len(d.m.Graph.Initializer))
	d.floats(name)
	d.m.Graph.Initializer[len(d.m.Graph.Initializer)-1].FloatData[0] = value
	return name
}

func (d *drawer) list64(values ...int64) string {
	name := fmt.Sprint("w", len(d.m.Graph.Initializer))
	d.ints(name, values...)
	return name
}

func (d *drawer) step() {
	before := len(d.m.Graph.Initializer)
	nodes := len(d.m.Graph.Node)
	drawSteps[d.r.IntN(len(drawSteps))](d)
	if len(d.m.Graph.Node) == nodes { // it did not fit
		d.m.Graph.Initializer = d.m.Graph.Initializer[:before]
	}
}

var drawSteps []func(d *drawer)

func init() {
	drawSteps = []func(d *drawer){
		(*drawer).activation, (*drawer).activation, (*drawer).activation, (*drawer).arithmetic, (*drawer).arithmetic, (*drawer).live2, (*drawer).several, (*drawer).convolution, (*drawer).convolution,
		(*drawer).transposed, (*drawer).pooling, (*drawer).pooling, (*drawer).globalPooling, (*drawer).normalisation, (*drawer).softmax, (*drawer).gemm, (*drawer).matmul,
		(*drawer).reshape, (*drawer).flatten, (*drawer).squeeze, (*drawer).unsqueeze, (*drawer).permute, (*drawer).concat, (*drawer).split, (*drawer).slice, (*drawer).gather,
		(*drawer).pad, (*drawer).resize, (*drawer).tile, (*drawer).expand, (*drawer).depth, (*drawer).reduce, (*drawer).reduce, (*drawer).nothing, (*drawer).nothing, (*drawer).shapes,
	}
}

func (d *drawer) activation() {
	x, dims := d.pick(1, 4)
	if x == "" {
		return
	}
	f := func() float32 { return float32(d.r.IntN(9)-4) / 4 }
	above := func() float32 { return float32(1+d.r.IntN(8)) / 5 }
	switch k := d.r.IntN(20); k {
	case 0, 1, 2:
		d.add([]string{"Relu", "Sigmoid", "Tanh"}[k], x, dims)
	case 3, 4, 5, 6, 7:
		d.add([]string{"Abs", "Softplus", "Softsign", "Selu", "Neg"}[k-3], x, dims)
	case 8:
		d.add("LeakyRelu", x, dims, real("alpha", f()))
	case 9:
		d.add("Elu", x, dims, real("alpha", above()))
	case 10:
		d.add("HardSigmoid", x, dims, real("alpha", above()), real("beta", f()))
	case 11:
		if d.opset >= 12 {
			d.add("Celu", x, dims, real("alpha", above()))
		}
	case 12:
		if d.opset >= 10 {
			d.add("ThresholdedRelu", x, dims, real("alpha", f()))
		}
	case 13:
		if d.opset >= 9 {
			d.add("Sign", x, dims)
		}
	case 14:
		if d.opset >= 14 {
			d.add("HardSwish", x, dims)
		}
	case 15, 16:
		d.clip(x, dims, f)
	case 17:
		d.add("PRelu", x+" "+d.weights(0.5, d.slopes(dims)...), dims)
	case 18:
		d.add("Pow", x+" "+d.single(float32(d.integer(1, 3))), dims)
	case 19: // bounded, then functions that need positive values, or grow
		d.add("Tanh", x, dims)
		y := d.live[len(d.live)-1]
		switch d.r.IntN(4) {
		case 0:
			d.add("Exp", y, dims)
		case 1:
			d.add("Abs", y, dims)
			d.add("Sqrt", d.live[len(d.live)-1], dims)
		case 2:
			d.add("Exp", y, dims)
			d.add("Reciprocal", d.live[len(d.live)-1], dims)
		case 3:
			d.add("Exp", y, dims)
			d.add("Log", d.live[len(d.live)-1], dims)
		}
	}
}

// slopes draws a shape that PRelu's slopes may have.
func (d *drawer) slopes(dims []int64) []int64 {
	s := slices.Clone(dims[1:])
	if len(s) == 0 {
		return []int64{1}
	}
	for i := range s {
		if i > 0 || d.chance(0.2) {
			s[i] = 1
		}
	}
	return s
}

func (d *drawer) clip(x string, dims []int64, f func() float32) {
	lo, hi := f(), f()
	if d.opset < 11 {
		lo, hi = min(lo, hi), max(lo, hi) // ONNX Runtime refuses others in these opsets
		var attrs []*onnxpb.AttributeProto
		if d.chance(0.8) {
			attrs = append(attrs, real("min", lo))
		}
		if d.chance(0.8) {
			attrs = append(attrs, real("max", hi))
		}
		d.add("Clip", x, dims, attrs...)
		return
	}
	switch d.r.IntN(3) {
	case 0:
		d.add("Clip", x+" "+d.single(lo)+" "+d.single(hi), dims)
	case 1:
		d.add("Clip", x+" "+d.single(lo), dims)
	case 2:
		d.add("Clip", x+" - "+d.single(hi), dims)
	}
}

// against draws the shape of a second operand that is broadcast to the first.
func (d *drawer) against(dims []int64) []int64 {
	s := slices.Clone(dims)
	for i := range s {
		if d.chance(0.4) {
			s[i] = 1
		}
	}
	return s[d.r.IntN(len(s)+1):]
}

func (d *drawer) arithmetic() {
	x, dims := d.pick(1, 4)
	op := []string{"Add", "Sub", "Mul", "Div"}[d.r.IntN(4)]
	c := d.weights(1, d.against(dims)...)
	t := d.m.Graph.Initializer[len(d.m.Graph.Initializer)-1]
	if op == "Div" {
		for i, v := range t.FloatData {
			t.FloatData[i] = v + 2*float32(1-2*(i%2))*float32(1)
			if t.FloatData[i] > -0.3 && t.FloatData[i] < 0.3 {
				t.FloatData[i] = 1.5
			}
		}
	}
	if d.chance(0.3) && op != "Div" {
		d.add(op, c+" "+x, dims)
		return
	}
	d.add(op, x+" "+c, dims)
}

// broadcast returns the common shape of two, nil if there is none.
func broadcast(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i := range b {
		k := len(a) - len(b) + i
		switch {
		case out[k] == b[i] || b[i] == 1:
		case out[k] == 1:
			out[k] = b[i]
		default:
			return nil
		}
	}
	return out
}

// partner returns a value whose shape can be broadcast with another's.
func (d *drawer) partner(dims []int64) (string, []int64) {
	for _, k := range d.r.Perm(len(d.live)) {
		if s := broadcast(dims, d.dims[d.live[k]]); s != nil && len(d.dims[d.live[k]]) > 0 && len(s) <= 4 {
			return d.live[k], s
		}
	}
	return "", nil
}

func (d *drawer) live2() {
	x, dims := d.pick(1, 4)
	if y, s := d.partner(dims); y != "" {
		d.add([]string{"Add", "Sub", "Mul"}[d.r.IntN(3)], x+" "+y, s)
	}
}

func (d *drawer) several() {
	x, dims := d.pick(1, 4)
	op := []string{"Max", "Min", "Sum", "Mean"}[d.r.IntN(4)]
	inputs := []string{x}
	for range d.r.IntN(3) {
		if y, s := d.partner(dims); y != "" && d.chance(0.7) {
			inputs, dims = append(inputs, y), s
		} else {
			inputs = append(inputs, d.weights(1, d.against(dims)...))
		}
	}
	if d.opset < 8 {
		return
	}
	d.add(op, strings.Join(inputs, " "), dims)
}

// window draws kernel, strides, pads and dilations of a window, and the extents of its results.
type drawnWindow struct {
	attrs []*onnxpb.AttributeProto
	out   []int64
	k     []int64
}

func (d *drawer) window(in []int64, dilate, samePads, ceil bool) *drawnWindow {
	w := &drawnWindow{}
	var strides, pads, ends, dilations []int64
	same := ""
	if samePads && d.chance(0.15) {
		same = []string{"SAME_UPPER", "SAME_LOWER", "VALID"}[d.r.IntN(3)]
	}
	for _, n := range in {
		k := d.integer(1, min(4, n))
		s := d.integer(1, 3)
		if same != "" {
			s = min(s, k)
		}
		dil := int64(1)
		if dilate && same == "" && d.chance(0.2) {
			dil = 2
		}
		reach := (k-1)*dil + 1
		var a, b int64
		if d.chance(0.5) && same == "" {
			a, b = d.integer(0, k-1), d.integer(0, k-1)
			if d.chance(0.7) {
				b = a
			}
		}
		if n+a+b < reach {
			return nil
		}
		var o int64
		switch {
		case same == "SAME_UPPER" || same == "SAME_LOWER":
			o = (n + s - 1) / s
		case ceil:
			o = (n+a+b-reach+s-1)/s + 1
			if (o-1)*s >= n+a { // a window must not begin behind the image
				return nil
			}
		default:
			o = (n+a+b-reach)/s + 1
		}
		w.k, strides, pads, ends, dilations, w.out = append(w.k, k), append(strides, s), append(pads, a), append(ends, b), append(dilations, dil), append(w.out, o)
	}
	w.attrs = append(w.attrs, list("kernel_shape", w.k...), list("strides", strides...))
	if same != "" {
		w.attrs = append(w.attrs, text("auto_pad", same))
	} else if d.chance(0.9) || slices.ContainsFunc(append(slices.Clone(pads), ends...), func(p int64) bool { return p != 0 }) {
		w.attrs = append(w.attrs, list("pads", append(pads, ends...)...))
	}
	if dilate && slices.Contains(dilations, 2) {
		w.attrs = append(w.attrs, list("dilations", dilations...))
	}
	return w
}

func (d *drawer) convolution() {
	x, dims := d.pick(3, 4)
	if x == "" {
		return
	}
	w := d.window(dims[2:], true, true, false)
	if w == nil {
		return
	}
	group, out := int64(1), d.integer(1, 6)
	if c := dims[1]; d.chance(0.3) {
		group, out = c, c*d.integer(1, 2)
		if c%2 == 0 && d.chance(0.5) {
			group, out = 2, 2*d.integer(1, 3)
		}
	}
	inputs := x + " " + d.weights(0.5, append([]int64{out, dims[1] / group}, w.k...)...)
	if d.chance(0.6) {
		inputs += " " + d.weights(0.5, out)
	}
	if group > 1 {
		w.attrs = append(w.attrs, number("group", group))
	}
	d.add("Conv", inputs, append([]int64{dims[0], out}, w.out...), w.attrs...)
}

func (d *drawer) transposed() {
	x, dims := d.pick(4, 4)
	if x == "" {
		return
	}
	var k, s, pads, ends, out []int64
	for _, n := range dims[2:] {
		kernel, stride := d.integer(1, 4), d.integer(1, 3)
		p := d.integer(0, (kernel-1)/2)
		k, s, pads, ends = append(k, kernel), append(s, stride), append(pads, p), append(ends, p)
		o := (n-1)*stride + kernel - 2*p
		if o < 1 || o > 24 {
			return
		}
		out = append(out, o)
	}
	group, outs := int64(1), d.integer(1, 4)
	if d.chance(0.2) {
		group, outs = dims[1], 1
	}
	inputs := x + " " + d.weights(0.5, append([]int64{dims[1], outs}, k...)...)
	if d.chance(0.6) {
		inputs += " " + d.weights(0.5, outs*group)
	}
	d.add("ConvTranspose", inputs, append([]int64{dims[0], outs * group}, out...), list("kernel_shape", k...), list("strides", s...), list("pads", append(pads, ends...)...), number("group", group))
}

func (d *drawer) pooling() {
	x, dims := d.pick(3, 4)
	if x == "" {
		return
	}
	ceil := d.opset >= 10 && d.chance(0.3)
	w := d.window(dims[2:], false, !ceil, ceil)
	if w == nil {
		return
	}
	if ceil {
		w.attrs = append(w.attrs, number("ceil_mode", 1))
	}
	op := []string{"MaxPool", "AveragePool"}[d.r.IntN(2)]
	if op == "AveragePool" && d.chance(0.4) {
		w.attrs = append(w.attrs, number("count_include_pad", 1))
	}
	d.add(op, x, append(slices.Clone(dims[:2]), w.out...), w.attrs...)
}

func (d *drawer) globalPooling() {
	x, dims := d.pick(3, 4)
	if x == "" {
		return
	}
	out := slices.Clone(dims)
	for i := range out[2:] {
		out[2+i] = 1
	}
	d.add([]string{"GlobalAveragePool", "GlobalMaxPool"}[d.r.IntN(2)], x, out)
}

func (d *drawer) normalisation() {
	x, dims := d.pick(2, 4)
	if x == "" {
		return
	}
	c := dims[1]
	positive := func() string {
		name := d.weights(1, c)
		t := d.m.Graph.Initializer[len(d.m.Graph.Initializer)-1]
		for i, v := range t.FloatData {
			t.FloatData[i] = 0.5 + v*v
		}
		return name
	}
	switch k := d.r.IntN(5); {
	case k < 3:
		d.add("BatchNormalization", strings.Join([]string{x, d.weights(1, c), d.weights(1, c), d.weights(1, c), positive()}, " "), dims, real("epsilon", 0.01))
	case k == 3 && len(dims) > 2:
		d.add("InstanceNormalization", strings.Join([]string{x, d.weights(1, c), d.weights(1, c)}, " "), dims, real("epsilon", 0.1))
	case k == 4 && len(dims) == 4:
		d.add("LRN", x, dims, number("size", 2*d.integer(1, 2)+1), real("alpha", 0.3), real("beta", 0.75), real("bias", 1))
	}
}

func (d *drawer) softmax() {
	x, dims := d.pick(2, 4)
	axis := d.integer(0, int64(len(dims)-1))
	if d.chance(0.4) {
		axis = int64(len(dims) - 1)
	}
	if d.opset >= 11 && d.chance(0.3) {
		axis -= int64(len(dims))
	}
	d.add([]string{"Softmax", "Softmax", "LogSoftmax"}[d.r.IntN(3)], x, dims, number("axis", axis))
}

func (d *drawer) gemm() {
	x, dims := d.pick(2, 2)
	if x == "" {
		return
	}
	out := d.integer(1, 6)
	var attrs []*onnxpb.AttributeProto
	w := []int64{dims[1], out}
	if d.chance(0.6) {
		w, attrs = []int64{out, dims[1]}, append(attrs, number("transB", 1))
	}
	if d.chance(0.2) {
		attrs = append(attrs, real("alpha", 0.5))
	}
	if d.chance(0.2) {
		attrs = append(attrs, real("beta", 2))
	}
	bias := [][]int64{{out}, {1, out}, {1}, {}, {dims[0], out}, {dims[0], 1}}[d.r.IntN(6)]
	d.add("Gemm", strings.Join([]string{x, d.weights(0.5, w...), d.weights(0.5, bias...)}, " "), []int64{dims[0], out}, attrs...)
}

func (d *drawer) matmul() {
	x, dims := d.pick(2, 4)
	if x == "" {
		return
	}
	last := len(dims) - 1
	out := d.integer(1, 5)
	s := slices.Clone(dims)
	how := d.r.IntN(4)
	if len(dims) == 4 {
		how = max(1, how)
	}
	switch how {
	case 0: // on the left
		s[last-1] = out
		d.add("MatMul", d.weights(0.5, out, dims[last-1])+" "+x, s)
	case 1: // computed
		for _, k := range d.r.Perm(len(d.live)) {
			if o := d.dims[d.live[k]]; len(o) == len(dims) && o[last-1] == dims[last] && slices.Equal(o[:last-1], dims[:last-1]) {
				s[last] = o[last]
				d.add("MatMul", x+" "+d.live[k], s)
				return
			}
		}
	default:
		s[last] = out
		d.add("MatMul", x+" "+d.weights(0.5, dims[last], out), s)
	}
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, v := range dims {
		n *= v
	}
	return n
}

func (d *drawer) reshape() {
	x, dims := d.pick(1, 4)
	n := product(dims)
	var to []int64
	for rest, axes := n, d.integer(1, 4); ; {
		if axes--; axes == 0 {
			to = append(to, rest)
			break
		}
		var divisors []int64
		for k := int64(1); k <= rest; k++ {
			if rest%k == 0 {
				divisors = append(divisors, k)
			}
		}
		e := divisors[d.r.IntN(len(divisors))]
		to, rest = append(to, e), rest/e
	}
	if len(to) > 1 && len(dims) > 1 && n%dims[0] == 0 && d.chance(0.6) { // keeps the batch, as most do
		to = []int64{dims[0], n / dims[0]}
	}
	written := slices.Clone(to)
	if d.chance(0.5) {
		written[d.r.IntN(len(written))] = -1
	}
	for i := range written {
		if i < len(dims) && to[i] == dims[i] && written[i] > 0 && d.chance(0.4) {
			written[i] = 0
		}
	}
	d.add("Reshape", x+" "+d.list64(written...), to)
}

func (d *drawer) flatten() {
	x, dims := d.pick(1, 4)
	axis := d.integer(0, int64(len(dims)))
	if d.chance(0.6) {
		axis = 1
	}
	d.add("Flatten", x, []int64{product(dims[:axis]), product(dims[axis:])}, number("axis", axis))
}

// axes returns a list of axes as an input or an attribute, as the opset has it from some version on.
func (d *drawer) axes(op, x string, dims []int64, from int, axes []int64, attrs ...*onnxpb.AttributeProto) {
	if d.opset >= from {
		d.add(op, x+" "+d.list64(axes...), dims, attrs...)
		return
	}
	d.add(op, x, dims, append(attrs, list("axes", axes...))...)
}

func (d *drawer) squeeze() {
	x, dims := d.pick(2, 4)
	var axes, left []int64
	for i, e := range dims {
		if e == 1 && d.chance(0.7) {
			axes = append(axes, int64(i))
		} else {
			left = append(left, e)
		}
	}
	if len(axes) == 0 || len(left) == 0 {
		return
	}
	d.axes("Squeeze", x, left, 13, axes)
}

func (d *drawer) unsqueeze() {
	x, dims := d.pick(1, 3)
	if x == "" {
		return
	}
	at := d.integer(0, int64(len(dims)))
	out := slices.Insert(slices.Clone(dims), int(at), 1)
	if d.opset >= 11 && d.chance(0.3) {
		at -= int64(len(out))
	}
	d.axes("Unsqueeze", x, out, 13, []int64{at})
}

func (d *drawer) permute() {
	x, dims := d.pick(2, 4)
	perm := make([]int64, len(dims))
	out := make([]int64, len(dims))
	for i, k := range d.r.Perm(len(dims)) {
		perm[i], out[i] = int64(k), dims[k]
	}
	if d.chance(0.5) && len(dims) == 4 {
		perm = []int64{0, 2, 3, 1}
		if d.chance(0.5) {
			perm = []int64{0, 3, 1, 2}
		}
		for i, k := range perm {
			out[i] = dims[k]
		}
	}
	if (x == "x" || x == "z") && slices.Equal(perm, []int64{0, 3, 1, 2}) {
		return // the net's input then has channels first itself
	}
	d.add("Transpose", x, out, list("perm", perm...))
}

func (d *drawer) concat() {
	x, dims := d.pick(1, 4)
	axis := d.r.IntN(len(dims))
	if len(dims) > 1 && d.chance(0.7) {
		axis = 1
	}
	out, inputs := slices.Clone(dims), []string{x}
	for range 1 + d.r.IntN(2) {
		var fit []string
		for _, name := range d.live {
			s := slices.Clone(d.dims[name])
			if len(s) != len(dims) {
				continue
			}
			s[axis] = dims[axis]
			if slices.Equal(s, dims) {
				fit = append(fit, name)
			}
		}
		name := ""
		if d.chance(0.2) {
			s := slices.Clone(dims)
			s[axis] = d.integer(1, 3)
			name = d.weights(1, s...)
			out[axis] += s[axis]
		} else {
			name = fit[d.r.IntN(len(fit))]
			out[axis] += d.dims[name][axis]
		}
		inputs = append(inputs, name)
	}
	written := int64(axis)
	if d.opset >= 11 && d.chance(0.3) {
		written -= int64(len(dims))
	}
	d.add("Concat", strings.Join(inputs, " "), out, number("axis", written))
}

func (d *drawer) split() {
	x, dims := d.pick(1, 4)
	axis := d.r.IntN(len(dims))
	if dims[axis] < 2 {
		return
	}
	first := d.integer(1, dims[axis]-1)
	a, b := slices.Clone(dims), slices.Clone(dims)
	a[axis], b[axis] = first, dims[axis]-first
	attrs := []*onnxpb.AttributeProto{number("axis", int64(axis))}
	inputs := x
	if d.opset >= 13 {
		inputs += " " + d.list64(first, dims[axis]-first)
	} else {
		attrs = append(attrs, list("split", first, dims[axis]-first))
	}
	d.add("Split", inputs, a, attrs...)
	d.count++
	name := fmt.Sprint("v", d.count)
	last := d.m.Graph.Node[len(d.m.Graph.Node)-1]
	last.Output = append(last.Output, name)
	d.dims[name], d.live = b, append(d.live, name)
}

func (d *drawer) slice() {
	x, dims := d.pick(1, 4)
	axis := d.r.IntN(len(dims))
	n := dims[axis]
	start := d.integer(0, n-1)
	end := d.integer(start+1, n)
	step := int64(1)
	if d.opset >= 10 && d.chance(0.3) {
		step = 2
	}
	out := slices.Clone(dims)
	out[axis] = (end - start + step - 1) / step
	if end == n && d.chance(0.5) {
		end = 1 << 40
	} else if end < n && d.chance(0.3) {
		end -= n
	}
	if d.chance(0.2) {
		start -= n
	}
	if d.opset < 10 {
		d.add("Slice", x, out, list("axes", int64(axis)), list("starts", start), list("ends", end))
		return
	}
	d.add("Slice", strings.Join([]string{x, d.list64(start), d.list64(end), d.list64(int64(axis)), d.list64(step)}, " "), out)
}

func (d *drawer) gather() {
	x, dims := d.pick(1, 4)
	axis := d.r.IntN(len(dims))
	out := slices.Clone(dims)
	if d.chance(0.3) && len(dims) > 1 {
		name := fmt.Sprint("w", len(d.m.Graph.Initializer))
		d.constant(name, nil, d.integer(0, dims[axis]-1))
		d.add("Gather", x+" "+name, slices.Delete(out, axis, axis+1), number("axis", int64(axis)))
		return
	}
	var indices []int64
	for range d.integer(1, 4) {
		indices = append(indices, d.integer(0, dims[axis]-1))
	}
	if d.opset >= 11 && d.chance(0.3) {
		indices[0] -= dims[axis]
	}
	out[axis] = int64(len(indices))
	d.add("Gather", x+" "+d.list64(indices...), out, number("axis", int64(axis)))
}

func (d *drawer) pad() {
	x, dims := d.pick(2, 4)
	mode := []string{"constant", "constant", "edge", "reflect"}[d.r.IntN(4)]
	begin, end, out := make([]int64, len(dims)), make([]int64, len(dims)), slices.Clone(dims)
	for i := range dims {
		if i < 2 && !d.chance(0.1) {
			continue
		}
		most := int64(3)
		if mode == "reflect" {
			most = min(most, dims[i]-1)
		}
		begin[i], end[i] = d.integer(0, most), d.integer(0, most)
		out[i] += begin[i] + end[i]
	}
	pads := append(begin, end...)
	if d.opset < 11 {
		d.add("Pad", x, out, text("mode", mode), list("pads", pads...), real("value", float32(d.r.IntN(3)-1)))
		return
	}
	inputs := x + " " + d.list64(pads...)
	if d.chance(0.5) {
		inputs += " " + d.single(float32(d.r.IntN(3)-1))
	}
	d.add("Pad", inputs, out, text("mode", mode))
}

func (d *drawer) resize() {
	x, dims := d.pick(4, 4)
	if x == "" {
		return
	}
	h, w := d.integer(1, 3), d.integer(1, 3)
	out := []int64{dims[0], dims[1], dims[2] * h, dims[3] * w}
	mode := []string{"nearest", "linear"}[d.r.IntN(2)]
	scales := fmt.Sprint("w", len(d.m.Graph.Initializer))
	d.floats(scales, 4)
	d.m.Graph.Initializer[len(d.m.Graph.Initializer)-1].FloatData = []float32{1, 1, float32(h), float32(w)}
	switch {
	case d.opset < 9:
		d.add("Upsample", x, out, text("mode", "nearest"), &onnxpb.AttributeProto{Name: proto.String("scales"), Type: onnxpb.AttributeProto_FLOATS.Enum(), Floats: []float32{1, 1, float32(h), float32(w)}})
	case d.opset == 9:
		d.add("Upsample", x+" "+scales, out, text("mode", mode))
	case d.opset == 10:
		d.add("Resize", x+" "+scales, out, text("mode", mode))
	default:
		attrs := []*onnxpb.AttributeProto{text("mode", mode), text("coordinate_transformation_mode", []string{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}[d.r.IntN(4)])}
		if mode == "nearest" {
			attrs = append(attrs, text("nearest_mode", []string{"floor", "round_prefer_floor", "ceil", "round_prefer_ceil"}[d.r.IntN(4)]))
		}
		if d.chance(0.5) {
			empty := fmt.Sprint("w", len(d.m.Graph.Initializer))
			d.floats(empty, 0)
			d.add("Resize", x+" "+empty+" "+scales, out, attrs...)
			return
		}
		empty := fmt.Sprint("w", len(d.m.Graph.Initializer))
		d.floats(empty, 0)
		out[2], out[3] = d.integer(1, 9), d.integer(1, 9)
		d.add("Resize", x+" "+empty+" "+empty+" "+d.list64(out...), out, attrs...)
	}
}

func (d *drawer) tile() {
	x, dims := d.pick(1, 4)
	repeats, out := make([]int64, len(dims)), slices.Clone(dims)
	for i := range dims {
		if repeats[i] = 1; d.chance(0.4) {
			repeats[i] = 2
		}
		out[i] *= repeats[i]
	}
	d.add("Tile", x+" "+d.list64(repeats...), out)
}

func (d *drawer) expand() {
	x, dims := d.pick(1, 3)
	if x == "" || d.opset < 8 {
		return
	}
	to := slices.Clone(dims)
	for i := range to {
		if to[i] == 1 {
			to[i] = d.integer(1, 3)
		}
	}
	if d.chance(0.3) {
		to = slices.Insert(to, 0, d.integer(1, 2))
	}
	d.add("Expand", x+" "+d.list64(to...), to)
}

func (d *drawer) depth() {
	x, dims := d.pick(4, 4)
	if x == "" {
		return
	}
	switch {
	case dims[1]%4 == 0 && d.chance(0.7):
		var attrs []*onnxpb.AttributeProto
		if d.opset >= 11 {
			attrs = append(attrs, text("mode", []string{"DCR", "CRD"}[d.r.IntN(2)]))
		}
		d.add("DepthToSpace", x, []int64{dims[0], dims[1] / 4, dims[2] * 2, dims[3] * 2}, append(attrs, number("blocksize", 2))...)
	case dims[2]%2 == 0 && dims[3]%2 == 0:
		d.add("SpaceToDepth", x, []int64{dims[0], dims[1] * 4, dims[2] / 2, dims[3] / 2}, number("blocksize", 2))
	}
}

func (d *drawer) reduce() {
	x, dims := d.pick(2, 4)
	op := []string{"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"}[d.r.IntN(9)]
	var axes, kept, out []int64
	for i, e := range dims {
		if d.chance(0.4) {
			axes, kept = append(axes, int64(i)), append(kept, 1)
		} else {
			kept, out = append(kept, e), append(out, e)
		}
	}
	keep := int64(d.r.IntN(2))
	if keep == 1 {
		out = kept
	}
	if len(axes) == 0 || len(out) == 0 {
		return
	}
	if d.opset >= 11 && d.chance(0.3) {
		axes[0] -= int64(len(dims))
	}
	from := 18
	if op == "ReduceSum" {
		from = 13
	}
	d.axes(op, x, out, from, axes, number("keepdims", keep))
}

func (d *drawer) nothing() {
	x, dims := d.pick(1, 4)
	switch d.r.IntN(3) {
	case 0:
		d.add("Identity", x, dims)
	case 1:
		d.add("Dropout", x, dims)
	case 2:
		if d.opset >= 9 {
			d.add("Cast", x, dims, number("to", 1))
		}
	}
}

// shapes reshapes by a shape that nodes compute from a value's.
func (d *drawer) shapes() {
	x, dims := d.pick(2, 4)
	d.count++
	n := d.count
	s, g := fmt.Sprint("s", n), fmt.Sprint("g", n)
	zero := fmt.Sprint("w", len(d.m.Graph.Initializer))
	if d.opset >= 13 && d.chance(0.5) {
		d.list64(0)
		d.node(s, "Shape", x)
		d.node(g, "Gather", s+" "+zero, number("axis", 0))
	} else {
		d.constant(zero, nil, 0)
		d.node(s, "Shape", x)
		d.node(g+"a", "Gather", s+" "+zero, number("axis", 0))
		if d.opset >= 13 {
			d.node(g, "Unsqueeze", g+"a "+d.list64(0))
		} else {
			d.node(g, "Unsqueeze", g+"a", list("axes", 0))
		}
	}
	d.node(fmt.Sprint("c", n), "Concat", g+" "+d.list64(-1), number("axis", 0))
	d.add("Reshape", x+" "+fmt.Sprint("c", n), []int64{dims[0], product(dims[1:])})
}
