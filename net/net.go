package net

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	_ "github.com/swcaffe/swcaffe/layers/all" // every type of layer
	"github.com/swcaffe/swcaffe/net/schedule"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Options configure how a net is built.
type Options struct {
	// State is the phase, level and stages for the layers' rules. It overrides the net's own state field; a caller that wants both merges
	// them first.
	State *caffepb.NetState
	// Device is passed to every layer.
	Device *layers.Device
	// Pos returns the position file:line of layer i of the NetParameter, for error messages, and the file for i = -1. It is nil if there is
	// no file.
	Pos func(layer int) string

	// Budget, if not nil, adds up the memory of several nets of one process; otherwise the net has its own. WeightCopies is the number of values for
	// each weight: with ForwardOnly 1, else 2, for its gradient, unless it is set.
	Budget       *pages.Budget
	WeightCopies int

	// Economise lets blobs with disjoint lifetimes share storage in Arena, and lets layers be fused. Blobs then hold undefined values after
	// a run, except the net's outputs, tops of layers without bottoms, and blobs that were requested by name (Net.Blob) before. Every
	// Backward needs a Forward before it.
	Economise bool
	// Arena is the arena to use, if several nets share one; nil creates one.
	Arena *Arena
	// ForwardOnly promises that Backward is never called.
	ForwardOnly bool
	// Changing says that weights change between runs, as those of a net that tests another while it trains. Layers of a net that is
	// ForwardOnly then keep nothing that they make of weights, which would cost memory.
	Changing bool
	// Prepares says that the caller prepares input by the messages that layers state for it (layers.Type.Prepares). Otherwise a warning says that
	// they have no effect.
	Prepares bool
	// WeightsOf, if not nil, is a net whose weights this one shares (ShareWeights), from the same layers. It then makes none of its own.
	WeightsOf *Net
	// Without disables passes and fusions by name, for measurements (schedule.Names).
	Without []string
}

// node is a layer of the prototxt with its wiring.
type node struct {
	*schedule.Node
	kind      layers.Type
	param     *caffepb.LayerParameter
	origin    int
	device    *layers.Device
	precision string    // of its products
	paramIDs  []int     // indices in Net.params
	given     []float32 // lr_mult of the weights with a ParamSpec in the prototxt
	coupling  layers.Coupling
	items     bool // the tops have items of the batch
	ownLoss   bool // see foreign.go
}

// Net is a built network. It is not safe for concurrent use.
type Net struct {
	name    string
	opt     Options
	log     *logrus.Logger
	nodes   []*node
	named   namesakes
	items   map[int]bool              // the blobs with items, by their numbers
	rows    map[int]bool              // those with rows that name an item of this net's part
	graph   *schedule.Graph           // input of the plan: the nodes and their blobs
	plan    *schedule.Plan            // the tasks that run
	asked   string                    // the precision that the machine's user asks for, "" if none
	devices map[string]*layers.Device // of layers, by precision
	wires
	weights
	memory
	running
}

// wires connects layers by the names of their blobs.
type wires struct {
	ids          map[string]int  // by name: the latest blob of that name
	said         map[string]bool // warnings of fillers, which are given once
	needBackward []bool          // by blob id
}

// running is the state of a net's runs.
type running struct {
	debug     bool
	scale     float32 // factor of the loss weights in Backward
	given     bool    // the caller sets the gradients from which Backward starts
	spoiled   bool    // the last Forward's loss was NaN or infinite
	nonFinite string  // FirstNonFinite after the first Forward with such a loss
	observer  Observer
	hook      Hook
}

