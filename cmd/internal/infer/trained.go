// Package infer holds the commands that run trained nets: test and extract_features by a trained, a net in phase TEST with weights from files;
// classify and detect by package predict.
package infer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/evaluate"
)

// trained describes a net for inference: in phase TEST, with the weights of a -weights flag.
type trained struct {
	device         *cli.DeviceFlags
	state          cli.StateFlags
	model, weights string
	seed           uint64
	share          layers.Share // this worker's share of the data
}

// use builds the net and calls use with it.
func (t *trained) use(e *cli.Env, use func(*swnet.Net) error) error {
	machine, err := t.device.NewMachine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	file, err := cli.ReadNet(e, t.model, &t.state)
	if err != nil {
		return err
	}
	device := &layers.Device{Engine: t.device.Engine, Machine: machine, Random: layers.NewRandom(t.seed), Share: t.share, Log: e.Log}
	device.Stored, _ = solver.StoredLayers(nil, t.weights) // LoadTrained has the error, after those of the net
	n, err := cli.BuildNet(file, caffepb.Phase_TEST, &t.state, swnet.Options{Device: device, Economise: true, ForwardOnly: true})
	if err != nil {
		return err
	}
	defer n.Close()
	if _, err := solver.LoadTrained(n, t.weights, e.Log); err != nil {
		return err
	}
	return use(n)
}

// warnUnfed warns of inputs, in a command that takes data from the net's own layers alone.
func warnUnfed(e *cli.Env, n *swnet.Net) {
	if inputs := unfed(n); inputs != "" {
		e.Log.Warnf("%s type Input, which gets no data here and is 0: give a net with data layers, as a train_val.prototxt", inputs)
	}
}

// unfed names the Input layers, with "has" or "have"; "" if there is none.
func unfed(n *swnet.Net) string {
	var names []string
	for i := range n.NumLayers() {
		if n.LayerType(i) == "Input" {
			names = append(names, strconv.Quote(n.LayerName(i)))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "Layer " + names[0] + " has"
	}
	return "Layers " + strings.Join(names, ", ") + " have"
}

// repeats is what a command has said of items that repeat. Whether they do may only be known after the last batch.
type repeats struct{ said []string }

// tell warns of data layers that read items more than once in a number of batches, once each. flag names the number.
func (r *repeats) tell(e *cli.Env, n *swnet.Net, flag string, batches int) error {
	list, err := evaluate.Repetitions(n, batches, false)
	for _, p := range list {
		if !slices.Contains(r.said, p.Layer) {
			r.said = append(r.said, p.Layer)
			e.Log.Warn(p.Text(flag))
		}
	}
	return err
}
