package topology

import "fmt"

// LinkTest is a measurement of links as in [SWC] figure 6 (J. Fang et al., "swCaffe", arXiv 1903.06934): two nodes of a supernode, or all
// nodes of one supernode and of another in pairs, send each other messages of one size.
type LinkTest struct {
	Bytes  int
	Across bool // between two supernodes; all nodes share the uplinks
	Both   bool // in both directions at once
}

// Run returns the bandwidth that a pair of nodes reaches on an idle cluster, in bytes a second, including latency. With Both it is the sum of
// the directions.
func (l LinkTest) Run(spec Spec) (float64, error) {
	pairs := 1
	if l.Across {
		pairs = spec.NodesPerSupernode
	}
	switch {
	case l.Bytes < 1:
		return 0, fmt.Errorf("a message of %d bytes: at least 1 is needed to measure a bandwidth", l.Bytes)
	case !l.Across && spec.NodesPerSupernode < 2:
		return 0, fmt.Errorf("cluster %q has %d node a supernode; links inside a supernode need 2", spec.Name, spec.NodesPerSupernode)
	}
	layout, err := NewLayout(spec, 2*pairs, Block)
	if err != nil {
		return 0, err
	}
	t, err := Simulate(spec, layout, l.schedule(pairs), 1, nil)
	if err != nil {
		return 0, err
	}
	bytes := float64(l.Bytes)
	if l.Both {
		bytes *= 2
	}
	return bytes / float64(t.Seconds), nil
}

// schedule has ranks 0 to pairs-1 send to ranks pairs to 2*pairs-1; with Both these send back at the same time.
func (l LinkTest) schedule(pairs int) *Schedule {
	all := Range{0, l.Bytes}
	return &Schedule{Algorithm: "links", Ranks: 2 * pairs, Elements: l.Bytes, Rounds: 1, step: func(rank, _ int) Step {
		switch {
		case l.Both:
			peer := (rank + pairs) % (2 * pairs)
			return Step{To: peer, From: peer, Send: all, Recv: all}
		case rank < pairs:
			return Step{To: rank + pairs, From: None, Send: all}
		}
		return Step{To: None, From: rank - pairs, Recv: all}
	}}
}