// New builds a net for the state in opt. Errors name the layer and, if opt.Pos is set, its file and line.
func New(p *caffepb.NetParameter, opt Options) (*Net, error) {
	if err := schedule.CheckNames(opt.Without); err != nil {
		return nil, err
	}
	filtered, origin, err := Filter(p, opt.State)
	if err != nil {
		return nil, locate(err, opt.Pos, origin)
	}
	if err := checkTypes(filtered, origin, opt.Pos); err != nil {
		return nil, err
	}
	whole, from, err := InsertSplits(filtered, origin)
	if err != nil {
		return nil, locate(err, opt.Pos, origin)
	}
	filtered, origin = whole, from
	if len(filtered.Layer) == 0 {
		if len(p.Layer) == 0 {
			return nil, opt.fail(p, errors.New("the net has no layers"))
		}
		return nil, opt.fail(p, fmt.Errorf("no layers for phase %v, level %d, stages %q", opt.State.GetPhase(), opt.State.GetLevel(), opt.State.GetStage()))
	}
	opt.setBudget()
	if opt.ForwardOnly && !opt.Changing || opt.WeightsOf != nil { // the weights lie together, in one of the nets that share them
		own := *opt.Device
		own.Unfilled, own.WeightMemory = opt.WeightsOf != nil, &pages.Pool{}
		opt.Device = &own
	}
	spec := opt.Device.Machine.Spec()
	n := &Net{asked: spec.Precision(), devices: map[string]*layers.Device{}, name: p.GetName(), opt: opt, log: opt.Device.Log, named: namesakes{}, items: map[int]bool{}, rows: map[int]bool{}, wires: wires{ids: map[string]int{}, said: map[string]bool{}}, running: running{scale: 1}}
	n.graph = &schedule.Graph{
		Kept: map[int]bool{}, Device: opt.Device, ForwardOnly: opt.ForwardOnly, Changing: opt.Changing, Economise: opt.Economise, Without: opt.Without,
	}
	if n.log == nil {
		n.log = layers.NoLog()
	}
	if err := n.build(filtered, origin); err != nil {
		n.Close()
		return nil, err
	}
	if err := n.checkPrecision(p); err != nil {
		n.Close()
		return nil, opt.fail(p, err)
	}
	if opt.WeightsOf != nil {
		if err := n.useWeightsOf(opt.WeightsOf); err != nil {
			n.Close()
			return nil, err
		}
	}
	if err := n.schedule(); err != nil {
		n.Close()
		return nil, opt.fail(p, err)
	}
	if p.GetDebugInfo() && opt.Device.Machine.Values() {
		n.SetDebugInfo(true)
	}
	return n, nil
}

// setBudget sets the defaults of Budget and WeightCopies.
func (o *Options) setBudget() {
	if o.Budget == nil {
		o.Budget = &pages.Budget{}
	}
	switch {
	case o.WeightsOf != nil:
		o.WeightCopies = -1 // none
	case o.WeightCopies == 0 && o.ForwardOnly:
		o.WeightCopies = 1
	case o.WeightCopies == 0:
		o.WeightCopies = 2
	}
}

// schedule makes the plan and reserves its memory.
func (n *Net) schedule() (err error) {
	defer pages.Catch(&err)
	if n.plan, err = schedule.Make(n.graph); err != nil {
		return err
	}
	for _, line := range n.plan.Log {
		n.log.Info(line)
	}
	n.useMemory()
	return n.checkMemory()
}

// Passes returns, in order, what each pass did to the net's tasks.
func (n *Net) Passes() []schedule.Note { return n.plan.Notes }

// Layouts returns the layouts of the net's images.
func (n *Net) Layouts() schedule.Layouts { return n.plan.Layouts }

// Close stops the layers' goroutines (prefetchers) and closes their files.
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

// Precision returns the precision of the products of layer i: one of cpe.Precisions.
func (n *Net) Precision(i int) string { return n.nodes[i].precision }

// LayerParam returns the prototxt of layer i, which callers must not change.
func (n *Net) LayerParam(i int) *caffepb.LayerParameter { return n.nodes[i].param }

// Layer returns layer i, for access to its optional interfaces.
func (n *Net) Layer(i int) layers.Layer { return n.nodes[i].Layer }

