package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// sequence is what LSTM, GRU and RNN nodes have in common: x is T x N x values, and each direction has weights for x (gates*H x values), for the
// state (gates*H x H) and two biases of gates*H.
type sequence struct {
	x                       *value
	steps, streams, hidden  int
	directions              []string
	w, r, b                 *onnx.Tensor
	states                  [2]*value // initial h and c: directions x N x H. nil: zeros
	activations             []string
	gates, activationsByDir int
}

// pass computes one direction and returns all states h, T x N x H, and the final ones, 1 x N x H.
type pass func(c chain, s *sequence, x *value, d int) (all *value, last []*value)

// recurrence makes a rule for an operator whose default activations are given. states is the number of its states.
func recurrence(gates, states int, activations []string, run pass) rule {
	return composed(func(c chain) *value {
		s := c.sequence(gates, states, activations)
		all := make([]*value, len(s.directions))
		last := make([][]*value, states)
		for d, direction := range s.directions {
			x := s.x
			if direction == "reverse" {
				x = c.reversed(x, 0)
			}
			y, final := run(c, s, x, d)
			if direction == "reverse" {
				y = c.reversed(y, 0)
			}
			all[d] = c.shaped(y, s.steps, 1, s.streams, s.hidden)
			for k := range last {
				last[k] = append(last[k], final[k])
			}
		}
		batchFirst := c.int("layout", 0) != 0
		c.deliver(0, func() *value {
			y := c.concatenated(1, all...)
			if batchFirst {
				y = c.permuted(y, 2, 0, 1, 3)
			}
			return y
		}, all)
		for k := range last {
			c.deliver(1+k, func() *value {
				h := c.concatenated(0, last[k]...)
				if batchFirst {
					h = c.permuted(h, 1, 0, 2)
				}
				return h
			}, last[k])
		}
		return nil
	})
}

// deliver sets output k if the node has it; otherwise nothing reads its parts, unless another output does.
func (c chain) deliver(k int, value func() *value, parts []*value) {
	if k < len(c.GetOutput()) && c.GetOutput()[k] != "" {
		c.set(k, value())
		return
	}
	for _, v := range parts {
		if c.reads(v.blob) == 0 {
			c.silence(v)
		}
	}
}

// sequence reads the inputs and attributes, and refuses what no layer says.
func (c chain) sequence(gates, states int, activations []string) *sequence {
	s := &sequence{x: must(c.plain(0)), w: must(c.weight(1)), r: must(c.weight(2)), b: must(c.optional(3)), gates: gates}
	s.hidden = c.int("hidden_size", 0)
	if c.int("layout", 0) != 0 && len(s.x.shape) == 3 {
		s.x = c.permuted(s.x, 1, 0, 2)
	}
	switch direction := c.text("direction", "forward"); direction {
	case "forward", "reverse":
		s.directions = []string{direction}
	case "bidirectional":
		s.directions = []string{"forward", "reverse"}
	default:
		c.refuse("direction %q is unknown", direction)
	}
	d, rows := len(s.directions), gates*s.hidden
	if len(s.x.shape) != 3 || rows < 1 || !slices.Equal(s.w.Dims, []int{d, rows, s.x.shape[2]}) || !slices.Equal(s.r.Dims, []int{d, rows, s.hidden}) ||
		s.b != nil && !slices.Equal(s.b.Dims, []int{d, 2 * rows}) || s.w.Floats == nil || s.r.Floats == nil {
		c.refuse("x of shape %v, W of %v and R of %v for %d directions and hidden_size %d", s.x.shape, s.w.Dims, s.r.Dims, d, s.hidden)
	}
	s.steps, s.streams = s.x.shape[0], s.x.shape[1]
	if s.b == nil {
		s.b = floats(make([]float32, 2*d*rows), d, 2*rows)
	}
	for k := range states {
		if at := 5 + k; at < len(c.GetInput()) && c.GetInput()[at] != "" {
			s.states[k] = must(c.plain(at))
			if c.int("layout", 0) != 0 {
				s.states[k] = c.permuted(s.states[k], 1, 0, 2)
			}
		}
	}
	c.checkSequence(s, activations)
	return s
}

