package netdraw

import (
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"gonum.org/v1/plot/vg"
)

// node is an element of a rank: a box, or a bend of an arrow that passes through the rank. Across is the direction within a rank,
// along the direction from one rank to the next.
type node struct {
	box           int // -1 for a bend
	across, along vg.Length
	in, out       []*segment
	order         int       // position in its rank
	at            vg.Length // position of its centre across
	label         string    // for a bend: the text drawn on it
}

// segment is the part of an arrow between neighbouring ranks.
type segment struct {
	from, to *node
	phases   map[caffepb.Phase]bool
	label    string // the text drawn on it, if the arrow has no bend
}

// ranked is a graph whose boxes have ranks. Every segment leads to the next rank.
type ranked struct {
	ranks    [][]*node
	segments []*segment
}

// wire is a blob of a box. The arrows of one wire share their bends.
type wire struct {
	from int
	blob string
}

// rank gives each box the length of the longest path to it. Boxes without inputs get the rank before their first reader. Arrows
// over several ranks get bends.
func (g *Graph) rank(vertical bool) *ranked {
	ranks := g.ranks()
	r := &ranked{ranks: make([][]*node, slices.Max(append(slices.Clone(ranks), -1))+1)}
	nodes := make([]*node, len(g.boxes))
	for i, b := range g.boxes {
		width, height := g.size(b)
		nodes[i] = &node{box: i, across: width, along: height}
		if !vertical {
			nodes[i].across, nodes[i].along = height, width
		}
		r.ranks[ranks[i]] = append(r.ranks[ranks[i]], nodes[i])
	}
	chains := map[wire][]*node{}
	for _, a := range g.arrows {
		w := wire{a.from, a.blob}
		span := ranks[a.to] - ranks[a.from]
		last := nodes[a.from]
		for k := range span - 1 {
			if k == len(chains[w]) {
				bend := &node{box: -1}
				if k == 0 && a.named {
					bend.labelled(a.blob, vertical)
				}
				chains[w] = append(chains[w], bend)
				r.ranks[ranks[a.from]+k+1] = append(r.ranks[ranks[a.from]+k+1], bend)
			}
			r.connect(last, chains[w][k], a.phases)
			last = chains[w][k]
		}
		s := r.connect(last, nodes[a.to], a.phases)
		if a.named && span == 1 {
			s.label = a.blob
		}
	}
	return r
}

// ranks computes the longest path to each box. Arrows lead from earlier boxes to later ones, so one pass suffices.
func (g *Graph) ranks() []int {
	ranks, reads := make([]int, len(g.boxes)), make([]bool, len(g.boxes))
	slices.SortStableFunc(g.arrows, func(a, b arrow) int { return a.to - b.to })
	for _, a := range g.arrows {
		ranks[a.to] = max(ranks[a.to], ranks[a.from]+1)
		reads[a.to] = true
	}
	for i := range ranks {
		if reads[i] {
			continue
		}
		first := -1
		for _, a := range g.arrows {
			if a.from == i && (first < 0 || ranks[a.to] < first) {
				first = ranks[a.to]
			}
		}
		ranks[i] = max(0, first-1)
	}
	return ranks
}

// connect returns the segment between two nodes, and creates it if there is none.
func (r *ranked) connect(from, to *node, phases map[caffepb.Phase]bool) *segment {
	i := slices.IndexFunc(from.out, func(s *segment) bool { return s.to == to })
	if i < 0 || to.box >= 0 && from.box >= 0 {
		s := &segment{from: from, to: to, phases: map[caffepb.Phase]bool{}}
		from.out, to.in = append(from.out, s), append(to.in, s)
		r.segments = append(r.segments, s)
		i = len(from.out) - 1
	}
	for p := range phases {
		from.out[i].phases[p] = true
	}
	return from.out[i]
}

// labelled gives a bend a name, and space for it.
func (n *node) labelled(name string, vertical bool) {
	l := line{text: name, size: blobSize}
	n.label, n.across, n.along = name, style(l).Width(name)+padding, l.height()
	if !vertical {
		n.across, n.along = n.along, n.across
	}
}
