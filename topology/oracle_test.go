package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// programs writes down what ranks do, rank by rank, straight from the algorithms' definitions. Sizes are in elements.
type programs [][]action

func (ps programs) oneWay(from, to, n int, adds bool) {
	added := 0
	if adds {
		added = n
	}
	ps[from] = append(ps[from], action{to: to, from: None, send: n})
	ps[to] = append(ps[to], action{to: None, from: from, recv: n, adds: added})
}

func (ps programs) swap(a, b, fromA, fromB int, adds bool) {
	one, two := action{to: b, from: b, send: fromA, recv: fromB}, action{to: a, from: a, send: fromB, recv: fromA}
	if adds {
		one.adds, two.adds = fromB, fromA
	}
	ps[a], ps[b] = append(ps[a], one), append(ps[b], two)
}

func (ps programs) ring(n int) {
	p := len(ps)
	size := func(i int) int { i = (i + 2*p) % p; return (i+1)*n/p - i*n/p }
	for r := range p {
		for k := range p - 1 {
			ps[r] = append(ps[r], action{to: (r + 1) % p, from: (r + p - 1) % p, send: size(r - k), recv: size(r - k - 1), adds: size(r - k - 1)})
		}
		for k := range p - 1 {
			ps[r] = append(ps[r], action{to: (r + 1) % p, from: (r + p - 1) % p, send: size(r + 1 - k), recv: size(r - k)})
		}
	}
}

