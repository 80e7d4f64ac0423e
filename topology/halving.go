package topology

// halving is the reduce-scatter by recursive halving and the all-gather by recursive doubling of 2^log ranks (R. Rabenseifner, "Optimization
// of Collective Reduction Operations", 2004).
type halving struct {
	log int
	of  Range
}

// scatter is round k of the reduce-scatter. A rank holds 2^(log-k) segments, exchanges half of them with the rank at distance 2^(log-k-1),
// farthest first, and adds to the half that it keeps. At the end rank id has the sum of segment id.
func (h halving) scatter(id, k int) Step {
	distance := 1 << (h.log - k - 1)
	base := id &^ (2*distance - 1)
	keep, give := h.parts(base, distance), h.parts(base+distance, distance)
	if id&distance != 0 {
		keep, give = give, keep
	}
	peer := id ^ distance
	return Step{To: peer, From: peer, Send: give, Recv: keep, Reduce: true}
}

// gather is round k of the all-gather. A rank holds the sums of 2^k segments, and exchanges all with the rank at distance 2^k.
func (h halving) gather(id, k int) Step {
	distance := 1 << k
	base := id &^ (distance - 1)
	peer := id ^ distance
	return Step{To: peer, From: peer, Send: h.parts(base, distance), Recv: h.parts(base^distance, distance)}
}

// step is one round of the reduce-scatter followed by the all-gather.
func (h halving) step(id, round int) Step {
	if round < h.log {
		return h.scatter(id, round)
	}
	return h.gather(id, round-h.log)
}

func (h halving) parts(first, count int) Range { return h.of.parts(first, first+count, 1<<h.log) }

// newHalvingDoubling plans recursive halving and doubling between ranks in their own numbering.
func newHalvingDoubling(l Layout, n int) *Schedule {
	return halvingSchedule(newFold(identity(l.Ranks())), l.Ranks(), n)
}

// newTopology plans swCaffe's topology-aware all-reduce ([SWC] V-A: J. Fang et al., "swCaffe", arXiv 1903.06934): halving and doubling
// between logical ranks that are numbered round-robin over supernodes. With a power of two of supernodes, the large exchanges stay inside
// supernodes. Ranks beyond a power of two are first folded into a neighbour in the same supernode.
func newTopology(l Layout, n int) *Schedule {
	f := newFold(l.gather(identity(l.Ranks())))
	f.stay = l.dealOut(f.stay)
	f.number()
	return halvingSchedule(f, l.Ranks(), n)
}

func halvingSchedule(f *fold, ranks, n int) *Schedule {
	_, log := powerBelow(ranks)
	all := Range{0, n}
	exchange := halving{log, all}.step
	return &Schedule{Ranks: ranks, Elements: n, Rounds: f.rounds(2 * log), Segments: 1 << log, step: func(rank, round int) Step {
		return f.step(rank, round, 2*log, all, exchange)
	}}
}
