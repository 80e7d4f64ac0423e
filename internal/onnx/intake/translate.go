package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Result is a net: its prototxt, its weights, and remarks for the user.
type Result struct {
	Net, Weights *caffepb.NetParameter
	Notes        []string
}

// Net translates a model. batch replaces extents of inputs that are not known. Errors name the file and the node. The device sets up the
// layers; nothing is computed on it.
func Net(m *onnx.Model, batch int, device *layers.Device) (*Result, error) {
	if r := recorded(m, device); r != nil {
		return r, nil
	}
	t := &translator{
		model: m, device: device, opset: opsetOf(m), values: map[string]*value{}, readers: map[string]int{}, layerNames: map[string]bool{},
		blobs: map[string]bool{}, absorbed: map[string]bool{}, net: &caffepb.NetParameter{Name: m.GetGraph().Name},
	}
	if err := t.graph(batch); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	t.inPlace()
	weights := proto.CloneOf(t.net)
	for _, l := range t.net.Layer {
		l.Blobs = nil
	}
	return &Result{Net: t.net, Weights: weights, Notes: t.notes}, nil
}

type translator struct {
	model      *onnx.Model
	device     *layers.Device
	opset      int
	values     map[string]*value
	readers    map[string]int // how often a name of the graph is read
	layerNames map[string]bool
	blobs      map[string]bool
	net        *caffepb.NetParameter
	notes      []string
	absorbed   map[string]bool // outputs of products that the pooling before them has taken over
}

// node is the node being translated.
type node struct {
	*translator
	*onnxpb.NodeProto
	made int // layers added
}

func (t *translator) graph(batch int) error {
	g := t.model.GetGraph()
	if t.opset < 7 {
		return fmt.Errorf("opset %d: models from 7 on are read", t.opset)
	}
	for _, n := range g.GetNode() {
		for _, in := range n.GetInput() {
			t.readers[in]++
		}
	}
	for _, out := range g.GetOutput() {
		t.readers[out.GetName()]++
	}
	for _, c := range g.GetInitializer() {
		v, err := onnx.Decode(c)
		if err != nil {
			return err
		}
		t.values[c.GetName()] = &value{constant: v}
	}
	for _, in := range g.GetInput() {
		if t.values[in.GetName()] != nil {
			continue
		}
		if err := t.input(in, batch); err != nil {
			return fmt.Errorf("input %q: %w", in.GetName(), err)
		}
	}
	for i, n := range g.GetNode() {
		if err := t.node(n); err != nil {
			return fmt.Errorf("node %d, %q (%s): %w", i, n.GetName(), n.GetOpType(), err)
		}
	}
	for _, out := range g.GetOutput() {
		if err := t.output(out.GetName()); err != nil {
			return fmt.Errorf("output %q: %w", out.GetName(), err)
		}
	}
	return nil
}

// input adds an Input layer. If all readers are transposes to channels first, the blob has channels first already.
func (t *translator) input(in *onnxpb.ValueInfoProto, batch int) error {
	kind := in.GetType().GetTensorType()
	if kind.GetShape() == nil {
		return fmt.Errorf("its shape is not known")
	}
	var dims []int
	for i, d := range kind.GetShape().GetDim() {
		n := d.GetDimValue()
		if n == 0 {
			if i > 0 && d.GetDimParam() == "" {
				t.notes = append(t.notes, fmt.Sprintf("Extent %d of input %q is unknown; it becomes %d", i, in.GetName(), batch))
			}
			n = int64(batch)
		}
		if n < 1 || n > blob.MaxCount {
			return fmt.Errorf("extent %d is %d", i, n)
		}
		dims = append(dims, int(n))
	}
	v := &value{blob: in.GetName(), shape: dims}
	if t.readAsChannelsFirst(in.GetName()) && len(dims) == 4 {
		v.shape, v.perm = []int{dims[0], dims[3], dims[1], dims[2]}, []int{0, 2, 3, 1}
		t.notes = append(t.notes, fmt.Sprintf("Input %q has channels last in the model; the net takes them first: %v", in.GetName(), v.shape))
	}
	shape := &caffepb.BlobShape{}
	for _, d := range v.shape {
		shape.Dim = append(shape.Dim, int64(d))
	}
	t.blobs[v.blob] = true
	t.layerNames[v.blob] = true
	t.net.Layer = append(t.net.Layer, &caffepb.LayerParameter{
		Name: proto.String(v.blob), Type: proto.String("Input"), Top: []string{v.blob}, InputParam: &caffepb.InputParameter{Shape: []*caffepb.BlobShape{shape}},
	})
	t.values[in.GetName()] = v
	return nil
}

