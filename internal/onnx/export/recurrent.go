package export

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// cell is the step of a recurrent layer, as the body of a Scan. Its names begin with the layer's.
type cell struct {
	*layer
	body *onnxpb.GraphProto
	d    int
}

// node appends a node to the body.
func (c *cell) node(op string, in []string, attrs ...attr) string {
	return c.nodes(op, 1, in, attrs...)[0]
}

func (c *cell) nodes(op string, outputs int, in []string, attrs ...attr) []string {
	outer := c.layer.graph
	c.layer.graph = c.body
	defer func() { c.layer.graph = outer }()
	return c.layer.nodes(op, outputs, in, attrs...)
}

// io declares an input or output of the body: streams x width.
func (c *cell) io(list *[]*onnxpb.ValueInfoProto, name string, width int) string {
	shape := &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{
		{}, {Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(width)}},
	}}
	*list = append(*list, tensorInfo(name, shape))
	return name
}

// unit writes an LSTM's step: the states from the gates' inputs a (streams x 4 gates, in the order i, f, o, g) and the masked cell state.
func unit(node func(op string, in []string, attrs ...attr) string, gates []string, c string) (h, next string) {
	i, f, o := node("Sigmoid", gates[:1]), node("Sigmoid", gates[1:2]), node("Sigmoid", gates[2:3])
	g := node("Tanh", gates[3:])
	next = node("Add", []string{node("Mul", []string{f, c}), node("Mul", []string{i, g})})
	return node("Mul", []string{o, node("Tanh", []string{next})}), next
}

// sequence is a recurrent layer: x (steps x streams x features), cont (steps x streams), and its weights. Weights have Caffe's layout.
type sequence struct {
	x, cont   string // cont "": the sequence begins at the first step
	streams   dim
	wx, b, wh string
	gates, d  int
	states    []string // initial states, streams x d
	fixed     string   // the product with the static input, "" if there is none
	steps     dim
}

// scan writes the product with all inputs, and the steps as a Scan. It returns the final states and all hidden states.
func (l *layer) scan(s sequence) []string {
	rows := []dim{{n: s.steps.n * s.streams.n, dynamic: s.steps.dynamic || s.streams.dynamic}, {n: s.gates * s.d}}
	a := l.reshape(l.gemm(l.node("Flatten", []string{s.x}, attr{"axis", 2}), s.wx, s.b, true), rows, []dim{s.steps, s.streams, rows[1]})
	if s.fixed != "" {
		a = l.node("Add", []string{a, s.fixed})
	}
	c := &cell{layer: l, body: &onnxpb.GraphProto{Name: proto.String(l.name + "/step")}, d: s.d}
	in := make([]string, 0, len(s.states)+2)
	for k := range s.states {
		in = append(in, c.io(&c.body.Input, l.unique(fmt.Sprintf("%s/state%d", l.name, k)), s.d))
	}
	at := c.io(&c.body.Input, l.unique(l.name+"/a_t"), s.gates*s.d)
	inputs, scanned := append(append([]string(nil), s.states...), a), 1
	if s.cont != "" {
		cont := c.io(&c.body.Input, l.unique(l.name+"/cont_t"), 1)
		for k := range in {
			in[k] = c.node("Mul", []string{in[k], cont})
		}
		inputs, scanned = append(inputs, s.cont), 2
	}
	g := c.node("Add", []string{at, c.node("Gemm", []string{in[0], s.wh}, attr{"transB", 1})})
	var next []string
	if s.gates == 1 {
		next = []string{c.node("Tanh", []string{g})}
	} else {
		split := l.ints("gates", s.d, s.d, s.d, s.d)
		h, cellState := unit(c.node, c.nodes("Split", 4, []string{g, split}, attr{"axis", 1}), in[1])
		next = []string{h, cellState}
	}
	for _, v := range append(next, c.node("Identity", next[:1])) {
		c.io(&c.body.Output, v, s.d)
	}
	return l.nodes("Scan", len(next)+1, inputs, attr{"body", c.body}, attr{"num_scan_inputs", scanned})
}

// initial returns the states before the first step: given ones, graph inputs, or zeros.
func (l *layer) initial(given, names []string, streams dim, d int) (states []string) {
	for k, name := range names {
		switch {
		case given != nil:
			states = append(states, l.reshape(given[k], known(1, streams.n, d), known(streams.n, d)))
		case l.carries():
			v := l.unique(l.name + "_" + name)
			l.graph.Input = append(l.graph.Input, stateInfo(v, streams, d))
			states = append(states, v)
		default:
			states = append(states, l.array(name, make([]float32, streams.n*d), streams.n, d))
		}
	}
	return states
}

