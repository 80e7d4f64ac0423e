package export

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
	"google.golang.org/protobuf/proto"
)

// variation tells which axes of the tops depend on the batch size: dynamic[layer][top][axis].
type variation struct {
	dynamic [][][]bool
	batch   int // the size of the present graph
	of      map[*blob.Blob][]bool
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

// batchInputs returns the inputs whose first extent is that of the net's first input.
func batchInputs(n *swnet.Net) (inputs []*blob.Blob) {
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for _, top := range n.Tops(i) {
			if top.NumAxes() > 0 && (len(inputs) == 0 || top.Dim(0) == inputs[0].Dim(0)) {
				inputs = append(inputs, top)
			}
		}
	}
	return inputs
}

// resize sets the batch size of the inputs.
func resize(n *swnet.Net, size int) error {
	for _, b := range batchInputs(n) {
		b.Reshape(append([]int{size}, b.Shape()[1:]...)...)
	}
	return n.Reshape()
}

// larger returns the other batch size: a multiple, for layers that divide the batch.
func larger(size int) int { return 3 * size }

// largerBatch returns the shapes for another batch size, and restores the old one.
func largerBatch(n *swnet.Net) ([][][]int, error) {
	inputs := batchInputs(n)
	if len(inputs) == 0 {
		return nil, errors.New("the net has no input with axes")
	}
	for i := range n.NumLayers() {
		if recurrent[n.LayerType(i)] {
			return nil, fmt.Errorf("axis 0 of layer %q counts time steps", n.LayerName(i))
		}
	}
	size := inputs[0].Dim(0)
	err := resize(n, larger(size))
	other := shapesOf(n)
	if back := resize(n, size); back != nil {
		return nil, back
	}
	return other, err
}

var recurrent = map[string]bool{"LSTM": true, "RNN": true, "Lstm": true, "LSTMUnit": true}

// dynamicGraph makes the graph for two batch sizes and compares. If a node differs, fixed names its layer.
func dynamicGraph(n *swnet.Net, opt *Options, shapes, other [][][]int) (*exporter, error) {
	vary := &variation{of: map[*blob.Blob][]bool{}}
	for i := range shapes {
		for k, top := range n.Tops(i) {
			if len(shapes[i][k]) != len(other[i][k]) {
				return &exporter{fixed: fmt.Sprintf("the number of axes of layer %q's top depends on it", n.LayerName(i))}, nil
			}
			axes := make([]bool, len(shapes[i][k]))
			for a := range axes {
				axes[a] = shapes[i][k][a] != other[i][k][a]
			}
			vary.of[top] = axes
		}
	}
	size := batchInputs(n)[0].Dim(0)
	if err := resize(n, larger(size)); err != nil {
		return nil, err
	}
	vary.batch = larger(size)
	large, err := run(n, opt, vary)
	if back := resize(n, size); back != nil {
		return nil, back
	}
	if err != nil {
		return nil, err
	}
	vary.batch = size
	e, err := run(n, opt, vary)
	if err != nil {
		return nil, err
	}
	e.fixed = difference(e, large)
	return e, nil
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
