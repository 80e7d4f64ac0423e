package topology

import "slices"

// costs are the parameters of the closed forms, in the notation of [SWC] V-A (J. Fang et al., "swCaffe", arXiv 1903.06934): alpha seconds a
// message; beta1 seconds a byte inside a supernode, possibly depending on the message's size; beta2 seconds a byte when all ranks of a
// supernode use the uplink; gamma seconds a byte of addition. There are p ranks, q in a full supernode, and s = p/q supernodes. A message
// between supernodes takes alpha + uplinkAlpha, and at least beta1 a byte. (The paper prints beta2 = beta1/4; at a quarter of the bandwidth
// it is 4 beta1.)
//
// The forms are exact if p, q and s are powers of two where the algorithm prefers that. Otherwise they add the fold, and are estimates.
type costs struct {
	ranks, perSupernode, supernodes int
	sizes                           []int // ranks of each supernode
	mapping                         Mapping
	alpha, uplinkAlpha              float64
	beta1                           func(bytes float64) float64
	beta2, gamma                    float64
}

// newCosts derives the parameters from a cluster and a layout.
func newCosts(spec Spec, l Layout) costs {
	c := costs{
		ranks: l.Ranks(), supernodes: l.Supernodes(), sizes: l.sizes(), mapping: l.Mapping,
		alpha: float64(spec.Latency), uplinkAlpha: float64(spec.UplinkLatency),
		beta1: func(bytes float64) float64 { return 1 / spec.messageBandwidth(bytes) },
	}
	c.perSupernode = slices.Max(c.sizes)
	c.beta2 = float64(c.perSupernode) / spec.uplinkBandwidth()
	if spec.ReduceBytesPerSecond > 0 {
		c.gamma = 1 / spec.ReduceBytesPerSecond
	}
	return c
}

// message is the time of a message of n bytes and, with add, of its addition.
func (c costs) message(crosses bool, n float64, add bool) float64 {
	t := c.alpha + n*c.beta1(n)
	if crosses {
		t = c.alpha + c.uplinkAlpha + n*max(c.beta1(n), c.beta2)
	}
	if add {
		t += n * c.gamma
	}
	return t
}

// crosses reports whether ranks at this distance, a power of two, are in different supernodes.
func (c costs) crosses(distance int) bool {
	switch {
	case c.supernodes == 1:
		return false
	case c.mapping == RoundRobin:
		return distance%c.supernodes != 0
	}
	q, _ := powerBelow(c.perSupernode)
	return distance >= q
}

// ring is 2(p-1) (alpha + (n/p) beta) + (p-1)/p n gamma: [TH] 7.2.1 (J. Fang's thesis, Tsinghua University, 2019). With several supernodes,
// the ring's slowest link sets the pace. An uplink carries one message under block mapping, and all of its supernode's messages under
// round-robin.
func (c costs) ring(n float64) VTime {
	p := float64(c.ranks)
	crosses := c.supernodes > 1
	if crosses && c.mapping == Block {
		c.beta2 /= float64(c.perSupernode)
	}
	return VTime((p - 1) * (c.message(crosses, n/p, true) + c.message(crosses, n/p, false)))
}

// recursiveDoubling is log2 p (alpha + n beta + n gamma); beta is beta1 for distances inside a supernode, else beta2.
func (c costs) recursiveDoubling(n float64) VTime {
	power, _ := powerBelow(c.ranks)
	t := c.fold(n)
	for d := 1; d < power; d *= 2 {
		t += c.message(c.crosses(d), n, true)
	}
	return VTime(t)
}

// halvingDoubling is, with ranks contiguous in supernodes ([SWC] V-A):
//
//	reduce-scatter: log2 p alpha + (n/p) ((q-1) beta1 + (p-q) beta2) + (p-1)/p n gamma
//	all-gather:     the same without gamma
//
// With ranks dealt round-robin it equals topology.
func (c costs) halvingDoubling(n float64) VTime {
	return VTime(c.fold(n) + c.halving(n, c.ranks))
}

// topology is halving and doubling between ranks renumbered round-robin ([SWC] V-A):
//
//	reduce-scatter: log2 p alpha + (n/p) ((p - p/q) beta1 + (p/q - 1) beta2) + (p-1)/p n gamma
//	all-gather:     the same without gamma
func (c costs) topology(n float64) VTime {
	fold := c
	fold.mapping = Block // an extra rank folds into a neighbour in its supernode
	c.mapping = RoundRobin
	return VTime(fold.fold(n) + c.halving(n, c.ranks))
}

// binomialTree is 2 ceil(log2 p) (alpha + n beta) + ceil(log2 p) n gamma. Under block mapping an uplink carries one message at a time each
// way.
func (c costs) binomialTree(n float64) VTime {
	if c.mapping == Block {
		c.beta2 /= float64(c.perSupernode)
	}
	t := 0.0
	for d := 1; d < c.ranks; d *= 2 {
		t += c.message(c.crosses(d), n, true) + c.message(c.crosses(d), n, false)
	}
	return VTime(t)
}

// hierarchical is halving and doubling of n bytes inside groups of g = 2^k ranks, around halving and doubling of n/g bytes between the p/g
// groups:
//
//	2 log2 g alpha + 2 (g-1)/g n beta1 + 2 log2(p/g) alpha + 2 (1 - g/p) n/g beta2 + (p-1)/p n gamma
//
// g is the largest power of two that fits the smallest supernode. Larger supernodes have several groups, and fold their remaining ranks.
func (c costs) hierarchical(n float64) VTime {
	g, _ := powerBelow(slices.Min(c.sizes))
	inside, across := c, c
	inside.supernodes = 1
	across.ranks, across.perSupernode, across.mapping = 0, c.perSupernode/g, Block
	t := inside.halving(n, g)
	folded := false
	for _, size := range c.sizes {
		across.ranks += size / g
		folded = folded || size%g != 0
	}
	if folded {
		t += c.message(false, n, true) + c.message(false, n, false)
	}
	shard := n / float64(g)
	return VTime(t + across.fold(shard) + across.halving(shard, across.ranks))
}

// halving is the reduce-scatter and all-gather of n bytes between the largest power of two of ranks.
func (c costs) halving(n float64, ranks int) float64 {
	power, _ := powerBelow(ranks)
	t := 0.0
	for d := power / 2; d >= 1; d /= 2 {
		part := n * float64(d) / float64(power)
		t += c.message(c.crosses(d), part, true) + c.message(c.crosses(d), part, false)
	}
	return t
}

// fold is the additional time for ranks beyond a power of two: whole arrays to a neighbour and back.
func (c costs) fold(n float64) float64 {
	if power, _ := powerBelow(c.ranks); power == c.ranks {
		return 0
	}
	return c.message(c.crosses(1), n, true) + c.message(c.crosses(1), n, false)
}