// carries reports whether the states that the layer keeps between runs become inputs and outputs. Lstm without cont keeps none.
func (l *layer) carries() bool { return l.opt.States && len(l.in) > 1 }

func stateInfo(name string, streams dim, d int) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, n := range []int{streams.n, d} {
		shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(n)}})
	}
	return tensorInfo(name, shape)
}

// final makes outputs of the states after the last step.
func (l *layer) final(states, names []string, streams dim, d int) {
	if !l.carries() {
		return
	}
	for k, name := range names {
		v := l.unique(l.name + "_" + name + "_next")
		l.rename(states[k], v)
		l.graph.Output = append(l.graph.Output, stateInfo(v, streams, d))
	}
}

var (
	lstmStates = []string{"h", "c"}
	rnnStates  = []string{"h"}
)

// recur reads the bottoms of Caffe's LSTM and RNN layers and writes their steps.
func (l *layer) recur(gates int, names []string) []string {
	p := l.p.GetRecurrentParam()
	d, ds := int(p.GetNumOutput()), l.dims(l.bottom[0])
	bottoms := len(l.bottom)
	var given []string
	if p.GetExposeHidden() {
		bottoms -= len(names)
		given = l.in[bottoms:]
	}
	s := sequence{x: l.in[0], steps: ds[0], streams: ds[1], wx: l.weight(0), b: l.weight(1), gates: gates, d: d}
	s.cont = l.reshape(l.in[1], ds[:2], []dim{ds[0], ds[1], {n: 1}})
	next := 2
	if bottoms == 3 {
		s.fixed = l.gemm(l.rows(l.in[2], l.bottom[2].NumAxes(), 1), l.weight(2), "", true)
		next = 3
	}
	s.wh = l.weight(next)
	s.states = l.initial(given, names, ds[1], d)
	out := l.scan(s)
	if p.GetExposeHidden() {
		for k := range names {
			l.set(1+k, l.reshape(out[k], known(ds[1].n, d), known(1, ds[1].n, d)))
		}
	} else {
		l.final(out, names, ds[1], d)
	}
	return out
}

func lstm(l *layer) error {
	l.set(0, l.recur(4, lstmStates)[2])
	return nil
}

// rnn adds the output layer, o = tanh(W_ho h + b_o), for all steps at once.
func rnn(l *layer) error {
	h := l.recur(1, rnnStates)[1]
	w, top := len(l.weights)-2, l.dims(l.top[0])
	o := l.gemm(l.node("Flatten", []string{h}, attr{"axis", 2}), l.weight(w), l.weight(w+1), true)
	l.set(0, l.reshape(l.node("Tanh", []string{o}), []dim{product(top[:2]), top[2]}, top))
	return nil
}

// packedLSTM is SWCaffe's Lstm: rows of steps and streams on one axis, weights W_x, W_h and b. Without a second bottom it starts from zeros.
func packedLSTM(l *layer) error {
	p, ds := l.p.GetLstmParam(), l.dims(l.bottom[0])
	d, streams := int(p.GetNumOutput()), int(p.GetBatchSize())
	steps, values := ds[0].n/streams, ds[1:]
	if p.BatchSize == nil && len(ds) == 3 {
		steps, streams, values = ds[0].n, ds[1].n, ds[2:]
	}
	x := l.reshape(l.in[0], ds, append(known(steps, streams), product(values)))
	s := sequence{x: x, steps: dim{n: steps}, streams: dim{n: streams}, wx: l.weight(0), wh: l.weight(1), b: l.weight(2), gates: 4, d: d}
	if len(l.in) > 1 {
		s.cont = l.reshape(l.in[1], l.dims(l.bottom[1]), known(steps, streams, 1))
	}
	s.states = l.initial(nil, lstmStates, s.streams, d)
	out := l.scan(s)
	l.final(out, lstmStates, s.streams, d)
	l.set(0, l.reshape(out[2], known(steps, streams, d), l.dims(l.top[0])))
	return nil
}

// lstmUnit is one step on its own: the cell state, the gates' inputs and cont, with a leading axis of extent 1.
func lstmUnit(l *layer) error {
	ds := l.dims(l.bottom[0])
	cont := l.reshape(l.in[2], l.dims(l.bottom[2]), []dim{ds[0], ds[1], {n: 1}})
	d := ds[2].n
	gates := l.nodes("Split", 4, []string{l.in[1], l.ints("gates", d, d, d, d)}, attr{"axis", 2})
	h, c := unit(l.node, gates, l.node("Mul", []string{l.in[0], cont}))
	l.set(0, c)
	l.set(1, h)
	return nil
}
