// Package infer holds the commands that run trained nets: test, classify, detect and extract_features. All of them use a trained: a net
// in phase TEST, with weights from files.
package infer

import (
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
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
	file, err := cli.ReadNet(e, t.model)
	if err != nil {
		return err
	}
	device := &layers.Device{Engine: t.device.Engine, Machine: machine, Random: layers.NewRandom(t.seed), Share: t.share, Log: e.Log}
	n, err := cli.BuildNet(file, caffepb.Phase_TEST, &t.state, swnet.Options{Device: device, Economise: true, ForwardOnly: true})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := solver.LoadWeights(n, t.weights, e.Log); err != nil {
		return err
	}
	return use(n)
}