func (ps programs) tree(n int) {
	var steps [][2]int // child, parent
	for d := 1; d < len(ps); d *= 2 {
		for child := d; child < len(ps); child += 2 * d {
			steps = append(steps, [2]int{child, child - d})
			ps.oneWay(child, child-d, n, true)
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		ps.oneWay(steps[i][1], steps[i][0], n, false)
	}
}

// folded runs between with as many ranks as the largest power of two, the others' arrays added before it and handed back after it.
func (ps programs) folded(order []int, n int, between func(stay []int)) {
	power := 1
	for power*2 <= len(order) {
		power *= 2
	}
	extras := len(order) - power
	var stay []int
	for i := range extras {
		ps.oneWay(order[2*i], order[2*i+1], n, true)
		stay = append(stay, order[2*i+1])
	}
	between(append(stay, order[2*extras:]...))
	for i := range extras {
		ps.oneWay(order[2*i+1], order[2*i], n, false)
	}
}

func (ps programs) doubling(group []int, n int) {
	for d := 1; d < len(group); d *= 2 {
		for i := range group {
			if i/d%2 == 0 {
				ps.swap(group[i], group[i+d], n, n, true)
			}
		}
	}
}

// halve splits a group in two that exchange halves, does the same in each and calls at the bottom; then it gathers in reverse.
// part returns the elements of segments [a, b), of which group has those from first on.
func (ps programs) halve(group []int, first int, part func(a, b int) int, down bool) {
	half := len(group) / 2
	if half == 0 {
		return
	}
	low, high := part(first, first+half), part(first+half, first+2*half)
	exchange := func() {
		for i := range half {
			if down {
				ps.swap(group[i], group[half+i], high, low, true)
			} else {
				ps.swap(group[i], group[half+i], low, high, false)
			}
		}
	}
	if down {
		exchange()
	}
	ps.halve(group[:half], first, part, down)
	ps.halve(group[half:], first+half, part, down)
	if !down {
		exchange()
	}
}

// halvingDoubling works on elements [lo, hi).
func (ps programs) halvingDoubling(group []int, lo, hi int) {
	part := func(a, b int) int { return b*(hi-lo)/len(group) - a*(hi-lo)/len(group) }
	ps.halve(group, 0, part, true)
	ps.halve(group, 0, part, false)
}

// bySupernode returns the ranks of each supernode.
func bySupernode(supernode []int) [][]int {
	var out [][]int
	for r, s := range supernode {
		for len(out) <= s {
			out = append(out, nil)
		}
		out[s] = append(out[s], r)
	}
	return out
}

// topology folds neighbours inside supernodes and deals those that stay.
func (ps programs) topology(supernode []int, n int) {
	var order []int
	for _, s := range bySupernode(supernode) {
		order = append(order, s...)
	}
	ps.folded(order, n, func(stay []int) {
		queues := make([][]int, len(ps))
		for _, r := range stay {
			queues[supernode[r]] = append(queues[supernode[r]], r)
		}
		var dealt []int
		for len(dealt) < len(stay) {
			for s := range queues {
				if len(queues[s]) > 0 {
					dealt, queues[s] = append(dealt, queues[s][0]), queues[s][1:]
				}
			}
		}
		ps.halvingDoubling(dealt, 0, n)
	})
}

func (ps programs) hierarchical(supernode []int, n int) {
	g := len(ps)
	for _, s := range bySupernode(supernode) {
		g = min(g, len(s))
	}
	for g&(g-1) != 0 {
		g--
	}
	var groups [][]int
	var pairs [][2]int
	for _, s := range bySupernode(supernode) {
		whole := len(s) / g * g
		for i := whole; i < len(s); i++ {
			pairs = append(pairs, [2]int{s[i], s[i-whole]})
		}
		for i := 0; i < whole; i += g {
			groups = append(groups, s[i:i+g])
		}
	}
	for _, p := range pairs {
		ps.oneWay(p[0], p[1], n, true)
	}
	part := func(a, b int) int { return b*n/g - a*n/g }
	for _, group := range groups {
		ps.halve(group, 0, part, true)
	}
	for member := range g {
		var across []int
		for _, group := range groups {
			across = append(across, group[member])
		}
		lo, hi := member*n/g, (member+1)*n/g
		ps.folded(across, hi-lo, func(stay []int) { ps.halvingDoubling(stay, lo, hi) })
	}
	for _, group := range groups {
		ps.halve(group, 0, part, false)
	}
	for _, p := range pairs {
		ps.oneWay(p[1], p[0], n, false)
	}
}

func programsOf(algorithm string, supernode []int, n int) programs {
	ps := make(programs, len(supernode))
	all := make([]int, len(supernode))
	for i := range all {
		all[i] = i
	}
	switch algorithm {
	case "ring":
		ps.ring(n)
	case "binomial_tree":
		ps.tree(n)
	case "recursive_doubling":
		ps.folded(all, n, func(stay []int) { ps.doubling(stay, n) })
	case "halving_doubling":
		ps.folded(all, n, func(stay []int) { ps.halvingDoubling(stay, 0, n) })
	case "topology":
		ps.topology(supernode, n)
	case "hierarchical":
		ps.hierarchical(supernode, n)
	}
	return ps
}

// TestAgainstBruteForce: on random clusters, for every number of ranks up to 17, both mappings and lengths from nothing on, every
// collective's simulation is the oracle's.
func TestAgainstBruteForce(t *testing.T) {
	racing.SkipSequential(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...float64) float64 { return of[random.IntN(len(of))] }
	for p := 1; p <= 17; p++ {
		for range 3 {
			q := 1 + random.IntN(p+2)
			spec := Spec{
				Name: "random", Nodes: 64, NodesPerSupernode: q, BytesPerSecond: pick(1e9, 5.91e9, 12.5e9), Oversubscription: pick(0.5, 1, 2, 4, 7.3),
				Latency: VTime(pick(0, 1e-6, 4e-5)), UplinkLatency: VTime(pick(0, 2.5e-6)), ReduceBytesPerSecond: pick(0, 3.1e9, 35.2e9),
			}
			for _, m := range []Mapping{Block, RoundRobin} {
				l := layout(t, spec, p, m)
				supernode := make([]int, p)
				for r := range supernode {
					supernode[r] = r / q
					if m == RoundRobin {
						supernode[r] = r % ((p + q - 1) / q)
					}
				}
				for _, n := range []int{0, 1, p - 1, p + 1, 1029, 100_003} {
					for _, algorithm := range Fixed() {
						ps := programsOf(algorithm, supernode, n)
						for r := range ps {
							for i := range ps[r] {
								a := &ps[r][i]
								a.send, a.recv, a.adds = 4*a.send, 4*a.recv, 4*a.adds
							}
						}
						want := playByBruteForce(t, spec, supernode, ps)
						got := simulate(t, spec, l, NewSchedule(algorithm, l, n))
						name := fmt.Sprintf("%s of %d values over %d ranks, %s by %d, %+v", algorithm, n, p, m, q, spec)
						near(t, name, float64(got.Seconds), float64(want.Seconds), 1e-9)
						got.Seconds, want.Seconds = 0, 0
						if got != want {
							t.Errorf("%s: %+v, want %+v", name, got, want)
						}
					}
				}
			}
		}
	}
}
