package net

import (
	"fmt"
	"io"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Options say how a net is built.
type Options struct {
	// State is the phase, level and stages that the layers' rules are held against. It overrides the net's own
	// state field; a caller that wants both merges them first.
	State *caffepb.NetState
	// Device is what the layers are built with.
	Device *layers.Device
	// Pos returns file:line of layer i of the NetParameter, and the file for -1, for error messages; nil where there is no file.
	Pos func(layer int) string

	// Economise lets blobs share storage where their lifetimes in a run of Forward and Backward do not meet, in Arena, and chains of
	// layers be computed together. Then what a blob holds after a run is undefined, unless it is one of the net's outputs, is
	// made by a layer without bottoms, or was asked for by name (Net.Blob) before; and every Backward needs a Forward before it.
	Economise bool
	// Arena is where, if several nets shall share it; nil makes one.
	Arena *Arena
	// ForwardOnly says that Backward will not be called.
	ForwardOnly bool
}

// node is a layer with its wiring.
type node struct {
	layers.Layer
	kind        layers.Type
	param       *caffepb.LayerParameter
	origin      int
	bottoms     []*blob.Blob
	tops        []*blob.Blob
	bottomIDs   []int
	topIDs      []int
	lossWeights []float32 // one a top
	readBack    []bool    // which tops get their gradient from a layer behind
	reader      *node     // the next that reads its first top

	task         *task
	propagate    []bool // which bottoms get a gradient
	needBackward bool
	paramIDs     []int     // indices in Net.params
	given        []float32 // lr_mult of the weights that the prototxt has a ParamSpec for
}

// Net is a built network. It is not safe for concurrent use.
type Net struct {
	name  string
	state *caffepb.NetState
	nodes []*node
	named map[string]*node // by layer name: the first
	opt   Options
	log   *logrus.Logger
	debug bool
	// scale multiplies the weights of the losses in Backward.
	scale float32
	blobs []*blob.Blob // by blob id
	names []string     // by blob id
	ids   map[string]int
	// outputs are the ids of the blobs nobody reads, in alphabetical order of their names.
	outputs []int
	// lossWeights has, per blob id, the weight with which the blob counts in the loss.
	lossWeights  []float32
	needBackward []bool // by blob id

	params    []param
	learnable []Learnable

	kept       map[int]bool // blob ids
	moved      []movedGradient
	adding     []layers.GradAdder
	rectified  []func()     // each makes a layer do its Forward or Backward itself again
	finished   []*blob.Blob // that stand where what the next layer makes of them does
	blocked    []*blob.Blob // whose channels lie in blocks
	thin       []*thinImages
	layouts    Layouts
	writers    writers // as of the last fuse
	arena      *Arena
	placements []placement
	placedIn   *float32  // the start of the memory that they were carried out in
	scratch    []stretch // of the arena, by step: what kernels get for scratch
	spoiled    bool      // the last Forward's loss was no number
	nonFinite  string    // what the first Forward found whose loss was none
}

// New builds a net for the state in opt. Errors name the layer and, where opt.Pos knows it, its file and line.
func New(p *caffepb.NetParameter, opt Options) (*Net, error) {
	filtered, origin, err := Filter(p, opt.State)
	if err != nil {
		return nil, locate(err, opt.Pos, origin)
	}
	if err := checkTypes(filtered, origin, opt.Pos); err != nil {
		return nil, err
	}
	filtered, origin, err = InsertSplits(filtered, origin)
	if err != nil {
		return nil, locate(err, opt.Pos, origin)
	}
	if len(filtered.Layer) == 0 {
		return nil, opt.fail(p, fmt.Errorf("no layers for phase %v, level %d, stages %q", opt.State.GetPhase(), opt.State.GetLevel(), opt.State.GetStage()))
	}
	n := &Net{name: p.GetName(), state: opt.State, opt: opt, log: opt.Device.Log, named: map[string]*node{}, ids: map[string]int{}, kept: map[int]bool{}, scale: 1}
	if n.log == nil {
		n.log = logrus.New()
		n.log.SetOutput(io.Discard)
	}
	if err := n.build(filtered, origin); err != nil {
		n.Close()
		return nil, err
	}
	if err := n.arrange(); err != nil {
		n.Close()
		return nil, opt.fail(p, err)
	}
	if p.GetDebugInfo() && opt.Device.Machine.Values() {
		n.SetDebugInfo(true)
	}
	return n, nil
}

// arrange decides what is computed together, and where in memory.
func (n *Net) arrange() (err error) {
	defer pages.Catch(&err)
	n.separate()
	n.fuse()
	n.chooseLayouts()
	n.planMemory()
	return nil
}

// Close stops what the layers keep running (prefetchers) and closes their files.
func (n *Net) Close() error {
	var first error
	for _, d := range n.nodes {
		if c, ok := d.Layer.(layers.Closer); ok {
			if err := c.Close(); err != nil && first == nil {
				first = n.fail(d, err)
			}
		}
	}
	return first
}

// Name returns the name the prototxt gives the net.
func (n *Net) Name() string { return n.name }

// NumLayers returns the number of layers, inserted Split layers included.
func (n *Net) NumLayers() int { return len(n.nodes) }

// LayerName returns the name of layer i.
func (n *Net) LayerName(i int) string { return n.nodes[i].param.GetName() }

// LayerType returns the type of layer i.
func (n *Net) LayerType(i int) string { return n.nodes[i].param.GetType() }

// LayerParam returns the prototxt of layer i: read only.
func (n *Net) LayerParam(i int) *caffepb.LayerParameter { return n.nodes[i].param }

// Layer returns layer i itself, for its side interfaces.
func (n *Net) Layer(i int) layers.Layer { return n.nodes[i].Layer }

// Algorithm names the algorithm with which a direction of layer i is computed, maybe together with layers around it; "" if there is none or
// if its kernels have one way only.
func (n *Net) Algorithm(i int, d shape.Direction) shape.Algorithm {
	head := n.nodes[i]
	for _, h := range n.nodes {
		if slices.Contains(h.task.nodes, head) {
			head = h
			break
		}
	}
	l, ok := head.task.Layer.(layers.Algorithmic)
	if !ok || d != shape.Forward && !n.computes(head, d) {
		return ""
	}
	joint := n.computes(head, shape.WeightGradient) && !slices.Contains(head.task.propagate, false)
	return l.Algorithm(d, joint)
}

// computes reports whether Backward computes gradients in the task of a node.
func (n *Net) computes(head *node, d shape.Direction) bool {
	if n.opt.ForwardOnly || !head.needBackward {
		return false
	}
	if d == shape.InputGradient {
		return slices.Contains(head.task.propagate, true)
	}
	return slices.ContainsFunc(head.task.nodes, func(m *node) bool {
		return slices.ContainsFunc(m.paramIDs, func(id int) bool { return n.params[id].needGrad })
	})
}

// Bottoms returns the blobs that layer i reads.
func (n *Net) Bottoms(i int) []*blob.Blob { return n.nodes[i].bottoms }

// Tops returns the blobs that layer i makes.
func (n *Net) Tops(i int) []*blob.Blob { return n.nodes[i].tops }

// Propagates reports whether Backward computes the gradient of bottom j of layer i.
func (n *Net) Propagates(i, j int) bool { return n.nodes[i].propagate[j] }

// NeedsBackward reports whether layer i takes part in Backward.
func (n *Net) NeedsBackward(i int) bool { return n.nodes[i].needBackward }

// Blob returns a blob by name, nil where there is none. From now on it keeps what it holds from run to run, even if the net
// economises.
func (n *Net) Blob(name string) *blob.Blob {
	if id, ok := n.ids[name]; ok {
		n.keep(id)
		return n.blobs[id]
	}
	return nil
}

// Params returns the weights of the first layer with a name, nil where there is none or it has none.
func (n *Net) Params(layer string) []*blob.Blob {
	if d := n.named[layer]; d != nil {
		return d.Params()
	}
	return nil
}

// BlobNames returns the names of all blobs in the order in which they are made.
func (n *Net) BlobNames() []string { return n.names }

// Output is a blob that no layer reads.
type Output struct {
	Name       string
	Blob       *blob.Blob
	LossWeight float32
}

// Outputs returns the net's results in alphabetical order of their names.
func (n *Net) Outputs() []Output {
	var outs []Output
	for _, id := range n.outputs {
		outs = append(outs, Output{n.names[id], n.blobs[id], n.lossWeights[id]})
	}
	return outs
}

// BatchSize returns the first extent of the first blob with more than one axis: the number of images of an
// iteration, for throughput figures. It is 1 where no blob has two axes.
func (n *Net) BatchSize() int {
	for _, b := range n.blobs {
		if b.NumAxes() > 1 {
			return b.Dim(0)
		}
	}
	return 1
}
