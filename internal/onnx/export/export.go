package export

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// MinOpset and MaxOpset bound Options.Opset. From 13 on Softmax has its present meaning.
const (
	MinOpset = 13
	MaxOpset = 22
)

// MetadataKey names the property of a model that holds the net's prototxt.
const MetadataKey = "swcaffe.net"

// Options say how a net is written.
type Options struct {
	Opset   int                   // MinOpset to MaxOpset
	Fold    bool                  // multiply BatchNorm and Scale layers into the weights before them
	States  bool                  // make the states that recurrent layers keep between runs inputs and outputs
	Static  bool                  // keep the net's batch size, instead of leaving it open where every layer allows it
	Batch   int                   // give the net this batch size, and keep it; 0: the net's own
	Net     *caffepb.NetParameter // the net as its author wrote it, for the model's metadata; nil: none
	Version string                // of the program, for the model

	SignedWeights bool // weights of layers in INT8 are int8, as some compilers want them, not uint8

	Pos func(layer string) string // the file and line of a layer; nil: unknown
}

// Result is a model, why its batch size is fixed ("" if it is not), and what a program reads wrong without a word.
type Result struct {
	Model   *onnxpb.ModelProto
	Fixed   string
	Misread []string
}

// Net returns the model of a net that was built for phase TEST with its weights. Errors name the layer, and with Options.Pos its file and line.
// Net changes the shapes of the net's blobs and restores them. The model refers to the net's weights until it is written.
func Net(n *swnet.Net, opt Options) (*Result, error) {
	if opt.Opset < MinOpset || opt.Opset > MaxOpset {
		return nil, fmt.Errorf("opset %d: it must be from %d to %d", opt.Opset, MinOpset, MaxOpset)
	}
	fixed := "its size is asked for"
	switch {
	case opt.Batch > 0:
		restore, err := fixBatch(n, &opt)
		if err != nil {
			return nil, err
		}
		defer restore()
	case !opt.Static:
		_, e, reason, err := openBatch(n, &opt)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			return &Result{Model: e.model(), Misread: e.misread}, nil
		}
		fixed = reason
	}
	regions, err := openRegions(n)
	if err != nil {
		return nil, err
	}
	e, err := run(n, &opt, regions)
	if err != nil {
		return nil, err
	}
	return &Result{Model: e.model(), Fixed: fixed, Misread: e.misread}, nil
}

// exporter makes the graph of a net.
type exporter struct {
	net     *swnet.Net
	opt     *Options
	vary    *variation        // nil: no axis is dynamic
	values  map[string]string // the ONNX value that holds a blob now
	taken   map[string]bool   // values, and nodes inside layers
	named   map[string]bool   // nodes that have a layer's name
	last    map[string]int    // the last layer that writes a blob
	inputs  map[string]bool
	graph   *onnxpb.GraphProto
	tensors []*constant
	merged  map[int]*folded
	misread []string
	loose   map[*blob.Blob]int // blobs with an axis whose extent depends on values, and that axis
}

// run makes the graph for the present shapes.
func run(n *swnet.Net, opt *Options, vary *variation) (*exporter, error) {
	e := &exporter{
		net: n, opt: opt, vary: vary, values: map[string]string{}, taken: map[string]bool{"": true}, named: map[string]bool{}, last: map[string]int{}, inputs: map[string]bool{},
		loose: map[*blob.Blob]int{},
		graph: &onnxpb.GraphProto{Name: proto.String(graphName(n.Name()))},
	}
	e.reserve()
	e.merged = e.plan()
	for i := range n.NumLayers() {
		if err := e.layer(i); err != nil {
			return nil, e.wrap(i, err)
		}
	}
	e.outputs()
	return e, nil
}

func graphName(name string) string {
	if name == "" {
		return "net"
	}
	return name
}

// wrap names the layer of an error.
func (e *exporter) wrap(i int, err error) error {
	failed := &swnet.LayerError{Index: i, Layer: e.net.LayerName(i), Type: e.net.LayerType(i), Err: err}
	if e.opt.Pos != nil {
		failed.Pos = e.opt.Pos(failed.Layer)
	}
	return failed
}

// reserve gives the names of blobs' last values to the layers that write them.
func (e *exporter) reserve() {
	for i := range e.net.NumLayers() {
		p := e.net.LayerParam(i)
		for _, top := range p.GetTop() {
			e.last[top] = i
			e.taken[top] = true
			if p.GetType() == "Input" {
				e.inputs[top] = true
			}
		}
	}
}

// unique returns the name, with a number if it is taken.
func (e *exporter) unique(name string) string {
	for base, k := name, 2; e.taken[name]; k++ {
		name = fmt.Sprintf("%s_%d", base, k)
	}
	e.taken[name] = true
	return name
}

var errNoRule = errors.New("ONNX has no operators for this layer type, and swcaffe knows no composite")

// layer appends the nodes of layer i.
func (e *exporter) layer(i int) error {
	l := e.open(i)
	if reason, refused := refusals[l.kind]; refused {
		return errors.New(reason)
	}
	rule, ok := rules[l.kind]
	if !ok {
		return errNoRule
	}
	if f := e.merged[i]; f != nil {
		if f.gone {
			e.values[l.p.GetTop()[0]] = l.in[0]
			return nil
		}
		l.fold = f
	}
	if err := rule(l); err != nil {
		return err
	}
	return l.finish()
}

// outputs lists the blobs that no layer reads, in the order of the net's.
func (e *exporter) outputs() {
	for _, out := range e.net.Outputs() {
		v := e.values[out.Name]
		if v != out.Name {
			name := e.unique(out.Name)
			if _, written := e.values[out.Name]; written && !e.inputs[out.Name] {
				name = out.Name
			}
			e.graph.Node = append(e.graph.Node, &onnxpb.NodeProto{
				OpType: proto.String("Identity"), Name: proto.String(name), Input: []string{v}, Output: []string{name},
			})
			v = name
		}
		e.graph.Output = append(e.graph.Output, e.info(v, out.Blob))
	}
}

// model assembles the file. IR versions are those of the ONNX releases that brought the opsets.
func (e *exporter) model() *onnxpb.ModelProto {
	ir := int64(7)
	switch o := e.opt.Opset; {
	case o >= 21:
		ir = 10
	case o >= 19:
		ir = 9
	case o >= 15:
		ir = 8
	}
	e.graph.ValueInfo = slices.DeleteFunc(e.graph.ValueInfo, func(v *onnxpb.ValueInfoProto) bool {
		return slices.ContainsFunc(e.graph.Output, func(out *onnxpb.ValueInfoProto) bool { return out.GetName() == v.GetName() })
	})
	for _, c := range e.tensors {
		e.graph.Initializer = append(e.graph.Initializer, c.proto())
	}
	m := &onnxpb.ModelProto{
		IrVersion: proto.Int64(ir), ProducerName: proto.String("swcaffe"), ProducerVersion: proto.String(e.opt.Version), Graph: e.graph,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: proto.String(""), Version: proto.Int64(int64(e.opt.Opset))}},
	}
	if e.opt.Net != nil && !e.opt.Fold {
		m.MetadataProps = []*onnxpb.StringStringEntryProto{
			{Key: proto.String(MetadataKey), Value: proto.String(string(swproto.MarshalText(recorded(e.opt.Net))))},
		}
	}
	return m
}

// recorded returns a net without weights and without the rules that have selected its layers.
func recorded(net *caffepb.NetParameter) *caffepb.NetParameter {
	net = proto.CloneOf(net)
	for _, l := range net.GetLayer() {
		l.Blobs, l.Include, l.Exclude = nil, nil, nil
	}
	return net
}
