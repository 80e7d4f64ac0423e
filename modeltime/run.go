// Package modeltime models the time of a net on a modelled machine, layer by layer and direction by direction. [Run] returns a [Report] of
// one training iteration; [Sweep] varies the machine; [Measure] counts parameters and FLOPs.
//
// The net is built and run like any other, on a machine that charges the work of its kernels: in functional mode, which moves values through
// LDM-sized tiles, or in cost-only mode. Modelled time is never measured time; nothing here reads a clock.
package modeltime

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"

	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Options configure Run.
type Options struct {
	Spec  cpe.Spec
	Mode  cpe.Mode // Functional or CostOnly; image files are not needed if the net gives the images' size
	Batch int      // images of an iteration, over all core groups; 0: the net's batch
	Force op.Force // forced algorithms of convolutions, where they support the problem
	State *caffepb.NetState
	Seed  uint64
	Log   *logrus.Logger
	Mesh  *MeshOptions // nil: the use of single CPEs is not reported
	Bare  bool         // without ranges, which take a model for each curve of bandwidth
	// Built, if not nil, is called when the net is built. Its error ends the run.
	Built func(*swnet.Net) error
	// Done, if not nil, is called after every stage, for callers that measure how long each takes on this computer.
	Done func(Stage)

	economise, forwardOnly bool // how the net is planned
}

// Stage is a part of Run's work.
type Stage string

// The stages, in order.
const (
	SetUp  Stage = "set up"               // the net is built, its weights are filled and their gradients cleared
	Passes Stage = "forward and backward" // all layers forward and backward
	Update Stage = "update"               // the update of all weights
)

// done reports the end of a stage.
func (o *Options) done(s Stage) {
	if o.Done != nil {
		o.Done(s)
	}
}

