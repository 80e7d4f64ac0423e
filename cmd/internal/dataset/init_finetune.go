package dataset

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
)

// Rates of a finetuning: that of the kept layers is a tenth of the usual one, that of the new layer the usual one.
const (
	keptRate = 0.1
	newRate  = 1 / keptRate
)

// finetune prepares the net for a training that begins with weights from files. The layer with outputs for the classes is new: it gets a name
// that the files do not have. Weights of the other layers must fit those of the files that have their names, and there must be some.
func (p *trainingPlan) finetune(e *cli.Env) error {
	b := p.base
	if b.layers == nil {
		var net caffepb.NetParameter
		if _, err := swproto.UnmarshalText(p.net.name, []byte(p.fill(p.net.name, "scores")), &net); err != nil {
			return err
		}
		b.layers, b.head = net.Layer, net.Layer[len(net.Layer)-1]
	}
	b.rate *= keptRate
	b.head.Param = []*caffepb.ParamSpec{{LrMult: proto.Float32(newRate), DecayMult: proto.Float32(1)}}
	if biased(b.head) {
		b.head.Param = append(b.head.Param, &caffepb.ParamSpec{LrMult: proto.Float32(2 * newRate), DecayMult: proto.Float32(0)})
	}
	for {
		b.head.Name = proto.String(b.head.GetName() + "_new")
		taken, err := p.tryWeights(e)
		if err != nil || !taken {
			return err
		}
	}
}

// biased reports whether a classifier has biases.
func biased(l *caffepb.LayerParameter) bool {
	if l.InnerProductParam != nil {
		return l.InnerProductParam.GetBiasTerm()
	}
	return l.ConvolutionParam.GetBiasTerm()
}

// tryWeights loads the weights into the net. It reports whether the files have a layer with the name of the new one.
func (p *trainingPlan) tryWeights(e *cli.Env) (taken bool, err error) {
	var net caffepb.NetParameter
	if _, err := swproto.UnmarshalText(deployFile, []byte(p.deployText()), &net); err != nil {
		return false, err
	}
	device := cli.DeviceFlags{EngineName: "cpe", MachineName: "host"}
	machine, err := device.NewMachine(e)
	if err != nil {
		return false, err
	}
	defer machine.Close()
	n, err := swnet.New(&net, swnet.Options{
		State:  &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()},
		Device: &layers.Device{Engine: device.Engine, Machine: machine, Random: layers.NewRandom(p.seed)}, Economise: true, ForwardOnly: true,
	})
	if err != nil {
		return false, err
	}
	defer n.Close()
	stored, err := solver.StoredLayers(n, p.weights)
	if err != nil || stored[p.base.head.GetName()] {
		return err == nil, err
	}
	if err := solver.LoadWeights(n, p.weights, e.Log); err != nil {
		return false, fmt.Errorf("%w; is it a file of weights for the net %s?", err, p.base.title)
	}
	kept, all := map[string]bool{}, map[string]bool{}
	for _, w := range n.Learnable() {
		if all[w.Layer] = true; stored[w.Layer] {
			kept[w.Layer] = true
		}
	}
	if len(kept) == 0 {
		return false, fmt.Errorf("%s has weights for no layer of the net %s: their names differ", p.weights, p.base.title)
	}
	e.Log.Infof("%d of %d layers with weights take them from %s; layer %s is new", len(kept), len(all), p.weights, p.base.head.GetName())
	return false, nil
}