// Algorithm returns the algorithm that computes a direction of layer i, perhaps together with neighbouring layers. It is "" if there is
// none, or if the layer's kernels have no choice.
func (n *Net) Algorithm(i int, d shape.Direction) shape.Algorithm {
	head := i
	for k, t := range n.plan.Tasks[:i+1] {
		if slices.Contains(t.Nodes, n.nodes[i].Node) {
			head = k
		}
	}
	t := n.plan.Tasks[head]
	l, ok := t.Layer.(layers.Algorithmic)
	if !ok || d != shape.Forward && !n.computes(head, d) {
		return ""
	}
	joint := n.computes(head, shape.WeightGradient) && !slices.Contains(t.Propagate, false)
	return l.Algorithm(d, joint)
}

// computes reports whether Backward computes gradients in the task of node i.
func (n *Net) computes(i int, d shape.Direction) bool {
	t := n.plan.Tasks[i]
	if n.graph.ForwardOnly || !n.nodes[i].NeedsBackward {
		return false
	}
	if d == shape.InputGradient {
		return slices.Contains(t.Propagate, true)
	}
	return slices.ContainsFunc(n.nodes, func(m *node) bool {
		return slices.Contains(t.Nodes, m.Node) && slices.ContainsFunc(m.paramIDs, func(id int) bool { return n.params[id].needGrad })
	})
}

// Bottoms returns the bottoms of layer i.
func (n *Net) Bottoms(i int) []*blob.Blob { return n.nodes[i].Bottoms }

// Tops returns the tops of layer i.
func (n *Net) Tops(i int) []*blob.Blob { return n.nodes[i].Tops }

// Propagates reports whether Backward computes the gradient of bottom j of layer i.
func (n *Net) Propagates(i, j int) bool { return n.nodes[i].Propagate[j] }

// NeedsBackward reports whether layer i takes part in Backward.
func (n *Net) NeedsBackward(i int) bool { return n.nodes[i].NeedsBackward }

// Blob returns a blob by name, or nil. From then on the blob keeps its values after every run, even if the net economises.
func (n *Net) Blob(name string) *blob.Blob {
	if id, ok := n.ids[name]; ok {
		n.keep(id)
		return n.graph.Blobs[id]
	}
	return nil
}

// Params returns the weights of the first layer with the given name, or nil.
func (n *Net) Params(layer string) []*blob.Blob {
	if all := n.named[layer]; len(all) > 0 {
		return all[0].Params()
	}
	return nil
}

// BlobNames returns the names of all blobs in order of creation.
func (n *Net) BlobNames() []string { return n.graph.Names }

// BlobAt returns blob id of BlobNames, without a claim on its values; compare Blob.
func (n *Net) BlobAt(id int) *blob.Blob { return n.graph.Blobs[id] }

// LossWeight returns the weight of blob id of BlobNames in the loss.
func (n *Net) LossWeight(id int) float32 { return n.graph.Loss[id] }

// BottomIDs returns the positions in BlobNames of layer i's bottoms, TopIDs those of its tops.
func (n *Net) BottomIDs(i int) []int { return n.nodes[i].BottomIDs }
func (n *Net) TopIDs(i int) []int    { return n.nodes[i].TopIDs }

// OutputIDs returns the positions in BlobNames of the outputs, sorted by name.
func (n *Net) OutputIDs() []int { return n.graph.Outputs }

// Output is a blob that no layer reads.
type Output struct {
	Name       string
	Blob       *blob.Blob
	LossWeight float32
}

// Outputs returns the net's outputs, sorted by name.
func (n *Net) Outputs() []Output {
	var outs []Output
	for _, id := range n.graph.Outputs {
		outs = append(outs, Output{n.graph.Names[id], n.graph.Blobs[id], n.graph.Loss[id]})
	}
	return outs
}

// BatchSize returns the first extent of the first blob with more than one axis: the number of images per iteration, for throughput figures.
// It is 1 if no blob has two axes.
func (n *Net) BatchSize() int {
	for _, b := range n.graph.Blobs {
		if b.NumAxes() > 1 {
			return b.Dim(0)
		}
	}
	return 1
}