// build builds the net on a machine.
func (o *Options) build(m *cpe.Machine, file *swproto.Net) (*swnet.Net, error) {
	p := proto.CloneOf(file.Param)
	if o.Batch > 0 {
		if err := SetBatch(p, o.Batch); err != nil {
			return nil, err
		}
	}
	objects := standIn(p)
	d := &layers.Device{Machine: m, Random: layers.NewRandom(o.Seed), Log: o.Log, Force: o.Force}
	n, err := swnet.New(p, swnet.Options{State: o.State, Device: d, Pos: file.LayerPos, Economise: o.economise, ForwardOnly: o.forwardOnly})
	if err != nil {
		return nil, err
	}
	if m.Values() {
		writeObjects(n, objects)
	}
	if o.Built == nil {
		return n, nil
	}
	if err := o.Built(n); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// with builds a net on a machine in some mode, calls use, and closes both.
func (o *Options) with(file *swproto.Net, mode cpe.Mode, use func(m *cpe.Machine, n *swnet.Net) error) error {
	m, err := cpe.New(o.Spec, mode)
	if err != nil {
		return err
	}
	defer m.Close()
	n, err := o.build(m, file)
	if err != nil {
		return err
	}
	defer n.Close()
	return use(m, n)
}

// Explain compares the algorithms for all directions of a layer; see the net's Explain. It runs nothing.
func Explain(file *swproto.Net, o Options, layer string) (list []swnet.Explanation, err error) {
	err = o.with(file, cpe.CostOnly, func(_ *cpe.Machine, n *swnet.Net) (err error) {
		list, err = n.Explain(layer)
		return err
	})
	return list, err
}

// Run models one training iteration of a net, and the range of every time.
func Run(file *swproto.Net, o Options) (*Report, error) {
	reports, err := o.onCurves(file)
	if err != nil {
		return nil, err
	}
	if spread := o.spread(); spread != nil {
		reports[0].addRanges(spread, reports[1:])
	}
	return reports[0], nil
}

// one models one training iteration of a net.
func (o *Options) one(file *swproto.Net) (report *Report, err error) {
	err = o.with(file, o.Mode, func(m *cpe.Machine, n *swnet.Net) (err error) {
		report, err = o.run(m, n)
		return err
	})
	return report, err
}

// run models one iteration of a net that has been built.
func (o *Options) run(m *cpe.Machine, n *swnet.Net) (*Report, error) {
	r := &runner{spec: o.Spec, machine: m, net: n, mesh: o.Mesh}
	r.report = &Report{
		Model: n.Name(), Machine: o.Spec.Name, Batch: n.BatchSize(), CoreGroups: o.Spec.CoreGroups,
		Mode:   map[cpe.Mode]string{cpe.Functional: "functional", cpe.CostOnly: "cost"}[o.Mode],
		Layers: make([]Layer, n.NumLayers()),
	}
	if err := r.findMesh(); err != nil {
		return nil, err
	}
	if m.Values() {
		n.ClearParamDiffs()
	}
	o.done(SetUp)
	if err := r.iteration(); err != nil {
		return nil, err
	}
	o.done(Passes)
	if m := r.report.Mesh; m != nil && !m.usesCPEs() {
		return nil, fmt.Errorf("layer %q, %s: no CPE is used", m.Layer, m.Direction)
	}
	if err := r.update(); err != nil {
		return nil, err
	}
	o.done(Update)
	r.total()
	return r.report, nil
}

// runner is the state of Run.
type runner struct {
	spec    cpe.Spec
	machine *cpe.Machine
	net     *swnet.Net
	mesh    *MeshOptions
	report  *Report
}

// charge runs a pass through layer i and returns its costs.
func (r *runner) charge(i int, d shape.Direction, work func() error) (cpe.Ledger, error) {
	r.machine.ResetLedger()
	err := r.trace(i, d, work)
	return r.machine.Ledger(), err
}

// iteration runs every layer forward and then, in reverse order, backward; gradients of inputs and of weights are charged separately.
func (r *runner) iteration() error {
	for i := range r.report.Layers {
		l := &r.report.Layers[i]
		l.Name, l.Type = r.net.LayerName(i), r.net.LayerType(i)
		ledger, err := r.charge(i, shape.Forward, func() error {
			_, err := r.net.ForwardLayer(i)
			return err
		})
		if err != nil {
			return err
		}
		l.Forward = r.direction(i, shape.Forward, ledger)
	}
	for i := len(r.report.Layers) - 1; i >= 0; i-- {
		l := &r.report.Layers[i]
		var err error
		if l.InputGradient, err = r.backward(i, swnet.InputGradients, shape.InputGradient); err != nil {
			return err
		}
		if l.WeightGradient, err = r.backward(i, swnet.WeightGradients, shape.WeightGradient); err != nil {
			return err
		}
	}
	return nil
}

// backward runs one half of layer i's backward pass.
func (r *runner) backward(i int, part swnet.Gradients, d shape.Direction) (*Direction, error) {
	ledger, err := r.charge(i, d, func() error { return r.net.BackwardLayerPart(i, part) })
	if err != nil {
		return nil, err
	}
	return r.direction(i, d, ledger), nil
}

// algorithm names the algorithm of a convolution's direction; for other layers it returns the layer's type.
func (r *runner) algorithm(i int, d shape.Direction) string {
	if _, ok := r.net.Layer(i).(layers.Strategist); ok {
		return string(r.net.Algorithm(i, d))
	}
	return r.net.LayerType(i)
}

// strategy names the family of a convolution's algorithm; for other layers it returns the layer's type.
func (r *runner) strategy(i int, d shape.Direction) string {
	if l, ok := r.net.Layer(i).(layers.Strategist); ok {
		return l.Strategy(d).String()
	}
	return r.net.LayerType(i)
}

// direction summarises the costs of a direction of layer i; nil if there are none.
func (r *runner) direction(i int, d shape.Direction, l cpe.Ledger) *Direction {
	sum := newDirection(&r.spec, r.strategy(i, d), r.byLines(i, d, r.onMPE(i, d, l)))
	if sum == nil {
		return nil
	}
	sum.Algorithm = r.algorithm(i, d)
	choice, ok := r.net.Layer(i).(layers.Strategist)
	if !ok {
		return sum
	}
	if second := choice.RunnerUp(d); second.Name != "" {
		sum.RunnerUp, sum.RunnerUpMs = second.Name, second.Time.Milliseconds()
	}
	return sum
}
