package net

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/layers"
)

// Explanation weighs the algorithms for a direction of a layer.
type Explanation struct {
	Layer     string
	Direction shape.Direction // of the layer; a deconvolution's forward pass is the input gradient of a convolution
	*op.Explanation
}

// Explain weighs the algorithms for all directions that a layer computes: of convolutions, inner products, recurrent layers and poolings. A
// direction that takes several products has an Explanation for each. Layers of other types compute in one way. The name may also be a regular
// expression for the whole names of layers that have a choice.
func (n *Net) Explain(name string) (all []Explanation, err error) {
	list, err := n.matching(name)
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		if all, err = n.explain(all, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// matching returns the index of the layer of a name, or those of the layers with a choice whose names match it.
func (n *Net) matching(name string) (list []int, err error) {
	if i := slices.IndexFunc(n.nodes, func(m *node) bool { return m.param.GetName() == name }); i >= 0 {
		return []int{i}, nil
	}
	pattern, err := regexp.Compile("^(?:" + name + ")$")
	for i := range n.nodes {
		if _, ok := n.Layer(i).(layers.Explainer); ok && err == nil && pattern.MatchString(n.LayerName(i)) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, suggest.Unknown("layer", name, "layers that have a choice of algorithms", n.explained())
	}
	return list, nil
}

// explain appends the explanations of layer i to all.
func (n *Net) explain(all []Explanation, i int) ([]Explanation, error) {
	name := n.LayerName(i)
	if n.opt.Device.Engine == layers.MPE {
		return nil, fmt.Errorf("layer %q: the mpe engine has one way to compute", name)
	}
	l, ok := n.Layer(i).(layers.Explainer)
	if !ok {
		l = onlyWay(n.LayerType(i))
	}
	for _, d := range n.directions(i) {
		list, err := l.Explain(d)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if runs := n.Algorithm(i, d); len(list) == 1 && runs != "" {
				e.Runs = runs
			}
			all = append(all, Explanation{name, d, e})
		}
	}
	return all, nil
}

// onlyWay explains a layer of a type without a choice.
type onlyWay string

func (t onlyWay) Explain(shape.Direction) ([]*op.Explanation, error) {
	return []*op.Explanation{{Problem: string(t)}}, nil
}

// explained lists the names of the layers that have a choice of algorithms.
func (n *Net) explained() (names []string) {
	for i := range n.nodes {
		if _, ok := n.Layer(i).(layers.Explainer); ok {
			names = append(names, n.LayerName(i))
		}
	}
	return names
}

// directions are those that layer i computes.
func (n *Net) directions(i int) []shape.Direction {
	list := []shape.Direction{shape.Forward}
	if n.ComputesGradients(i, WeightGradients) {
		list = append(list, shape.WeightGradient)
	}
	if n.ComputesGradients(i, InputGradients) {
		list = append(list, shape.InputGradient)
	}
	return list
}

// CheckForced looks for convolutions that are not computed with the algorithm that the device asks for by its name. It returns a line for each
// of them, with the reason for each direction. If the algorithm computes no convolution of the net that is an error.
func (n *Net) CheckForced() (others []string, err error) {
	name := n.opt.Device.Force.Name
	if name == "" || n.opt.Device.Engine == layers.MPE {
		return nil, nil
	}
	algorithm, err := plan.FindAlgorithm(name)
	if err != nil {
		return nil, err
	}
	var all []string
	used := false
	for i := range n.nodes {
		l, ok := n.Layer(i).(layers.Strategist)
		if !ok {
			continue
		}
		var reasons, every []string
		computes := false
		for _, d := range n.directions(i) {
			why := l.Refuses(d, name)
			if why == nil {
				used, computes = true, true
				continue
			}
			reason := fmt.Sprintf("%v: %v", d, why)
			if every = append(every, reason); l.Computes(d, algorithm) {
				reasons = append(reasons, reason)
			}
		}
		if all = append(all, fmt.Sprintf("layer %s: %s", n.LayerName(i), strings.Join(every, "; "))); !computes && len(reasons) == 0 {
			reasons = every
		}
		if len(reasons) > 0 {
			others = append(others, fmt.Sprintf("layer %s: %s", n.LayerName(i), strings.Join(reasons, "; ")))
		}
	}
	if len(all) > 0 && !used {
		return nil, fmt.Errorf("algorithm %s can compute no convolution of the net:\n  %s", name, strings.Join(all, "\n  "))
	}
	return others, nil
}