// checkSequence refuses other activations than Caffe's layers have, clipping, and sequences that end early.
func (c chain) checkSequence(s *sequence, activations []string) {
	s.activations = slices.Repeat(activations, len(s.directions))
	if a := c.attr("activations"); a != nil && len(a.GetStrings()) > 0 {
		s.activations = nil
		for _, name := range a.GetStrings() {
			s.activations = append(s.activations, string(name))
		}
	}
	if s.activationsByDir = len(activations); len(s.activations) != len(activations)*len(s.directions) {
		c.refuse("activations %q for %d directions", s.activations, len(s.directions))
	}
	if c.attr("clip") != nil || c.attr("activation_alpha") != nil || c.attr("activation_beta") != nil {
		c.refuse("clip, activation_alpha and activation_beta have no form in Caffe's layers")
	}
	lengths := must(c.optional(4))
	if lengths != nil && slices.ContainsFunc(lengths.Ints, func(n int64) bool { return int(n) != s.steps }) {
		c.refuse("sequence_lens %v of %d steps; Caffe's nets run all steps", lengths.Ints, s.steps)
	}
}

// rows returns rows of a direction's weights, gate after gate in an order.
func (s *sequence) rows(t *onnx.Tensor, d int, order ...int) *onnx.Tensor {
	width := t.Dims[2]
	size := s.hidden * width
	out := floats(nil, len(order)*s.hidden, width)
	for _, gate := range order {
		at := (d*s.gates + gate) * size
		out.Floats = append(out.Floats, t.Floats[at:at+size]...)
	}
	return out
}

// biases returns the bias for x, or for the state, gate after gate.
func (s *sequence) biases(d int, ofState bool, order ...int) *onnx.Tensor {
	out := floats(nil, len(order)*s.hidden)
	for _, gate := range order {
		at := (2*d*s.gates + gate) * s.hidden
		if ofState {
			at += s.gates * s.hidden
		}
		out.Floats = append(out.Floats, s.b.Floats[at:at+s.hidden]...)
	}
	return out
}

func sum2(a, b *onnx.Tensor) *onnx.Tensor {
	out := floats(slices.Clone(a.Floats), a.Dims...)
	for i, v := range b.Floats {
		out.Floats[i] += v
	}
	return out
}

// initial is state k before the first step, 1 x N x H.
func (c chain) initial(s *sequence, k, d int) *value {
	if s.states[k] == nil {
		return must(c.held(floats(make([]float32, s.streams*s.hidden), 1, s.streams, s.hidden), c.GetOutput()[0]+"_initial"))
	}
	if !slices.Equal(s.states[k].shape, []int{len(s.directions), s.streams, s.hidden}) {
		c.refuse("an initial state of shape %v", s.states[k].shape)
	}
	if len(s.directions) == 1 {
		return s.states[k]
	}
	return c.between(s.states[k], 0, d, d+1)
}

// lstmPass is Caffe's LSTM layer with its states as bottoms and tops. Gates come as input, output, forget, cell; Caffe's as input, forget,
// output, cell. cont is 1 everywhere: all steps continue.
func lstmPass(c chain, s *sequence, x *value, d int) (*value, []*value) {
	if c.int("input_forget", 0) != 0 {
		c.refuse("input_forget has no form in Caffe's LSTM")
	}
	if p := must(c.optional(7)); p != nil && slices.ContainsFunc(p.Floats, func(v float32) bool { return v != 0 }) {
		c.refuse("Caffe's LSTM has no peepholes")
	}
	if !slices.Equal(s.activations[3*d:3*d+3], []string{"Sigmoid", "Tanh", "Tanh"}) {
		c.refuse("activations %q; Caffe's LSTM has Sigmoid, Tanh and Tanh", s.activations)
	}
	cont := must(c.held(floats(slices.Repeat([]float32{1}, s.steps*s.streams), s.steps, s.streams), c.GetOutput()[0]+"_cont"))
	order := []int{0, 2, 1, 3}
	p := &caffepb.RecurrentParameter{NumOutput: proto.Uint32(uint32(s.hidden)), ExposeHidden: proto.Bool(true)}
	tops := c.layers(3, "LSTM", &caffepb.LayerParameter{RecurrentParam: p}, []*value{x, cont, c.initial(s, 0, d), c.initial(s, 1, d)},
		s.rows(s.w, d, order...), sum2(s.biases(d, false, order...), s.biases(d, true, order...)), s.rows(s.r, d, order...))
	return tops[0], tops[1:]
}

