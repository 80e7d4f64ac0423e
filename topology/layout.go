package topology

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// Mapping is the placement of consecutive ranks on nodes.
type Mapping string

const (
	// Block fills one supernode after the other: rank r is on node r.
	Block Mapping = "block"
	// RoundRobin deals ranks to the supernodes: with S supernodes, rank r is in supernode r mod S. If P ranks do not fill S supernodes, each
	// has P/S ranks, rounded up or down.
	RoundRobin Mapping = "round_robin"
)

var mappings = suggest.Table[Mapping]{Kind: "mapping", Kinds: "mappings", Name: func(m Mapping) string { return string(m) }, Entries: []Mapping{Block, RoundRobin}}

// ParseMapping returns the mapping with the given name.
func ParseMapping(name string) (Mapping, error) { return mappings.Find(name) }

// Layout maps ranks to supernodes; each rank has a node of its own.
type Layout struct {
	Mapping    Mapping
	supernode  []int // supernode of each rank
	supernodes int
}

// Flat is the layout of ranks under one switch.
func Flat(ranks int) Layout {
	return Layout{Mapping: Block, supernode: make([]int, ranks), supernodes: 1}
}

// NewLayout places ranks on the smallest number of a cluster's supernodes that can hold them.
func NewLayout(spec Spec, ranks int, m Mapping) (Layout, error) {
	if ranks < 1 || ranks > spec.Nodes {
		return Layout{}, fmt.Errorf("cluster %q has %d nodes; %d were asked for", spec.Name, spec.Nodes, ranks)
	}
	q := spec.NodesPerSupernode
	l := Layout{Mapping: m, supernode: make([]int, ranks), supernodes: (ranks + q - 1) / q}
	for r := range l.supernode {
		if m == RoundRobin {
			l.supernode[r] = r % l.supernodes
		} else {
			l.supernode[r] = r / q
		}
	}
	return l, nil
}

// Ranks returns the number of ranks.
func (l Layout) Ranks() int { return len(l.supernode) }

// Supernodes returns the number of supernodes that have ranks.
func (l Layout) Supernodes() int { return l.supernodes }

// Supernode returns the supernode of a rank.
func (l Layout) Supernode(rank int) int { return l.supernode[rank] }

// groups returns the given ranks by supernode, each group in the order given.
func (l Layout) groups(ranks []int) [][]int {
	groups := make([][]int, l.supernodes)
	for _, r := range ranks {
		s := l.supernode[r]
		groups[s] = append(groups[s], r)
	}
	return groups
}

// dealOut orders ranks round-robin over supernodes: the first of each, then the second of each, and so on.
func (l Layout) dealOut(ranks []int) []int {
	groups := l.groups(ranks)
	out := make([]int, 0, len(ranks))
	for i := 0; len(out) < len(ranks); i++ {
		for _, g := range groups {
			if i < len(g) {
				out = append(out, g[i])
			}
		}
	}
	return out
}

// gather orders ranks by supernode.
func (l Layout) gather(ranks []int) []int {
	out := make([]int, 0, len(ranks))
	for _, g := range l.groups(ranks) {
		out = append(out, g...)
	}
	return out
}

// sizes returns the number of ranks in each supernode.
func (l Layout) sizes() []int {
	sizes := make([]int, l.supernodes)
	for _, s := range l.supernode {
		sizes[s]++
	}
	return sizes
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
