package netdraw

import (
	"github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Graph is a net prepared for drawing.
type Graph struct {
	boxes  []*box
	arrows []arrow
	opt    Options
}

// Options select the layers and details to draw.
type Options struct {
	// States select the layers to draw, of one phase or of both. Layers and blobs of only one of the two phases are dashed and
	// labelled.
	States []*caffepb.NetState
	// RankDir is the direction from inputs to outputs, as in Graphviz: TB, LR, BT or RL.
	RankDir string
	// Rates adds the learning-rate multipliers of each layer's weights.
	Rates bool
	// Shapes adds the shapes of tops, by phase and layer, each as the log has it: "64 1 28 28 (50176)".
	Shapes map[caffepb.Phase]map[string][]string
}

// box is a layer followed by the in-place layers on its blob, in their order.
type box struct {
	layers []*caffepb.LayerParameter
	phases map[caffepb.Phase]bool
}

// arrow is a blob between the box that makes it and a box that reads it.
type arrow struct {
	from, to int // indices of boxes
	blob     string
	named    bool // the blob's name differs from the name of the layer that makes it
	phases   map[caffepb.Phase]bool
}

// edge is an arrow between layers, numbered as in the NetParameter.
type edge struct {
	from, to int
	blob     string
}

// New makes the graph of a net. A layer with contradictory include and exclude rules is an error.
func New(p *caffepb.NetParameter, opt Options) (*Graph, error) {
	present := make([]map[caffepb.Phase]bool, len(p.Layer))
	edges := map[edge]map[caffepb.Phase]bool{}
	var order []edge
	for _, state := range opt.States {
		_, kept, err := net.Filter(p, state)
		if err != nil {
			return nil, err
		}
		phase, producer := state.GetPhase(), map[string]int{}
		for _, i := range kept {
			l := p.Layer[i]
			if present[i] == nil {
				present[i] = map[caffepb.Phase]bool{}
			}
			present[i][phase] = true
			for _, blob := range l.Bottom {
				from, ok := producer[blob]
				if !ok {
					continue // a broken net is still drawn
				}
				e := edge{from, i, blob}
				if edges[e] == nil {
					edges[e] = map[caffepb.Phase]bool{}
					order = append(order, e)
				}
				edges[e][phase] = true
			}
			for _, blob := range l.Top {
				producer[blob] = i
			}
		}
	}
	g := &Graph{opt: opt}
	place := g.stack(p, present, order)
	for _, e := range order {
		if place[e.from] != place[e.to] {
			named := e.blob != g.boxes[place[e.from]].layers[0].GetName()
			g.arrows = append(g.arrows, arrow{place[e.from], place[e.to], e.blob, named, edges[e]})
		}
	}
	return g, nil
}

// stack makes the boxes and returns the box of each layer. A layer joins the box of the layer before if it works in place on that
// layer's blob, no other layer reads the blob, and both have the same phases.
func (g *Graph) stack(p *caffepb.NetParameter, present []map[caffepb.Phase]bool, edges []edge) []int {
	place := make([]int, len(p.Layer))
	for i, l := range p.Layer {
		if present[i] == nil {
			continue
		}
		if from, ok := below(l, i, edges); ok && len(present[from]) == len(present[i]) {
			place[i] = place[from]
			b := g.boxes[place[from]]
			b.layers = append(b.layers, l)
			continue
		}
		place[i] = len(g.boxes)
		g.boxes = append(g.boxes, &box{layers: []*caffepb.LayerParameter{l}, phases: present[i]})
	}
	return place
}

// below returns the layer whose blob layer i changes in place, if i is the only reader of the blob.
func below(l *caffepb.LayerParameter, i int, edges []edge) (from int, ok bool) {
	if len(l.Bottom) != 1 || len(l.Top) != 1 || l.Bottom[0] != l.Top[0] {
		return 0, false
	}
	blob, sources := l.Top[0], 0
	for _, e := range edges {
		if e.to == i {
			from = e.from
			sources++
		}
	}
	readers := 0
	for _, e := range edges {
		if e.from == from && e.blob == blob {
			readers++
		}
	}
	return from, sources == 1 && readers == 1
}
