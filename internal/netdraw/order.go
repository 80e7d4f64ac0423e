package netdraw

import (
	"cmp"
	"slices"
)

// sweeps is how often the orders are improved, downwards and upwards in turn.
const sweeps = 24

// orderRanks chooses the order in each rank: sweeps put each node at the mean of its neighbours' places in the rank before, swaps of
// neighbours follow; the orders with the fewest crossings are kept.
func (r *ranked) orderRanks() {
	r.number()
	best, fewest := r.orders(), r.crossings()
	for k := 0; k < sweeps && fewest > 0; k++ {
		for i := range r.ranks {
			if k%2 == 0 {
				byMean(r.ranks[i], func(n *node) []*segment { return n.in }, func(s *segment) *node { return s.from })
			} else {
				byMean(r.ranks[len(r.ranks)-1-i], func(n *node) []*segment { return n.out }, func(s *segment) *node { return s.to })
			}
		}
		r.swap()
		if c := r.crossings(); c < fewest {
			best, fewest = r.orders(), c
		}
	}
	r.ranks = best
	r.number()
}

func (r *ranked) number() {
	for _, rank := range r.ranks {
		number(rank)
	}
}

func number(rank []*node) {
	for i, n := range rank {
		n.order = i
	}
}

func (r *ranked) orders() [][]*node {
	var orders [][]*node
	for _, rank := range r.ranks {
		orders = append(orders, slices.Clone(rank))
	}
	return orders
}

// byMean sorts a rank by the mean order of the other ends of its segments; nodes without any keep their number.
func byMean(rank []*node, segments func(*node) []*segment, end func(*segment) *node) {
	mean := map[*node]float64{}
	for _, n := range rank {
		list := segments(n)
		if len(list) == 0 {
			mean[n] = float64(n.order)
			continue
		}
		for _, s := range list {
			mean[n] += float64(end(s).order) / float64(len(list))
		}
	}
	slices.SortStableFunc(rank, func(a, b *node) int { return cmp.Compare(mean[a], mean[b]) })
	number(rank)
}

// swap exchanges neighbours as long as that makes fewer crossings.
func (r *ranked) swap() {
	for _, rank := range r.ranks {
		for again := true; again; {
			again = false
			for i := range len(rank) - 1 {
				a, b := rank[i], rank[i+1]
				if between(b, a) < between(a, b) {
					rank[i], rank[i+1] = b, a
					number(rank)
					again = true
				}
			}
		}
	}
}

// between counts the crossings of the segments of two nodes of a rank if a stands left of b.
func between(a, b *node) int {
	n := 0
	for _, s := range a.in {
		for _, t := range b.in {
			if s.from.order > t.from.order {
				n++
			}
		}
	}
	for _, s := range a.out {
		for _, t := range b.out {
			if s.to.order > t.to.order {
				n++
			}
		}
	}
	return n
}

// crossings counts the pairs of segments that cross.
func (r *ranked) crossings() int {
	n := 0
	for _, rank := range r.ranks {
		for i, a := range rank {
			for _, b := range rank[i+1:] {
				for _, s := range a.out {
					for _, t := range b.out {
						if s.to.order > t.to.order {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
