package export

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// layer is a layer of Caffe on its way into the graph. in are the ONNX values of its bottoms. A rule appends nodes with node, and names the
// values of the tops with set.
type layer struct {
	*exporter
	index       int
	kind        string
	p           *caffepb.LayerParameter
	name        string
	in          []string
	bottom, top []*blob.Blob
	weights     []*blob.Blob
	first       int // the graph's number of nodes before this layer's
	tops        []string
	fold        *folded
}

func (e *exporter) open(i int) *layer {
	l := &layer{
		exporter: e, index: i, kind: e.net.LayerType(i), p: e.net.LayerParam(i), name: e.net.LayerName(i),
		bottom: e.net.Bottoms(i), top: e.net.Tops(i), weights: e.net.Layer(i).Params(), first: len(e.graph.Node),
	}
	for _, b := range l.p.GetBottom() {
		l.in = append(l.in, e.values[b])
	}
	l.tops = make([]string, len(l.top))
	return l
}

// set says that v is the value of top k.
func (l *layer) set(k int, v string) { l.tops[k] = v }

// finish gives the values of the tops their names, and records types and shapes.
func (l *layer) finish() error {
	for k, v := range l.tops {
		if v == "" {
			return fmt.Errorf("export: the rule of %s makes no top %d", l.kind, k)
		}
		blobName, writer := l.p.GetTop()[k], l.index
		if l.fold != nil {
			blobName, writer = l.fold.top, l.fold.by
		}
		name := blobName
		if l.last[blobName] != writer || l.inputs[blobName] {
			name = l.unique(blobName + "@" + l.name)
		}
		producer := l.producer(v)
		if producer == nil || slices.Index(l.tops[:k], v) >= 0 {
			v = l.node("Identity", []string{v})
			producer = l.graph.Node[len(l.graph.Node)-1]
		}
		l.rename(v, name)
		l.tops[k] = name
		if k == 0 {
			producer.Name = proto.String(l.nodeName())
		}
		l.values[blobName], l.values[l.p.GetTop()[k]] = name, name
		l.graph.ValueInfo = append(l.graph.ValueInfo, l.info(name, l.top[k]))
	}
	return nil
}

// nodeName returns the layer's name, with a number if another layer has it too.
func (l *layer) nodeName() string {
	name := l.name
	for k := 2; l.named[name]; k++ {
		name = fmt.Sprintf("%s_%d", l.name, k)
	}
	l.named[name] = true
	return name
}

// producer returns the node of this layer that makes v.
func (l *layer) producer(v string) *onnxpb.NodeProto {
	for _, n := range l.graph.Node[l.first:] {
		if slices.Contains(n.GetOutput(), v) {
			return n
		}
	}
	return nil
}

func (l *layer) rename(from, to string) {
	for _, n := range l.graph.Node[l.first:] {
		for _, list := range [][]string{n.Input, n.Output} {
			for i := range list {
				if list[i] == from {
					list[i] = to
				}
			}
		}
	}
}

// attr is an attribute of a node: an int, []int, float32, string or *onnxpb.GraphProto. A node leaves out attributes with value nil.
type attr struct {
	name  string
	value any
}

func (a attr) proto() *onnxpb.AttributeProto {
	p := &onnxpb.AttributeProto{Name: proto.String(a.name)}
	switch v := a.value.(type) {
	case int:
		p.Type, p.I = onnxpb.AttributeProto_INT.Enum(), proto.Int64(int64(v))
	case float32:
		p.Type, p.F = onnxpb.AttributeProto_FLOAT.Enum(), proto.Float32(v)
	case string:
		p.Type, p.S = onnxpb.AttributeProto_STRING.Enum(), []byte(v)
	case []int:
		p.Type = onnxpb.AttributeProto_INTS.Enum()
		for _, i := range v {
			p.Ints = append(p.Ints, int64(i))
		}
	case *onnxpb.GraphProto:
		p.Type, p.G = onnxpb.AttributeProto_GRAPH.Enum(), v
	default:
		panic(fmt.Sprintf("export: attribute %s has type %T", a.name, v))
	}
	return p
}

// node appends a node with one output and returns its value. Empty names at the end of in are left out.
func (l *layer) node(op string, in []string, attrs ...attr) string {
	return l.nodes(op, 1, in, attrs...)[0]
}

