package solver

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// statefulLayers visits the layers of the worker's nets that carry values from one Forward to the next.
func (v *Solver) statefulLayers(visit func(net, layer string, arrays [][]float32)) {
	nets := v.nets()
	for i, other := range v.group.others {
		nets = append(nets, namedNet{fmt.Sprint("train ", i+1), other.net})
	}
	for _, n := range nets {
		for i := range n.NumLayers() {
			if l, ok := n.Layer(i).(layers.Stateful); ok && len(l.State()) > 0 {
				visit(n.name, n.LayerName(i), l.State())
			}
		}
	}
}

// layerStates returns what the worker's layers carry from one Forward to the next.
func (v *Solver) layerStates() (all []*caffepb.LayerState) {
	v.statefulLayers(func(net, layer string, arrays [][]float32) {
		all = append(all, &caffepb.LayerState{Net: proto.String(net), Layer: proto.String(layer), Value: slices.Concat(arrays...)})
	})
	return all
}

// setLayerStates restores what layerStates returned. A layer whose state is not stored, or has another size, as after a change of the batch
// size, starts anew, like a layer of a new net.
func (v *Solver) setLayerStates(stored []*caffepb.LayerState) {
	values := map[[2]string][]float32{}
	for _, s := range stored {
		values[[2]string{s.GetNet(), s.GetLayer()}] = s.Value
	}
	v.statefulLayers(func(net, layer string, arrays [][]float32) {
		from, size := values[[2]string{net, layer}], 0
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
