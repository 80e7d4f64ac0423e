package netdraw

import "gonum.org/v1/plot/vg"

const (
	gapAcross  = 14  // points between the nodes of a rank
	gapAlong   = 26  // points between ranks
	placements = 200 // number of sweeps
)

// place chooses the positions across. Each sweep moves the nodes of a rank towards positions that make their segments straight,
// as near in the least-squares sense as order and gaps permit.
func (r *ranked) place() {
	for _, rank := range r.ranks {
		var x vg.Length
		for _, n := range rank {
			n.at = x + n.across/2
			x += n.across + gapAcross
		}
	}
	for k := range placements {
		for i := range r.ranks {
			switch {
			case k == placements-1:
				settle(r.ranks[i], true, true)
			case k%2 == 0:
				settle(r.ranks[i], true, false)
			default:
				settle(r.ranks[len(r.ranks)-1-i], false, true)
			}
		}
	}
	r.toOrigin()
}

// straightness is the weight of a segment. Long arrows weigh most.
func straightness(s *segment) vg.Length {
	switch {
	case s.from.box < 0 && s.to.box < 0:
		return 8
	case s.from.box < 0 || s.to.box < 0:
		return 2
	}
	return 1
}

// block is a run of nodes at the least distances; wish is the best position of the first node's centre.
type block struct {
	first, n     int
	wish, weight vg.Length
}

// settle moves the nodes of a rank towards the mean of their neighbours in the rank before or behind. After subtracting the least
// distances between the nodes this is an isotonic regression, solved by pooling of adjacent violators.
func settle(rank []*node, before, behind bool) {
	offset := make([]vg.Length, len(rank)) // distance of each node from the first, if all are at the least distances
	var blocks []block
	for i, n := range rank {
		if i > 0 {
			offset[i] = offset[i-1] + (rank[i-1].across+n.across)/2 + gapAcross
		}
		wish, weight := n.wish(before, behind)
		b := block{i, 1, wish - offset[i], weight}
		for len(blocks) > 0 && blocks[len(blocks)-1].wish > b.wish {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			sum := last.weight + b.weight
			b = block{last.first, last.n + b.n, (last.wish*last.weight + b.wish*b.weight) / sum, sum}
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for i := b.first; i < b.first+b.n; i++ {
			rank[i].at = b.wish + offset[i]
		}
	}
}

// wish returns the best position of a node, and its weight. A node without neighbours stays unless others push it.
func (n *node) wish(before, behind bool) (at, weight vg.Length) {
	if before {
		for _, s := range n.in {
			at, weight = at+straightness(s)*s.from.at, weight+straightness(s)
		}
	}
	if behind {
		for _, s := range n.out {
			at, weight = at+straightness(s)*s.to.at, weight+straightness(s)
		}
	}
	if weight == 0 {
		return n.at, 0.01
	}
	return at / weight, weight
}

// toOrigin moves all nodes so that the leftmost one begins at 0.
func (r *ranked) toOrigin() {
	var left vg.Length
	first := true
	r.each(func(n *node) {
		if first || n.at-n.across/2 < left {
			left, first = n.at-n.across/2, false
		}
	})
	r.each(func(n *node) { n.at -= left })
}

func (r *ranked) each(visit func(n *node)) {
	for _, rank := range r.ranks {
		for _, n := range rank {
			visit(n)
		}
	}
}
