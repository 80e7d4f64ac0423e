package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// pass is a named step that changes a plan.
type pass struct {
	name string
	run  func(*Plan) error
	// always: the pass also runs for nets that do not economise. apart: it also runs if layers are kept separate (OneByOne).
	always, apart bool
	fixed         bool // cannot be disabled
}

// passes lists all passes in the order in which they run.
var passes = []pass{
	{name: "fold", run: fold},
	{name: "fuse", run: fuse},
	{name: "finish", run: finish},
	{name: "relu-grad", run: joinReLUGrad},
	{name: "gradients", run: shareGradients},
	{name: "layout", run: layOut},
	{name: "arrange", run: arrange, fixed: true},
	{name: "thin", run: thin},
	{name: "rounded", run: rounded},
	{name: "follow", run: follow},
	{name: "parts", run: part, always: true},
	{name: "whole", run: whole},
	{name: "memory", run: placeMemory, apart: true},
}

// Names lists the passes and fusions that can be disabled.
func Names() []string {
	var names []string
	for _, s := range passes {
		if !s.fixed {
			names = append(names, s.name)
		}
	}
	for _, f := range layers.Fusions() {
		names = append(names, f.Name)
	}
	return names
}

// CheckNames returns an error if the list has a name that is neither a pass nor a fusion.
func CheckNames(list []string) error {
	for _, name := range list {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no pass or fusion %q (there are %s)", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// layoutError is returned if a layer refuses its layout although its traits offer it.
type layoutError struct{ error }

// Make plans a graph whose layers are not fused. If a layer refuses a layout, Make starts again without the layout pass.
func Make(g *Graph) (*Plan, error) {
	p, err := newPlan(g)
	if err != nil {
		return nil, err
	}
	for _, s := range passes {
		if g.leavesOut(s.name) || !s.always && (!g.Economise || g.OneByOne && !s.apart) {
			continue
		}
		err := s.run(p)
		if refused := new(layoutError); errors.As(err, &refused) && !g.leavesOut("layout") {
			p.Release()
			planar := *g
			planar.Without = append(slices.Clone(g.Without), "layout", "thin")
			again, failed := Make(&planar)
			if failed == nil {
				again.note("layout", nil, "all images lie by planes: %v", err)
				again.log("All images lie by planes: %v", err)
				again.Graph = g
			}
			return again, failed
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// newPlan returns a plan with one task for every layer. Layers know from now on whether the net is for inference, on which their traits depend.
func newPlan(g *Graph) (*Plan, error) {
	p := &Plan{Graph: g, pieces: map[blob.Storage]piece{}}
	for _, d := range g.Nodes {
		p.Tasks = append(p.Tasks, alone(d))
	}
	p.wiring = findWiring(g, p.Tasks)
	if !p.infers() {
		return p, nil
	}
	err := p.arrange(p.Tasks)
	for i, t := range p.Tasks {
		p.own[i] = t.traits
	}
	return p, err
}

// infers reports whether the net is for inference: only Forward runs, with weights that seldom change.
func (g *Graph) infers() bool { return g.ForwardOnly && !g.Changing }

// part lets Backward, if it runs at all, do so in two parts for layers whose traits prefer it.
func part(p *Plan) error {
	if p.ForwardOnly {
		return nil
	}
	var names []string
	for _, t := range p.Tasks {
		if t.traits.Parted && t.Part() {
			names = append(names, t.names()...)
		}
	}
	if len(names) > 0 {
		p.note("parts", names, "Backward computes weight gradients first, after which bottoms' values are not needed")
	}
	return nil
}
