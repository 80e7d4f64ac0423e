package net

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Coupling is a layer whose results depend on all items of a batch.
type Coupling struct {
	layers.Coupling
	Layer, Type string
}

// Couplings returns the layers of the net whose results depend on all items that it gets, in their order: workers and core groups that divide a
// batch compute something else in them than one of them alone.
func (n *Net) Couplings() []Coupling { return append(n.coupled(layers.Differs), n.summedLosses()...) }

// summedLosses returns the layers with a loss_weight for a top that has items: the loss adds up the top's values, where the top of a loss layer is
// the mean over the items.
func (n *Net) summedLosses() (list []Coupling) {
	maker := map[int]*node{}
	for _, d := range n.nodes {
		from := d
		if d.kind.Name == "Split" { // it has taken over the loss_weight of its bottom
			from = maker[d.BottomIDs[0]]
		}
		for k, id := range d.TopIDs {
			maker[id] = from
			if d.Loss[k] != 0 && n.items[id] {
				list = append(list, Coupling{layers.SumOverItems, from.param.GetName(), from.param.GetType() + " with a loss_weight"})
			}
		}
	}
	return list
}

// Mixing returns the layers of the net in which the items of a batch meet or change places.
func (n *Net) Mixing() []Coupling { return n.coupled(layers.Differs, layers.Moves) }

func (n *Net) coupled(kinds ...layers.CouplingKind) (list []Coupling) {
	for _, d := range n.nodes {
		if slices.Contains(kinds, d.coupling.Kind) {
			list = append(list, Coupling{d.coupling, d.param.GetName(), d.param.GetType()})
		}
	}
	return list
}

// checkItems finds out what a layer, whose bottoms have their shapes, does with the items of a batch. It returns an error if items move or meet in it
// and this net gets a part of each batch. Items are what layers without bottoms hand out; a layer that reads only blobs without items, as those
// of Parameter layers, is free.
func (n *Net) checkItems(d *node) error {
	d.items = len(d.Bottoms) == 0
	var shapes [][]int
	for i, b := range d.Bottoms {
		var shape []int
		if n.items[d.BottomIDs[i]] {
			d.items, shape = true, slices.Clone(b.Shape())
		}
		shapes = append(shapes, shape)
	}
	if !d.items {
		return nil
	}
	d.coupling = d.kind.Coupling(d.param, shapes)
	for _, k := range d.kind.NamedRows {
		if id := d.BottomIDs[k]; n.items[id] && !n.rows[id] {
			d.coupling = layers.Coupling{Kind: layers.Moves, Why: fmt.Sprintf("takes rows of bottom[%d], %q, that name items of the whole batch by number", k, d.param.Bottom[k])}
		}
	}
	if who := n.opt.Device.Share.Dividers(); who != "" && d.coupling.Kind == layers.Moves {
		return fmt.Errorf("it %s: %s that divide a batch would train another net. One worker uses all cores too; with -workers_strategy sync_easgd1 and others each worker has batches of its own",
			d.coupling.Why, who)
	}
	d.items = d.coupling.Kind != layers.NoItems
	return nil
}

// asLong reports whether a top has the extent of axis 0 of a bottom with items, or the layer has no bottoms. A single value is taken for the loss of all items, also of one.
func (n *Net) asLong(d *node, top *blob.Blob) bool {
	if top.Count() == 1 {
		return false
	}
	for i, b := range d.Bottoms {
		if n.items[d.BottomIDs[i]] && b.NumAxes() > 0 && b.Dim(0) == top.Dim(0) {
			return true
		}
	}
	return len(d.Bottoms) == 0
}

// markItems notes which tops of a layer have items, and which have rows that name an item of this net's part.
func (n *Net) markItems(d *node) {
	rows := d.coupling.Kind == layers.Rows || slices.ContainsFunc(d.BottomIDs, func(id int) bool { return n.rows[id] })
	for i, b := range d.Tops {
		id := d.TopIDs[i]
		n.items[id] = d.items && b.NumAxes() > 0 && (!d.kind.Foreign || n.asLong(d, b))
		n.rows[id] = n.items[id] && rows
	}
}
