package topology

// newBinomialTree plans the reduction of whole arrays to rank 0 along a binomial tree, in ceil(log2 P) rounds, and the broadcast back along
// the same tree.
func newBinomialTree(l Layout, n int) *Schedule {
	p := l.Ranks()
	depth := 0
	for 1<<depth < p {
		depth++
	}
	all := Range{0, n}
	return &Schedule{Ranks: p, Elements: n, Rounds: 2 * depth, Segments: 1, step: func(rank, round int) Step {
		up := round < depth
		distance := 1 << round
		if !up {
			distance = 1 << (2*depth - 1 - round)
		}
		switch {
		case rank%(2*distance) == distance: // this rank is a child in this round
			if up {
				return Step{To: rank - distance, From: None, Send: all}
			}
			return Step{To: None, From: rank - distance, Recv: all}
		case rank%(2*distance) == 0 && rank+distance < p: // this rank is a parent in this round
			if up {
				return Step{To: None, From: rank + distance, Recv: all, Reduce: true}
			}
			return Step{To: rank + distance, From: None, Send: all}
		}
		return idle
	}}
}