// nodes is node for several outputs.
func (l *layer) nodes(op string, outputs int, in []string, attrs ...attr) []string {
	for len(in) > 0 && in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	name := l.unique(l.name + "/" + op)
	n := &onnxpb.NodeProto{OpType: proto.String(op), Name: proto.String(name), Input: slices.Clone(in)}
	for k := range outputs {
		v := name
		if k > 0 {
			v = l.unique(fmt.Sprintf("%s:%d", name, k))
		}
		n.Output = append(n.Output, v)
	}
	for _, a := range attrs {
		if a.value != nil {
			n.Attribute = append(n.Attribute, a.proto())
		}
	}
	l.graph.Node = append(l.graph.Node, n)
	return n.Output
}

// weight makes an initializer of weight i, with its own shape or with the given one.
func (l *layer) weight(i int, dims ...int) string {
	if dims == nil {
		dims = slices.Clone(l.weights[i].Shape())
	}
	return l.add(&constant{name: fmt.Sprintf("%s[%d]", l.name, i), dims: dims, floats: l.weightData(i)})
}

// weightData returns the values of weight i after folding.
func (l *layer) weightData(i int) []float32 {
	if l.fold != nil && l.fold.weights[i] != nil {
		return l.fold.weights[i]
	}
	return l.weights[i].Data()
}

// array, scalar and ints make inner constants.
func (l *layer) array(what string, values []float32, dims ...int) string {
	return l.add(&constant{name: l.name + "/" + what, dims: dims, floats: values})
}

func (l *layer) scalar(what string, v float32) string { return l.array(what, []float32{v}) }

func (l *layer) ints(what string, values ...int) string {
	c := &constant{name: l.name + "/" + what, dims: []int{len(values)}, ints: []int64{}}
	for _, v := range values {
		c.ints = append(c.ints, int64(v))
	}
	return l.add(c)
}

// integer makes a constant without axes.
func (l *layer) integer(what string, v int) string {
	return l.add(&constant{name: l.name + "/" + what, dims: []int{}, ints: []int64{int64(v)}})
}

// dim is an extent. A dynamic one depends on the batch size.
type dim struct {
	n       int
	dynamic bool
}

// dims returns the extents of a blob.
func (e *exporter) dims(b *blob.Blob) []dim {
	ds := make([]dim, b.NumAxes())
	for i := range ds {
		ds[i].n = b.Dim(i)
		if e.vary != nil {
			if axes := e.vary.of[b]; i < len(axes) {
				ds[i].dynamic = axes[i]
			}
		}
		if axis, ok := e.loose[b]; ok && axis == i {
			ds[i].dynamic = true
		}
	}
	return ds
}

// product merges extents into one.
func product(ds []dim) dim {
	p := dim{n: 1}
	for _, d := range ds {
		p.n *= d.n
		p.dynamic = p.dynamic || d.dynamic
	}
	return p
}

func known(ns ...int) (ds []dim) {
	for _, n := range ns {
		ds = append(ds, dim{n: n})
	}
	return ds
}

// reshape gives v, which has extents from, the extents to. A dynamic extent is copied from the same axis if it is equal, or inferred.
func (l *layer) reshape(v string, from, to []dim) string {
	if slices.Equal(from, to) {
		return v
	}
	target, inferred := make([]int, len(to)), false
	for i, d := range to {
		switch {
		case !d.dynamic:
			target[i] = d.n
		case i < len(from) && from[i] == d:
			target[i] = 0
		case !inferred:
			target[i], inferred = -1, true
		default:
			target[i] = d.n // the comparison of two batch sizes finds it
		}
	}
	return l.node("Reshape", []string{v, l.ints("shape", target...)})
}

// info describes a value of a blob's shape.
func (e *exporter) info(name string, b *blob.Blob) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for i, d := range e.dims(b) {
		p := &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d.n)}}
		if d.dynamic {
			p.Value = nil
			if name := e.symbol(b, i); name != "" {
				p.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: name}
			}
		}
		shape.Dim = append(shape.Dim, p)
	}
	return tensorInfo(name, shape)
}

// symbol names an extent that is the batch size, N, or a multiple of it, as 2N.
func (e *exporter) symbol(b *blob.Blob, axis int) string {
	if _, rows := e.loose[b]; rows || e.vary.factor == nil || axis >= len(e.vary.factor[b]) {
		return ""
	}
	switch f := e.vary.factor[b][axis]; f {
	case 0:
		return ""
	case 1:
		return "N"
	default:
		return fmt.Sprintf("%dN", f)
	}
}

func tensorInfo(name string, shape *onnxpb.TensorShapeProto) *onnxpb.ValueInfoProto {
	return &onnxpb.ValueInfoProto{Name: proto.String(name), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: proto.Int32(int32(onnxpb.TensorProto_FLOAT)), Shape: shape},
	}}}
}
