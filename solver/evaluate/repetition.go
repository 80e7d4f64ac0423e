package evaluate

import (
	"fmt"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// Repetition is a data layer that reads items more than once in a number of batches.
type Repetition struct {
	Layer, Type           string
	Batches, Batch, Items uint64
}

// Text says what is read, with all numbers. batches names the number of batches, as "test_iter".
func (r Repetition) Text(batches string) string {
	return fmt.Sprintf("layer %q (%s): %s %d times batch size %d reads %d items, but there are only %d: items repeat, and some count more than others",
		r.Layer, r.Type, batches, r.Batches, r.Batch, r.Batches*r.Batch, r.Items)
}

// Repetitions lists the data layers of a net that read items more than once in a number of batches. With count set, items whose number is not known are
// counted, which may read as many of them as the batches would.
func Repetitions(n *swnet.Net, batches int, count bool) (list []Repetition, err error) {
	for i := range n.NumLayers() {
		finite, ok := n.Layer(i).(layers.Finite)
		shared, reads := n.Layer(i).(layers.Sharer)
		if !ok || !reads {
			continue
		}
		r := Repetition{Layer: n.LayerName(i), Type: n.LayerType(i), Batches: uint64(max(0, batches)), Batch: uint64(shared.Window().Count)}
		most := uint64(0)
		if count {
			most = r.Batches * r.Batch
		}
		if r.Items, err = finite.Items(most); err != nil {
			return nil, fmt.Errorf("layer %q: %w", r.Layer, err)
		}
		if r.Items > 0 && r.Items < r.Batches*r.Batch {
			list = append(list, r)
		}
	}
	return list, nil
}
