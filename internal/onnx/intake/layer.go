package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

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
	tops[0].positive, tops[0].whole = v.positive, v.whole
	return tops[0], nil
}
