package net

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/net/schedule"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// build makes the layers of a filtered and split net in order, so that every layer knows its bottoms' shapes.
func (n *Net) build(p *caffepb.NetParameter, origin []int) error {
	n.log.Infof("Initializing net %q for phase %v: %d layers", n.name, n.opt.State.GetPhase(), len(p.Layer))
	unread := map[string]bool{}
	values := 0
	for i, lp := range p.Layer {
		if lp.Phase == nil {
			lp.Phase = n.opt.State.GetPhase().Enum()
		}
		d := &node{Node: &schedule.Node{Name: lp.GetName()}, param: lp, origin: origin[i]}
		n.nodes, n.graph.Nodes = append(n.nodes, d), append(n.graph.Nodes, d.Node)
		if err := n.addLayer(p, d, unread); err != nil {
			return errors.Join(n.fail(d, err), n.otherSources(p, p.Layer[i+1:], origin[i+1:], unread))
		}
		for k, t := range d.Tops {
			n.log.Infof("Top shape: %s", t.ShapeString())
			if w := d.Loss[k]; w != 0 {
				n.log.Infof("    with loss weight %s", caffelog.Figure(float64(w)))
			}
			values += t.Count()
		}
		n.log.Infof("Memory required for data: %d", 4*values)
	}
	n.pruneBackward()
	if p.GetForceBackward() {
		n.forceBackward()
	}
	n.findStarts()
	n.selectGradients()
	if err := n.arrangeOverwritten(); err != nil {
		return err
	}
	for id, name := range n.graph.Names {
		if unread[name] && n.ids[name] == id {
			n.graph.Outputs = append(n.graph.Outputs, id)
		}
	}
	slices.SortFunc(n.graph.Outputs, func(a, b int) int { return strings.Compare(n.graph.Names[a], n.graph.Names[b]) })
	for _, id := range n.graph.Outputs {
		n.log.Infof("This network produces output %s", n.graph.Names[id])
	}
	n.log.Info("Network initialization done.")
	return nil
}

// otherSources returns the errors of those of some layers that have no bottoms, after another layer has failed. Nothing but their own files
// decides whether they can be set up.
func (n *Net) otherSources(p *caffepb.NetParameter, rest []*caffepb.LayerParameter, origin []int, unread map[string]bool) error {
	var found []error
	for i, lp := range rest {
		if len(lp.Bottom) > 0 {
			continue
		}
		if lp.Phase == nil {
			lp.Phase = n.opt.State.GetPhase().Enum()
		}
		d := &node{Node: &schedule.Node{Name: lp.GetName()}, param: lp, origin: origin[i]}
		n.nodes = append(n.nodes, d)
		if err := n.addLayer(p, d, unread); err != nil {
			found = append(found, n.fail(d, err))
		}
	}
	return errors.Join(found...)
}

// addLayer makes one layer, wires it and sets it up. It records the layer's weights, and whether the layer takes part in Backward.
func (n *Net) addLayer(p *caffepb.NetParameter, d *node, unread map[string]bool) (err error) {
	defer pages.Catch(&err)
	if d.kind, err = layers.Find(d.param.GetType()); err != nil {
		return err
	}
	if c := len(d.param.PropagateDown); c != 0 && c != len(d.param.Bottom) {
		return fmt.Errorf("propagate_down must be specified either 0 or %d times (once per bottom), not %d times", len(d.param.Bottom), c)
	}
	n.warnIneffective(d)
	if d.device, err = n.deviceFor(d, p); err != nil {
		return err
	}
	d.Layer = d.kind.New(d.param, d.device)
	n.log.Infof("Creating Layer %s", d.param.GetName())
	if err := n.wire(d, unread); err != nil {
		return err
	}
	if err := n.checkItems(d); err != nil {
		return err
	}
	n.log.Infof("Setting up %s", d.param.GetName())
	d.given = learningRates(d.param)
	if err := d.SetUp(d.Bottoms, d.Tops); err != nil {
		return err
	}
	if err := d.Reshape(d.Bottoms, d.Tops); err != nil {
		return err
	}
	n.markItems(d)
	for k, t := range d.Tops {
		if err := n.opt.Device.CheckShape(fmt.Sprintf("top blob %d", k), t.Shape()); err != nil {
			return err
		}
	}
	if len(d.param.Blobs) > 0 && n.opt.WeightsOf == nil {
		if err := d.copyBlobs(d.param.Blobs); err != nil {
			return err
		}
	}
	for _, b := range d.Params() {
		b.Seal() // nobody has seen them
	}
	first := len(n.learnable)
	if err := n.appendParams(d); err != nil {
		return err
	}
	if err := n.checkWeights(first); err != nil {
		return err
	}
	if err := n.checkAhead(d); err != nil {
		return err
	}
	n.addName(d)
	return nil
}

