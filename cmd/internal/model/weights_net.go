package model

import (
	"flag"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// weightsNet is the net of export_weights and import_weights, and the names of its weights elsewhere.
type weightsNet struct {
	model, names string
	state        cli.StateFlags
}

func (o *weightsNet) register(fs *flag.FlagSet) {
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE`, usually a deploy.prototxt", cli.Prototxt)
	cli.StringVar(fs, &o.names, "names", "", "a `FILE` with the names that weights have elsewhere: lines such as conv1/0 = features.0.weight", cli.AnyFile)
	o.state.Register(fs)
}

// open builds the net in phase TEST and reads the names. The result done releases the net.
func (o *weightsNet) open(e *cli.Env) (n *swnet.Net, own []netWeight, m *mapping, done func(), err error) {
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	machine, err := (&cli.DeviceFlags{EngineName: "mpe", MachineName: "host"}).NewMachine(e)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	device := &layers.Device{Engine: layers.MPE, Machine: machine, Random: layers.NewRandom(1), Log: e.Log}
	if n, err = cli.BuildNet(file, caffepb.Phase_TEST, &o.state, swnet.Options{Device: device, ForwardOnly: true, Changing: true}); err != nil {
		machine.Close()
		return nil, nil, nil, nil, err
	}
	done = func() { n.Close(); machine.Close() }
	if own, err = ownWeights(n); err == nil {
		m, err = readMapping(o.names, own)
	}
	if err != nil {
		done()
		return nil, nil, nil, nil, err
	}
	return n, own, m, done, nil
}
