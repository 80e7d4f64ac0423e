package netdraw

import (
	"cmp"
	"slices"
)

// sweeps is the number of passes that improve the orders, downwards and upwards alternately.
const sweeps = 24

// orderRanks chooses the order in each rank. A sweep moves each node to the mean of its neighbours' positions in the rank before,
// and then swaps adjacent nodes. It keeps the orders with the fewest crossings.
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

// byMean sorts a rank by the mean order of its segments' other ends. Nodes without segments keep their position.
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

// swap exchanges adjacent nodes as long as this reduces the crossings.
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

// between counts the crossings between the segments of two nodes of a rank if a is left of b.
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

// crossings counts the pairs of crossing segments.
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
