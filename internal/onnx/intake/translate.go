package intake

import (
	"fmt"
	"slices"

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

// Net translates a model. batch is the first extent of inputs that leave it open. Errors name the file and the node. The device sets up the
// layers; nothing is computed on it.
func Net(m *onnx.Model, batch int, device *layers.Device) (*Result, error) {
	if r := recorded(m, device); r != nil {
		return r, nil
	}
	t := &translator{
		model: m, device: device, opset: opsetOf(m), values: map[string]*value{}, readers: map[string]int{}, layerNames: map[string]bool{},
		types: map[string]elementType{}, hiding: map[string]bool{}, blobs: map[string]bool{}, absorbed: map[string]bool{}, net: &caffepb.NetParameter{Name: m.GetGraph().Name},
	}
	if err := t.graph(batch); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	if t.short {
		t.notes = append(t.notes, "The model computes with floats of 16 bits, the net with floats of 32: values differ by what 16 bits round")
	}
	t.noteNaN()
	t.noteRoundings()
	t.inPlace()
	weights := proto.CloneOf(t.net)
	weights.Layer = slices.DeleteFunc(weights.Layer, func(l *caffepb.LayerParameter) bool { return len(l.Param) > 0 && len(l.Blobs) == 0 }) // they share another's
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
	types      map[string]elementType
	hiding     map[string]bool // operators whose layers give a number for NaN
	short      bool            // a node computes with floats of 16 bits
	readers    map[string]int  // how often a name of the graph is read
	layerNames map[string]bool
	blobs      map[string]bool
	net        *caffepb.NetParameter
	notes      []string
	roundings  int             // values that pass QuantizeLinear and DequantizeLinear
	quantised  int             // layers in INT8
	absorbed   map[string]bool // outputs of products that the pooling before them has taken over
}

// node is the node being translated.
type node struct {
	*translator
	*onnxpb.NodeProto
	made int             // layers added
	read map[string]bool // attributes that have been asked for
}

func (t *translator) graph(batch int) error {
	g := t.model.GetGraph()
	if t.opset < 1 {
		return fmt.Errorf("it names no opset of ONNX's own operators")
	}
	for i, n := range g.GetNode() {
		if reason, refused := refusals[n.GetOpType()]; refused {
			return fmt.Errorf("node %d, %q (%s): it is not translated: %s", i, n.GetName(), n.GetOpType(), reason)
		}
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
		t.values[c.GetName()], t.types[c.GetName()] = &value{constant: v}, elementType(c.GetDataType())
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
	if len(t.net.Layer) == 0 {
		return fmt.Errorf("the graph %q has no inputs and no nodes that become layers", g.GetName())
	}
	for _, out := range g.GetOutput() {
		if err := t.output(out.GetName()); err != nil {
			return fmt.Errorf("output %q: %w", out.GetName(), err)
		}
	}
	return t.outputsRead()
}

// outputsRead gives outputs of the graph that layers read too a blob that nothing reads: only such blobs are outputs of a net of Caffe.
func (t *translator) outputsRead() error {
	for _, out := range t.model.GetGraph().GetOutput() {
		name := out.GetName()
		v := t.values[name]
		if v == nil || v.blob != name || t.reads(name) == 0 || t.isInput(name) {
			continue
		}
		delete(t.blobs, name)
		t.renameBlob(name, unique(name+"_read", t.blobs))
		n := &node{translator: t, NodeProto: &onnxpb.NodeProto{Name: proto.String(name), Output: []string{name}}}
		if err := n.one("Split", &caffepb.LayerParameter{}, []*value{v}); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
	}
	return nil
}

// input adds an Input layer. If all readers are transposes to channels first, the blob has channels first already.
func (t *translator) input(in *onnxpb.ValueInfoProto, batch int) error {
	dims, err := t.extents(in, batch)
	if err != nil {
		return err
	}
	kind := elementType(in.GetType().GetTensorType().GetElemType())
	if !isNumber(kind) {
		return fmt.Errorf("it has type %v, which no net of Caffe holds", kind)
	}
	t.types[in.GetName()] = kind
	v := &value{blob: in.GetName(), shape: dims, whole: isInteger(kind) || kind == truths}
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
	n := &node{translator: t, NodeProto: p, read: map[string]bool{}}
	if p.GetDomain() != "" && p.GetDomain() != "ai.onnx" {
		return fmt.Errorf("it is of domain %q; only ONNX's own operators are known", p.GetDomain())
	}
	if err := n.modern(); err != nil {
		return err
	}
	if len(p.GetOutput()) == 0 {
		return fmt.Errorf("it has no output")
	}
	if done, err := n.foldConstants(); err != nil {
		return err
	} else if done {
		n.setTypes()
		return n.checkAttributes()
	}
	if err := n.checkTypes(); err != nil {
		return err
	}
	if err := n.checkBytes(); err != nil {
		return err
	}
	rule, ok := rules[p.GetOpType()]
	if !ok {
		return fmt.Errorf("no layer of Caffe does what this operator does, or swcaffe does not know it")
	}
	if err := n.endShared(); err != nil {
		return err
	}
	first := len(t.net.Layer)
	if err := rule(n); err != nil {
		return err
	}
	if err := n.checkAttributes(); err != nil {
		return err
	}
	n.setTypes()
	if err := n.quantise(first); err != nil {
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

// output makes sure that a blob has the name of a graph output.
func (t *translator) output(name string) error {
	v := t.values[name]
	n := &node{translator: t, NodeProto: &onnxpb.NodeProto{Name: proto.String(name), Output: []string{name}}}
	if v == nil {
		return fmt.Errorf("no node computes it")
	}
	if v.rounded != nil && v.rounded.bytes {
		return fmt.Errorf("it is the bytes of QuantizeLinear, which no blob holds")
	}
	if v.constant != nil {
		_, err := n.held(v.constant, name)
		return err
	}
	waiting := v.blob
	v, err := n.settle(v)
	if err != nil {
		return err
	}
	if v.blob != waiting && waiting == name && !t.isInput(name) { // the layers of settle have made the output of a blob with its name
		t.renameBlob(name, unique(name+"_before", t.blobs))
		delete(t.blobs, name)
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
	return n.one("Split", &caffepb.LayerParameter{}, []*value{v})
}