func (t *translator) readAsChannelsFirst(name string) bool {
	reads := 0
	for _, n := range t.model.GetGraph().GetNode() {
		if slices.Contains(n.GetInput(), name) {
			reads++
			a := (&node{NodeProto: n}).ints("perm", nil)
			if n.GetOpType() != "Transpose" || !slices.Equal(a, []int{0, 3, 1, 2}) {
				return false
			}
		}
	}
	return reads > 0
}

func (t *translator) node(p *onnxpb.NodeProto) error {
	n := &node{translator: t, NodeProto: p}
	if p.GetDomain() != "" && p.GetDomain() != "ai.onnx" {
		return fmt.Errorf("it is of domain %q; only ONNX's own operators are known", p.GetDomain())
	}
	if done, err := n.foldConstants(); done || err != nil {
		return err
	}
	rule, ok := rules[p.GetOpType()]
	if !ok {
		return fmt.Errorf("no layer of Caffe does what this operator does, or swcaffe does not know it")
	}
	if len(p.GetOutput()) == 0 {
		return fmt.Errorf("it has no output")
	}
	first := len(t.net.Layer)
	if err := rule(n); err != nil {
		return err
	}
	n.nameLast(first)
	for k, out := range p.GetOutput() {
		if out != "" && t.values[out] == nil && t.readers[out] > 0 {
			return fmt.Errorf("output %d (%q) is read, and Caffe's layer does not compute it", k, out)
		}
	}
	return nil
}

// nameLast gives the blob of the node's first output the output's name, if several layers compute it.
func (n *node) nameLast(first int) {
	out := n.GetOutput()[0]
	v := n.values[out]
	if v == nil || v.blob == out {
		return
	}
	made := func(blob string) bool {
		return slices.ContainsFunc(n.net.Layer[first:], func(l *caffepb.LayerParameter) bool { return slices.Contains(l.GetTop(), blob) })
	}
	if !made(v.blob) || n.blobs[out] && !made(out) {
		return
	}
	if n.blobs[out] {
		n.renameBlob(out, unique(out+"@"+n.GetName(), n.blobs))
	}
	n.renameBlob(v.blob, out)
}

// output makes sure that a blob has the name of a graph output.
func (t *translator) output(name string) error {
	v := t.values[name]
	if v == nil || v.constant != nil {
		return fmt.Errorf("it does not depend on an input")
	}
	n := &node{translator: t, NodeProto: &onnxpb.NodeProto{Name: proto.String(name), Output: []string{name}}}
	v, err := n.settle(v)
	if err != nil {
		return err
	}
	if v.blob == name {
		return nil
	}
	if t.blobs[name] {
		t.notes = append(t.notes, fmt.Sprintf("Output %q is blob %q", name, v.blob))
		return nil
	}
	if !t.fixedName(v.blob) {
		t.rename(v.blob, name)
		return nil
	}
	_, err = n.add("Split", &caffepb.LayerParameter{}, []*value{v}, nil, name)
	return err
}

// fixedName reports whether a blob is an input or an output of the graph.
func (t *translator) fixedName(blob string) bool {
	for _, out := range t.model.GetGraph().GetOutput() {
		if out.GetName() == blob {
			return true
		}
	}
	return slices.ContainsFunc(t.net.Layer, func(l *caffepb.LayerParameter) bool {
		return l.GetType() == "Input" && slices.Contains(l.GetTop(), blob)
	})
}

// rename changes a blob's name, unless it is an input or output.
func (t *translator) rename(from, to string) {
	if !t.fixedName(from) {
		t.renameBlob(from, to)
	}
}

func (t *translator) renameBlob(from, to string) {
	for _, l := range t.net.Layer {
		for _, list := range [][]string{l.Bottom, l.Top} {
			for i := range list {
				if list[i] == from {
					list[i] = to
				}
			}
		}
	}
	for _, v := range t.values {
		if v.blob == from {
			v.blob = to
		}
	}
	t.blobs[to] = true
}

// unique returns a name that no layer, or no blob, has.
func unique(name string, taken map[string]bool) string {
	for base, k := name, 2; taken[name]; k++ {
		name = fmt.Sprintf("%s_%d", base, k)
	}
	taken[name] = true
	return name
}