// warnIneffective warns of parameters that layers of d's type do not read.
func (n *Net) warnIneffective(d *node) {
	reads, _ := d.kind.Reads()
	what := "none"
	if len(reads) > 0 {
		what = strings.Join(reads, ", ")
	}
	for _, name := range d.kind.Ineffective(d.param) {
		prepares, also := slices.Contains(d.kind.Prepares, name), ""
		if prepares && n.opt.Prepares {
			continue
		}
		if prepares {
			also = "; only classify and detect prepare images by it"
		}
		n.log.Warn(n.fail(d, fmt.Errorf("%s has no effect in a layer of this type, which reads %s%s", name, what, also)))
	}
	for _, said := range d.kind.IneffectiveFillers(d.param) { // once: in old nets all layers have the same ones
		if !n.said[said] {
			n.said[said] = true
			n.log.Warn(n.fail(d, errors.New(said)))
		}
	}
}

// wire finds a layer's bottoms by name, creates its tops and reads their loss weights.
func (n *Net) wire(d *node, unread map[string]bool) error {
	for j := range d.param.Bottom {
		if err := n.appendBottom(d, j, unread); err != nil {
			return err
		}
	}
	for j := range d.param.Top {
		if err := n.appendTop(d, j, unread); err != nil {
			return err
		}
	}
	if d.kind.Loss || d.kind.AutoTop {
		for len(d.Tops) < d.kind.Tops.Min {
			n.newTop(d, "(automatic)")
		}
	}
	if err := d.kind.CheckBlobs(len(d.Bottoms), len(d.Tops)); err != nil {
		return err
	}
	return n.setLossWeights(d)
}

func (n *Net) appendBottom(d *node, j int, unread map[string]bool) error {
	name := d.param.Bottom[j]
	id, ok := n.ids[name]
	if !ok || !unread[name] {
		return unknownBottom(name, j, unread)
	}
	n.log.Infof("%s <- %s", d.param.GetName(), name)
	delete(unread, name)
	d.Bottoms = append(d.Bottoms, n.graph.Blobs[id])
	d.BottomIDs = append(d.BottomIDs, id)
	need := n.needBackward[id]
	if len(d.param.PropagateDown) > 0 {
		need = d.param.PropagateDown[j]
	}
	d.Propagate = append(d.Propagate, need)
	d.NeedsBackward = d.NeedsBackward || n.needBackward[id]
	return nil
}

func (n *Net) appendTop(d *node, j int, unread map[string]bool) error {
	name := d.param.Top[j]
	_, taken := n.ids[name]
	switch {
	case taken && j < len(d.param.Bottom) && d.param.Bottom[j] == name:
		if !d.kind.InPlace {
			return fmt.Errorf("top blob %q has the name of its bottom, but layers of type %s cannot run in place", name, d.kind.Name)
		}
		n.log.Infof("%s -> %s (in-place)", d.param.GetName(), name)
		d.Tops = append(d.Tops, n.graph.Blobs[n.ids[name]])
		d.TopIDs = append(d.TopIDs, n.ids[name])
	case taken:
		return fmt.Errorf("top blob %q is produced by multiple sources: layer %s makes it already", name, n.maker(n.ids[name]))
	default:
		n.log.Infof("%s -> %s", d.param.GetName(), name)
		n.ids[name] = len(n.graph.Blobs)
		n.newTop(d, name)
	}
	unread[name] = true
	return nil
}

// maker returns the name and the position of the layer that first writes a blob.
func (n *Net) maker(id int) string {
	d := n.nodes[slices.IndexFunc(n.nodes, func(d *node) bool { return slices.Contains(d.TopIDs, id) })]
	name := strconv.Quote(d.param.GetName())
	if n.opt.Pos != nil {
		name += " at " + n.opt.Pos(d.origin)
	}
	return name
}

// newTop creates a new blob as a top of d.
func (n *Net) newTop(d *node, name string) {
	d.TopIDs = append(d.TopIDs, len(n.graph.Blobs))
	b := n.opt.Device.NewBlob(0)
	d.Tops = append(d.Tops, b)
	n.graph.Blobs = append(n.graph.Blobs, b)
	n.graph.Names = append(n.graph.Names, name)
	n.graph.Loss = append(n.graph.Loss, 0)
	n.needBackward = append(n.needBackward, false)
}

// setLossWeights reads loss_weight. By default the first top of a loss layer has weight 1. As in Caffe, snapshots contain that default.
func (n *Net) setLossWeights(d *node) error {
	given := d.param.LossWeight
	if len(given) == 0 && d.kind.Loss {
		given = []float32{1}
	} else if len(given) > 0 && len(given) != len(d.Tops) {
		return fmt.Errorf("loss_weight must be unspecified or specified once per top blob: %d values for %d tops", len(given), len(d.Tops))
	}
	d.Loss = make([]float32, len(d.Tops))
	copy(d.Loss, given)
	if d.kind.Loss {
		d.param.LossWeight = slices.Clone(d.Loss)
	}
	for k, w := range d.Loss {
		if w != 0 {
			n.graph.Loss[d.TopIDs[k]] = w
		}
	}
	return nil
}
