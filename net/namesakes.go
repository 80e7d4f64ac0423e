package net

import "slices"

// namesakes holds a net's layers by their names, those of one name in the order of the net. A name may be empty.
type namesakes map[string][]*node

// addName registers d under its name. It logs a warning if an earlier layer has the same name and one of the two has weights, unless these are shared: files
// keep the weights of both, in the order of the layers, but Caffe restores the first alone.
func (n *Net) addName(d *node) {
	name := d.param.GetName()
	earlier := n.named[name]
	n.named[name] = append(earlier, d)
	if len(earlier) == 0 {
		return
	}
	shared := len(earlier[0].Params()) == len(d.Params()) && !slices.ContainsFunc(d.paramIDs, func(id int) bool { return !n.params[id].shared })
	if len(earlier[0].Params())+len(d.Params()) > 0 && !shared {
		n.log.Warnf("Two layers are named %q: snapshots keep the weights of both in the order of the layers, but Caffe restores weights by name and would "+
			"give them to one of the two", name)
	}
}

// hasWeights reports whether a layer has weights, own ones or shared ones.
func (d *node) hasWeights() bool { return len(d.Params()) > 0 }

// pairing assigns the layers of a file, or of another net, to those of a net: of several layers with weights and one name, the first to the first and so
// on. Surplus ones go to the last, as in Caffe, where later weights overwrite earlier ones.
type pairing struct {
	named namesakes
	used  map[string]int
}

func (n *Net) pairing() *pairing { return &pairing{n.named, map[string]int{}} }

// next returns the layer for the next one of a name, nil if there is none. weights tells whether that one has weights.
func (p *pairing) next(name string, weights bool) *node {
	all := p.named[name]
	if len(all) == 0 {
		return nil
	}
	var fit []*node
	for _, d := range all {
		if d.hasWeights() == weights {
			fit = append(fit, d)
		}
	}
	if len(fit) == 0 {
		return all[0]
	}
	if !weights {
		return fit[0]
	}
	k := p.used[name]
	p.used[name]++
	return fit[min(k, len(fit)-1)]
}
