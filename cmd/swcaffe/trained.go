package main

import (
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// trained says which net is used for inference, in phase TEST, with the weights of a -weights flag.
type trained struct {
	device         *deviceFlags
	state          stateFlags
	model, weights string
	seed           uint64
	share          layers.Share // of the data
}

// use builds the net and has it used.
func (t *trained) use(e *env, use func(*swnet.Net) error) error {
	machine, err := t.device.machine(e)
	if err != nil {
		return err
	}
	defer machine.Close()
	file, err := readNet(e, t.model)
	if err != nil {
		return err
	}
	device := &layers.Device{Engine: t.device.engine, Machine: machine, Random: layers.NewRandom(t.seed), Share: t.share, Log: e.log}
	n, err := buildFile(file, caffepb.Phase_TEST, &t.state, swnet.Options{Device: device, Economise: true, ForwardOnly: true})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := solver.LoadWeights(n, t.weights, e.log); err != nil {
		return err
	}
	return use(n)
}