// maxSteps bounds the layers of an unrolled sequence.
const maxSteps = 1024

// unrolled runs the steps one after the other. inputs are T x N x H each, cut into steps. next computes a state.
func (c chain) unrolled(s *sequence, d int, inputs []*value, next func(in []*value, h *value) *value) (*value, []*value) {
	if s.steps > maxSteps {
		c.refuse("%d steps; each becomes layers of its own, of which at most %d are made", s.steps, maxSteps)
	}
	var cut [][]*value
	for _, in := range inputs {
		cut = append(cut, c.each(in, 0))
	}
	h := c.initial(s, 0, d)
	states := make([]*value, s.steps)
	for t := range states {
		in := make([]*value, len(cut))
		for k := range cut {
			in[k] = cut[k][t]
		}
		h = next(in, h)
		states[t] = h
	}
	return c.concatenated(0, states...), []*value{h}
}

// weights is an InnerProduct over the last of three axes whose weights the layers of all steps share.
type weights struct {
	name string
	w, b *onnx.Tensor
	used bool
}

func (c chain) times(v *value, m *weights) *value {
	p := &caffepb.LayerParameter{InnerProductParam: &caffepb.InnerProductParameter{NumOutput: proto.Uint32(uint32(m.w.Dims[0])), Axis: proto.Int32(2)}}
	for k := range 2 {
		p.Param = append(p.Param, &caffepb.ParamSpec{Name: proto.String(fmt.Sprintf("%s[%d]", m.name, k))})
	}
	y := c.layers(1, "InnerProduct", p, []*value{v}, m.w, m.b)[0]
	if m.used { // the first layer owns them
		p.Blobs = nil
	}
	m.used = true
	return y
}

// activated applies an activation by its name.
func (c chain) activated(v *value, name string) *value {
	kind, ok := map[string]string{"Sigmoid": "Sigmoid", "Tanh": "TanH", "Relu": "ReLU"}[name]
	if !ok {
		c.refuse("activation %q; Sigmoid, Tanh and Relu are translated", name)
	}
	return c.layer(kind, &caffepb.LayerParameter{}, v)
}

// rnnPass is h = f(W x + R h + b).
func rnnPass(c chain, s *sequence, x *value, d int) (*value, []*value) {
	name := fmt.Sprintf("%s/%d", c.GetOutput()[0], d)
	first := &weights{name: name + "/W", w: s.rows(s.w, d, 0), b: s.biases(d, false, 0)}
	state := &weights{name: name + "/R", w: s.rows(s.r, d, 0), b: s.biases(d, true, 0)}
	return c.unrolled(s, d, []*value{c.times(x, first)}, func(in []*value, h *value) *value {
		return c.activated(c.total(nil, in[0], c.times(h, state)), s.activations[d])
	})
}

// gruPass has the gates update, reset and hidden. With linear_before_reset the reset gate comes behind the product with the state.
func gruPass(c chain, s *sequence, x *value, d int) (*value, []*value) {
	name, after := fmt.Sprintf("%s/%d", c.GetOutput()[0], d), c.int("linear_before_reset", 0) != 0
	f, g := s.activations[2*d], s.activations[2*d+1]
	var inputs []*value
	for gate := range 3 {
		w := &weights{name: fmt.Sprintf("%s/W%d", name, gate), w: s.rows(s.w, d, gate), b: s.biases(d, false, gate)}
		inputs = append(inputs, c.times(x, w))
	}
	var state [3]*weights
	for gate := range state {
		state[gate] = &weights{name: fmt.Sprintf("%s/R%d", name, gate), w: s.rows(s.r, d, gate), b: s.biases(d, true, gate)}
	}
	return c.unrolled(s, d, inputs, func(in []*value, h *value) *value {
		update := c.activated(c.total(nil, in[0], c.times(h, state[0])), f)
		reset := c.activated(c.total(nil, in[1], c.times(h, state[1])), f)
		var past *value
		if after {
			past = c.product(reset, c.times(h, state[2]))
		} else {
			past = c.times(c.product(reset, h), state[2])
		}
		fresh := c.activated(c.total(nil, in[2], past), g)
		return c.total(nil, fresh, c.product(update, c.total([]float32{1, -1}, h, fresh)))
	})
}
