package net

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// param is one weight of one layer.
type param struct {
	blob      *blob.Blob
	node      *node
	index     int // in the layer's Params
	name      string
	learnable int  // index in Net.learnable: its own or its owner's entry
	shared    bool // another layer owns it
	needGrad  bool
}

// weights holds a net's weights, and those of them that the solver updates.
type weights struct {
	params    []param
	learnable []Learnable
}

// Learnable is a weight that the solver updates. A weight shared by several layers appears once, under its first layer, the owner.
type Learnable struct {
	Blob      *blob.Blob
	Layer     string // the owner's name
	Index     int    // in the owner's Params
	LayerID   int    // the owner's index in the net; no earlier layer uses the weight
	LRMult    float32
	DecayMult float32

	hasLR, hasDecay bool
}

// Learnable returns the weights in the order of their first appearance.
func (n *Net) Learnable() []Learnable { return n.learnable }

// appendParams records the weights of a layer after its SetUp.
func (n *Net) appendParams(d *node) error {
	if have, given := len(d.Params()), len(d.param.Param); given > have {
		return fmt.Errorf("too many params specified: %d for a layer with %d weight blobs", given, have)
	}
	for i, b := range d.Params() {
		spec := &caffepb.ParamSpec{}
		if i < len(d.param.Param) {
			spec = d.param.Param[i]
		}
		need := spec.GetLrMult() != 0
		d.NeedsBackward = d.NeedsBackward || need
		d.paramIDs = append(d.paramIDs, len(n.params))
		p := param{blob: b, node: d, index: i, name: spec.GetName(), needGrad: need}
		if owner := n.paramOwner(spec.GetName()); owner != nil {
			if err := n.share(&p, owner, spec); err != nil {
				return err
			}
		} else {
			p.learnable = len(n.learnable)
			n.learnable = append(n.learnable, Learnable{
				Blob: b, Layer: d.param.GetName(), Index: i, LayerID: len(n.nodes) - 1,
				LRMult: spec.GetLrMult(), DecayMult: spec.GetDecayMult(),
				hasLR: spec.LrMult != nil, hasDecay: spec.DecayMult != nil,
			})
		}
		n.params = append(n.params, p)
	}
	for _, id := range d.TopIDs {
		n.needBackward[id] = n.needBackward[id] || d.NeedsBackward
	}
	return nil
}

// learningRates returns the lr_mult of a layer's ParamSpecs.
func learningRates(p *caffepb.LayerParameter) []float32 {
	rates := make([]float32, len(p.Param))
	for i, spec := range p.Param {
		rates[i] = spec.GetLrMult()
	}
	return rates
}

// frozen reports whether the prototxt gives weight i of a layer lr_mult 0.
func (d *node) frozen(i int) bool { return i < len(d.given) && d.given[i] == 0 }

// paramOwner returns the first weight with the given name, or nil.
func (n *Net) paramOwner(name string) *param {
	if name == "" {
		return nil
	}
	for i := range n.params {
		if n.params[i].name == name {
			return &n.params[i]
		}
	}
	return nil
}

// share makes p use the values and gradients of owner, the first weight with its name.
func (n *Net) share(p, owner *param, spec *caffepb.ParamSpec) error {
	layer, ownerLayer := p.node.param.GetName(), owner.node.param.GetName()
	n.log.Infof("Sharing parameters '%s' owned by layer '%s', param index %d", p.name, ownerLayer, owner.index)
	refuse := func(what string) error {
		return fmt.Errorf("cannot share param %q owned by layer %q with layer %q; %s mismatch: the owner's shape is %s, the sharing layer expects %s",
			p.name, ownerLayer, layer, what, owner.blob.ShapeString(), p.blob.ShapeString())
	}
	if spec.GetShareMode() == caffepb.ParamSpec_PERMISSIVE {
		if p.blob.Count() != owner.blob.Count() {
			return refuse("count")
		}
	} else if !slices.Equal(p.blob.Shape(), owner.blob.Shape()) {
		return refuse("shape")
	}
	p.learnable, p.shared = owner.learnable, true
	p.blob.ShareData(owner.blob)
	p.blob.ShareDiff(owner.blob)
	l := &n.learnable[p.learnable]
	if spec.LrMult != nil {
		if l.hasLR && l.LRMult != spec.GetLrMult() {
			return fmt.Errorf("shared param %q has mismatched lr_mult: %g here, %g in layer %q", p.name, spec.GetLrMult(), l.LRMult, ownerLayer)
		}
		l.hasLR, l.LRMult = true, spec.GetLrMult()
	}
	if spec.DecayMult != nil {
		if l.hasDecay && l.DecayMult != spec.GetDecayMult() {
			return fmt.Errorf("shared param %q has mismatched decay_mult: %g here, %g in layer %q", p.name, spec.GetDecayMult(), l.DecayMult, ownerLayer)
		}
		l.hasDecay, l.DecayMult = true, spec.GetDecayMult()
	}
	return nil
}
