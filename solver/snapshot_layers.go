package solver

import (
	"fmt"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// statefulLayers visits the layers of the worker's nets that carry values from one Forward to the next.
func (v *Solver) statefulLayers(visit func(net, layer string, l layers.Stateful)) {
	nets := v.nets()
	for i, other := range v.group.others {
		nets = append(nets, namedNet{fmt.Sprint("train ", i+1), other.net})
	}
	for _, n := range nets {
		for i := range n.NumLayers() {
			if l, ok := n.Layer(i).(layers.Stateful); ok {
				visit(n.name, n.LayerName(i), l)
			}
		}
	}
}

// setLayerStates restores what layers of a footing carried. A layer whose state is not stored, or has another size, as after a change of the batch
// size, starts anew, like a layer of a new net.
func (v *Solver) setLayerStates(stored []*caffepb.LayerState) {
	values := map[[2]string][]float32{}
	for _, s := range stored {
		values[[2]string{s.GetNet(), s.GetLayer()}] = s.Value
	}
	v.statefulLayers(func(net, layer string, l layers.Stateful) {
		arrays, from, size := l.State(), values[[2]string{net, layer}], 0
		for _, a := range arrays {
			size += len(a)
		}
		if len(from) != size {
			v.log.Warnf("Layer %q of the %s net starts from zeros: the snapshot has %d values of its state, it needs %d", layer, net, len(from), size)
			return
		}
		for _, a := range arrays {
			from = from[copy(a, from):]
		}
	})
}
