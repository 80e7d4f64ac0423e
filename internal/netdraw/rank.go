package netdraw

import (
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"gonum.org/v1/plot/vg"
)

// node is what has a place in a rank: a box, or a bend of an arrow that passes the rank. Across is the direction along a
// rank, along is that from one rank to the next.
type node struct {
	box           int // -1 for a bend
	across, along vg.Length
	in, out       []*segment
	order         int       // in its rank
	at            vg.Length // the centre's place across
	label         string    // of a bend, drawn on it
}

// segment is the part of an arrow between neighbouring ranks.
type segment struct {
	from, to *node
	phases   map[caffepb.Phase]bool
	label    string // drawn on it, if the arrow has no bend
}

// ranked is a graph whose boxes have ranks; every segment leads to the next rank.
type ranked struct {
	ranks    [][]*node
	segments []*segment
}

// wire is a blob of a box; arrows of one wire share their bends.
type wire struct {
	from int
	blob string
}

// rank gives each box the length of the longest way to it, and boxes that read nothing the place right before their first
// reader. Arrows over several ranks get bends.
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

// ranks counts on from the boxes that come first; arrows lead from boxes to later ones.
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

// connect returns the segment between two nodes, a new one if there is none.
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

// labelled gives a bend a name, and room for it.
func (n *node) labelled(name string, vertical bool) {
	l := line{text: name, size: blobSize}
	n.label, n.across, n.along = name, style(l).Width(name)+padding, l.height()
	if !vertical {
		n.across, n.along = n.along, n.across
	}
}