// add appends a layer of a type and returns its tops, the first of them named after output k of the node. It sets the layer up for the shapes of
// the bottoms, and holds the weights against its own.
func (n *node) add(kind string, p *caffepb.LayerParameter, bottoms []*value, weights []*onnx.Tensor, tops ...string) ([]*value, error) {
	name := n.GetName()
	if name == "" {
		name = n.GetOutput()[0]
	}
	if n.made > 0 {
		name += "_" + strings.ToLower(kind)
	}
	n.made++
	p.Name, p.Type, p.Phase = proto.String(unique(name, n.layerNames)), proto.String(kind), nil
	var in, out []*blob.Blob
	for _, b := range bottoms {
		p.Bottom = append(p.Bottom, b.blob)
		in = append(in, blob.New(b.shape...))
	}
	for _, top := range tops {
		p.Top = append(p.Top, unique(top, n.blobs))
		out = append(out, &blob.Blob{})
	}
	if err := n.setUp(p, in, out, weights); err != nil {
		return nil, fmt.Errorf("as layer %q of type %s: %w", p.GetName(), kind, err)
	}
	n.net.Layer = append(n.net.Layer, p)
	var values []*value
	for k, b := range out {
		values = append(values, &value{blob: p.Top[k], shape: slices.Clone(b.Shape())})
	}
	return values, nil
}

// setUp builds a layer, which checks its parameters and shapes its tops, and gives the parameter its weights.
func (n *node) setUp(p *caffepb.LayerParameter, in, out []*blob.Blob, weights []*onnx.Tensor) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r) // too much memory
		}
	}()
	kind, err := layers.Find(p.GetType())
	if err != nil {
		return err
	}
	if err := kind.CheckBlobs(len(in), len(out)); err != nil {
		return err
	}
	test := proto.CloneOf(p)
	test.Phase = caffepb.Phase_TEST.Enum()
	l := kind.New(test, n.device)
	if err := l.SetUp(in, out); err != nil {
		return err
	}
	if err := l.Reshape(in, out); err != nil {
		return err
	}
	if len(l.Params()) != len(weights) {
		return fmt.Errorf("it has %d weights, the node gives %d", len(l.Params()), len(weights))
	}
	for k, w := range l.Params() {
		if len(weights[k].Floats) != w.Count() {
			return fmt.Errorf("weight %d has %d values, the node gives %d", k, w.Count(), len(weights[k].Floats))
		}
		shape := &caffepb.BlobShape{}
		for _, d := range w.Shape() {
			shape.Dim = append(shape.Dim, int64(d))
		}
		p.Blobs = append(p.Blobs, &caffepb.BlobProto{Shape: shape, Data: weights[k].Floats})
	}
	return nil
}

// set makes v the value of output k.
func (n *node) set(k int, v *value) {
	if k < len(n.GetOutput()) && n.GetOutput()[k] != "" {
		n.values[n.GetOutput()[k]] = v
	}
}

// one adds a layer with one top, the node's first output.
func (n *node) one(kind string, p *caffepb.LayerParameter, bottoms []*value, weights ...*onnx.Tensor) error {
	tops, err := n.add(kind, p, bottoms, weights, n.GetOutput()[0])
	if err != nil {
		return err
	}
	n.set(0, tops[0])
	return nil
}

// reshape adds a Reshape layer. Where the first extent stays, it is copied, so that the batch size may change.
func (n *node) reshape(v *value, to []int) (*value, error) {
	if v.perm == nil && v.flat == 0 && slices.Equal(v.shape, to) {
		return v, nil
	}
	shape := &caffepb.BlobShape{}
	for i, d := range to {
		if i == 0 && len(v.shape) > 0 && v.shape[0] == d {
			d = 0
		}
		shape.Dim = append(shape.Dim, int64(d))
	}
	p := &caffepb.LayerParameter{ReshapeParam: &caffepb.ReshapeParameter{Shape: shape}}
	tops, err := n.add("Reshape", p, []*value{{blob: v.blob, shape: v.shape}}, nil, v.blob+"_reshaped")
	if err != nil {
		return nil, err
	}
	tops[0].positive = v.positive
	return tops[0], nil
}

// inPlace undoes the names that package export gives to values that a layer overwrites: a blob BLOB@LAYER that layer LAYER writes, and that only
// a layer which can run in place reads, becomes BLOB.
func (t *translator) inPlace() {
	for i := len(t.net.Layer) - 1; i >= 0; i-- {
		l := t.net.Layer[i]
		if len(l.GetBottom()) != 1 || len(l.GetTop()) != 1 {
			continue
		}
		from, to := l.GetBottom()[0], l.GetTop()[0]
		kind, err := layers.Find(l.GetType())
		base, _, marked := strings.Cut(from, "@")
		target, _, _ := strings.Cut(to, "@")
		if err != nil || !kind.InPlace || !marked || base != target || t.reads(from) != 1 {
			continue
		}
		t.rename(from, to)
	}
}

func (t *translator) reads(blob string) (n int) {
	for _, l := range t.net.Layer {
		for _, b := range l.GetBottom() {
			if b == blob {
				n++
			}
		}
	}
	return n
}
