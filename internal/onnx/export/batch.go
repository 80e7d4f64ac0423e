package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// variation tells which axes of the blobs depend on the batch size, and how often an extent holds it: 0 if it is no multiple of it.
type variation struct {
	of     map[*blob.Blob][]bool
	factor map[*blob.Blob][]int
}

// shapesOf copies the shapes of all tops.
func shapesOf(n *swnet.Net) [][][]int {
	all := make([][][]int, n.NumLayers())
	for i := range all {
		for _, top := range n.Tops(i) {
			all[i] = append(all[i], append([]int(nil), top.Shape()...))
		}
	}
	return all
}

// part is an input, and how often its first extent holds the batch size: 0 if the extent does not depend on it.
type part struct {
	input  *blob.Blob
	factor int
}

// batch is the batch size of a net, and what its inputs have to do with it.
type batch struct {
	size   int
	inputs []part
}

// batches returns what the inputs' extents may mean, the likeliest first. The first input's is the batch size. Inputs of the same extent depend on
// it rather than not, those with a multiple, such as a list of regions, rather not.
func batches(n *swnet.Net) []batch {
	var first batch
	other := []int{} // the less likely factors
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for _, top := range n.Tops(i) {
			switch {
			case top.NumAxes() == 0:
			case len(first.inputs) == 0:
				first.size, first.inputs, other = top.Dim(0), []part{{top, 1}}, []int{1}
			case top.Dim(0) == first.size:
				first.inputs, other = append(first.inputs, part{top, 1}), append(other, 0)
			case first.size > 0 && top.Dim(0)%first.size == 0:
				first.inputs, other = append(first.inputs, part{top, 0}), append(other, top.Dim(0)/first.size)
			}
		}
	}
	if len(first.inputs) == 0 {
		return nil
	}
	all := []batch{first}
	for k := 1; k < len(other) && len(all) < 32; k++ {
		for _, b := range all {
			b.inputs = slices.Clone(b.inputs)
			b.inputs[k].factor = other[k]
			all = append(all, b)
		}
	}
	return all
}

// resize sets the batch size of the inputs.
func (b *batch) resize(n *swnet.Net, size int) error {
	for _, p := range b.inputs {
		if p.factor > 0 {
			p.input.Reshape(append([]int{p.factor * size}, p.input.Shape()[1:]...)...)
		}
	}
	return n.Reshape()
}

// larger is the other batch size: a multiple, for layers that divide the batch.
func (b *batch) larger() int { return 3 * b.size }

var recurrent = map[string]bool{"LSTM": true, "RNN": true, "Lstm": true, "LSTMUnit": true}

// openBatch makes the graph of a net whose batch size is open, and tells which inputs have it. If it cannot be, fixed says why.
func openBatch(n *swnet.Net, opt *Options) (found *batch, e *exporter, fixed string, err error) {
	for i := range n.NumLayers() {
		if recurrent[n.LayerType(i)] {
			return nil, nil, fmt.Sprintf("axis 0 of layer %q counts time steps", n.LayerName(i)), nil
		}
	}
	all := batches(n)
	if len(all) == 0 {
		return nil, nil, "the net has no input with axes", nil
	}
	for i, b := range all {
		var reason string
		if e, reason, err = b.graph(n, opt); err != nil || reason == "" {
			return &b, e, "", err
		}
		if i == 0 {
			fixed = reason
		}
	}
	return nil, nil, fixed, nil
}

// fixBatch gives the net the batch size of the options, and their prototxt, in a copy, too. If the batch size cannot be open, its inputs are the
// likeliest with which every layer takes the new size. restore undoes it.
func fixBatch(n *swnet.Net, opt *Options) (restore func(), err error) {
	found, _, _, err := openBatch(n, opt)
	if err != nil {
		return nil, err
	}
	all := batches(n)
	if found != nil {
		all = []batch{*found}
	}
	var reason error
	for _, b := range all {
		refused := b.resize(n, opt.Batch)
		if refused == nil {
			opt.Net = written(n, opt.Net)
			return func() { b.resize(n, b.size) }, nil
		}
		if err := b.resize(n, b.size); err != nil {
			return nil, err
		}
		reason = cmp.Or(reason, refused)
	}
	if reason != nil {
		return nil, fmt.Errorf("batch size %d instead of %d: %w", opt.Batch, all[0].size, reason)
	}
	return func() {}, nil // no input with axes
}

// written is a copy of a prototxt with the present shapes of the net's inputs.
func written(n *swnet.Net, p *caffepb.NetParameter) *caffepb.NetParameter {
	if p == nil {
		return nil
	}
	p = proto.CloneOf(p)
	for _, l := range p.GetLayer() {
		in := l.GetInputParam()
		if l.GetType() != "Input" || len(in.GetShape()) == 0 {
			continue
		}
		for k, top := range l.GetTop() {
			if k == len(in.Shape) { // one shape may be that of all tops
				in.Shape = append(in.Shape, proto.CloneOf(in.Shape[0]))
			}
			for a, d := range n.Blob(top).Shape() {
				in.Shape[k].Dim[a] = int64(d)
			}
		}
	}
	return p
}

// graph makes the graph for two batch sizes and compares. fixed names the layer or node in which they differ.
func (b *batch) graph(n *swnet.Net, opt *Options) (e *exporter, fixed string, err error) {
	shapes := shapesOf(n)
	restore := func() {
		if back := b.resize(n, b.size); err == nil {
			err = back
		}
	}
	if refused := b.resize(n, b.larger()); refused != nil {
		restore()
		return nil, refused.Error(), err
	}
	vary, fixed := b.compare(n, shapes, shapesOf(n))
	if fixed != "" {
		restore()
		return nil, fixed, err
	}
	large, err := run(n, opt, vary)
	if restore(); err != nil {
		return nil, "", err
	}
	if e, err = run(n, opt, vary); err != nil {
		return nil, "", err
	}
	return e, difference(e, large), nil
}

// compare finds the axes in which shapes for two batch sizes differ.
func (b *batch) compare(n *swnet.Net, shapes, other [][][]int) (v *variation, fixed string) {
	v = &variation{map[*blob.Blob][]bool{}, map[*blob.Blob][]int{}}
	for i := range shapes {
		for k, top := range n.Tops(i) {
			small, large := shapes[i][k], other[i][k]
			if len(small) != len(large) {
				return nil, fmt.Sprintf("the number of axes of layer %q's top depends on it", n.LayerName(i))
			}
			axes, factors := make([]bool, len(small)), make([]int, len(small))
			for a := range axes {
				axes[a] = small[a] != large[a]
				if f := small[a] / max(1, b.size); f*b.size == small[a] && f*b.larger() == large[a] {
					factors[a] = f
				}
			}
			v.of[top], v.factor[top] = axes, factors
		}
	}
	return v, ""
}

// difference names the first node or constant in which two graphs differ.
func difference(a, b *exporter) string {
	for i, node := range a.graph.Node {
		if i >= len(b.graph.Node) || !proto.Equal(node, b.graph.Node[i]) {
			return fmt.Sprintf("node %q depends on it", node.GetName())
		}
	}
	for i, c := range a.tensors {
		if i >= len(b.tensors) || !c.equal(b.tensors[i]) {
			return fmt.Sprintf("constant %q depends on it", c.name)
		}
	}
	return ""
}
