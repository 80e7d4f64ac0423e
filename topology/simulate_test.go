package topology

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// testSpec has round figures: 10 GB/s, 2 us, 4 GB/s of additions.
func testSpec(nodes, perSupernode int, oversubscription float64) Spec {
	return Spec{
		Name: "test", Nodes: nodes, NodesPerSupernode: perSupernode, BytesPerSecond: 10e9, Latency: 2e-6,
		Oversubscription: oversubscription, UplinkLatency: 3e-6, ReduceBytesPerSecond: 4e9,
	}
}

func layout(t testing.TB, spec Spec, ranks int, m Mapping) Layout {
	t.Helper()
	l, err := NewLayout(spec, ranks, m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func simulate(t testing.TB, spec Spec, l Layout, s *Schedule) Timing {
	t.Helper()
	timing, err := Simulate(spec, l, s, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	return timing
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %.12g, want %.12g within %g of it", what, got, want, tolerance)
	}
}

// TestUnsharedLinks holds the simulation against the textbook forms under one switch, where no link is shared.
func TestUnsharedLinks(t *testing.T) {
	const alpha, beta, gamma = 2e-6, 1 / 10e9, 1 / 4e9
	for _, c := range []struct {
		algorithm string
		ranks     int
		want      func(p, log, n float64) float64
	}{
		{"ring", 7, func(p, _, n float64) float64 { return 2*(p-1)*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"ring", 8, func(p, _, n float64) float64 { return 2*(p-1)*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"recursive_doubling", 16, func(_, log, n float64) float64 { return log * (alpha + n*(beta+gamma)) }},
		{"recursive_doubling", 18, func(_, _, n float64) float64 { return 5*(alpha+n*(beta+gamma)) + alpha + n*beta }},
		{"halving_doubling", 16, func(p, log, n float64) float64 { return 2*log*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"halving_doubling", 256, func(p, log, n float64) float64 { return 2*log*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"halving_doubling", 6, func(_, _, n float64) float64 {
			return 2*alpha + n*(2*beta+gamma) + 4*alpha + 0.75*n*(2*beta+gamma)
		}},
		{"topology", 64, func(p, log, n float64) float64 { return 2*log*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"hierarchical", 64, func(p, log, n float64) float64 { return 2*log*alpha + (p-1)/p*n*(2*beta+gamma) }},
		{"binomial_tree", 8, func(_, log, n float64) float64 { return 2*log*(alpha+n*beta) + log*n*gamma }},
		{"binomial_tree", 9, func(_, _, n float64) float64 { return 8*(alpha+n*beta) + 4*n*gamma }},
		{"ring", 1, func(_, _, _ float64) float64 { return 0 }},
	} {
		spec := testSpec(256, 256, 1)
		l := layout(t, spec, c.ranks, Block)
		elements := 256 * 63 * 1000 // divides by every number of ranks
		bytes := float64(4 * elements)
		want := c.want(float64(c.ranks), math.Log2(float64(c.ranks)), bytes)
		name := fmt.Sprintf("%s over %d", c.algorithm, c.ranks)
		near(t, name+" simulated", float64(simulate(t, spec, l, NewSchedule(c.algorithm, l, elements)).Seconds), want, 1e-9)
		near(t, name+" closed form", float64(Cost(c.algorithm, spec, l, 4*elements)), want, 1e-9)
	}
}

// TestSwCaffeFormulas holds halving and doubling against the two formulas of [SWC] V-A, latency left out.
func TestSwCaffeFormulas(t *testing.T) {
	for _, c := range []struct{ p, q, oversubscription int }{{8, 4, 4}, {1024, 256, 4}, {512, 64, 2}, {256, 256, 4}} {
		spec := testSpec(c.p, c.q, float64(c.oversubscription))
		spec.Latency, spec.UplinkLatency = 0, 0
		elements := 58_150_000 // 232.6 MB
		p, q, n := float64(c.p), float64(c.q), 4*float64(elements)
		beta1, gamma := 1/spec.BytesPerSecond, 1/spec.ReduceBytesPerSecond
		beta2 := float64(c.oversubscription) * beta1
		common := (p - 1) / p * n * gamma
		block := 2*n/p*((q-1)*beta1+(p-q)*beta2) + common
		dealt := 2*n/p*((p-p/q)*beta1+(p/q-1)*beta2) + common
		for _, run := range []struct {
			algorithm string
			mapping   Mapping
			want      float64
		}{
			{"halving_doubling", Block, block}, {"halving_doubling", RoundRobin, dealt},
			{"topology", Block, dealt}, {"topology", RoundRobin, dealt},
		} {
			l := layout(t, spec, c.p, run.mapping)
			name := fmt.Sprintf("%s, %s, p %d, q %d", run.algorithm, run.mapping, c.p, c.q)
			near(t, name, float64(simulate(t, spec, l, NewSchedule(run.algorithm, l, elements)).Seconds), run.want, 1e-3)
			near(t, name+", closed form", float64(Cost(run.algorithm, spec, l, 4*elements)), run.want, 1e-9)
		}
	}
}

// TestCostOverSupernodes compares the closed forms of the algorithms that TestSwCaffeFormulas leaves out, and of a fold across an uplink, with the
// textbook's.
func TestCostOverSupernodes(t *testing.T) {
	const alpha, across, beta1, beta2, gamma, n = 2e-6, 3e-6, 1 / 10e9, 2 / 10e9, 1 / 4e9, 4e6
	for _, c := range []struct{ p, q float64 }{{8, 4}, {64, 4}, {16, 8}, {16, 1}, {8, 8}} {
		p, q, s := c.p, c.q, c.p/c.q
		spec := testSpec(64, int(q), 2)
		in, out := math.Log2(q), math.Log2(s)
		// The costs of a ring's and a tree's slowest messages: across supernodes, if there are several, and over an uplink that each has to itself.
		across, beta2 := across*min(1, s-1), beta1+(beta2-beta1)*min(1, s-1)
		own := max(beta1, beta2/q)
		adding := (p - 1) / p * n * gamma
		for _, want := range []struct {
			algorithm string
			mapping   Mapping
			seconds   float64
		}{
			{"ring", Block, 2*(p-1)*(alpha+across+n/p*own) + adding},
			{"ring", RoundRobin, 2*(p-1)*(alpha+across+n/p*beta2) + adding},
			{"recursive_doubling", Block, (in+out)*(alpha+n*gamma) + in*n*beta1 + out*(across+n*beta2)},
			{"recursive_doubling", RoundRobin, (in+out)*(alpha+n*gamma) + in*n*beta1 + out*(across+n*beta2)},
			{"binomial_tree", Block, 2*(in+out)*alpha + 2*in*n*beta1 + 2*out*(across+n*own) + (in+out)*n*gamma},
			{"binomial_tree", RoundRobin, 2*(in+out)*alpha + 2*in*n*beta1 + 2*out*(across+n*beta2) + (in+out)*n*gamma},
			{"hierarchical", Block, 2*(in+out)*alpha + 2*(q-1)/q*n*beta1 + 2*out*across + 2*(1-q/p)*n/q*beta2 + adding},
		} {
			l := layout(t, spec, int(p), want.mapping)
			near(t, fmt.Sprintf("%s, %s, p %g, q %g", want.algorithm, want.mapping, p, q), float64(Cost(want.algorithm, spec, l, n)), want.seconds, 1e-9)
		}
	}
	spec := testSpec(3, 1, 2)
	near(t, "three supernodes of one", float64(Cost("recursive_doubling", spec, layout(t, spec, 3, Block), n)), 3*(alpha+across+n*beta2)+2*n*gamma, 1e-9)
	spec = testSpec(3, 3, 2)
	near(t, "three in one", float64(Cost("recursive_doubling", spec, layout(t, spec, 3, Block), n)), 3*(alpha+n*beta1)+2*n*gamma, 1e-9)
}

// TestTooLongToPlay: a ring that has no exact closed form and too many steps to simulate is an error with the estimate.
func TestTooLongToPlay(t *testing.T) {
	spec := testSpec(20_000, 256, 4)
	l := layout(t, spec, 20_000, RoundRobin)
	_, err := Simulate(spec, l, NewSchedule("ring", l, 1_000_000), 4, nil)
	if want := fmt.Sprintf("8e+08 steps, more than the 2e+08 that are simulated; its closed form estimates %.6g s", float64(Cost("ring", spec, l, 4_000_000))); !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestUnsharedUplinks: a ring over supernodes, and a pair in two, have the uplinks to themselves. Their messages take as long as inside a
// supernode, plus the uplink's latency.
func TestUnsharedUplinks(t *testing.T) {
	const alpha, across, beta, gamma, elements = 2e-6, 3e-6, 1 / 10e9, 1 / 4e9, 16 * 9 * 1000
	const n = 4.0 * elements
	spec := testSpec(64, 4, 2)
	for _, c := range []struct {
		algorithm string
		ranks     int
		mapping   Mapping
		want      float64
	}{
		{"ring", 16, Block, 2*15*(alpha+across) + 15./16*n*(2*beta+gamma)},
		{"ring", 9, Block, 2*8*(alpha+across) + 8./9*n*(2*beta+gamma)},
		{"binomial_tree", 8, Block, 2*(3*alpha+across+3*n*beta) + 3*n*gamma},
	} {
		l := layout(t, spec, c.ranks, c.mapping)
		got := simulate(t, spec, l, NewSchedule(c.algorithm, l, elements))
		near(t, fmt.Sprintf("%s over %d, %s", c.algorithm, c.ranks, c.mapping), float64(got.Seconds), c.want, 1e-9)
	}
}

// TestBandwidthBySize: halving and doubling whose messages have each their own bandwidth.
func TestBandwidthBySize(t *testing.T) {
	spec := testSpec(16, 16, 1)
	spec.bySize = []sizePoint{{100_000, 1e9}, {200_000, 2e9}, {400_000, 4e9}}
	l := layout(t, spec, 8, Block)
	const elements = 200_000 // 400, 200 and 100 KB
	want := 2*(3*2e-6+0.4e6/4e9+0.2e6/2e9+0.1e6/1e9) + 0.7e6/4e9
	near(t, "halving_doubling", float64(simulate(t, spec, l, NewSchedule("halving_doubling", l, elements)).Seconds), want, 1e-9)
}

// pairs sends one message of each pair's size from its first rank to its second.
func pairs(ranks int, list [][3]int) *Schedule {
	steps := make([]Step, ranks)
	for r := range steps {
		steps[r] = idle
	}
	elements := 0
	for _, p := range list {
		steps[p[0]].To, steps[p[0]].Send = p[1], Range{0, p[2]}
		steps[p[1]].From, steps[p[1]].Recv = p[0], Range{0, p[2]}
		elements = max(elements, p[2])
	}
	return &Schedule{Algorithm: "pairs", Ranks: ranks, Elements: elements, Rounds: 1, step: func(rank, _ int) Step { return steps[rank] }}
}

// TestUplinkShares: k messages on one uplink get min(B, q B / (oversubscription k)) each, in one direction and in both.
func TestUplinkShares(t *testing.T) {
	const q, oversubscription, elements = 16, 4, 1_000_000
	spec := testSpec(2*q, q, oversubscription)
	l := layout(t, spec, 2*q, Block)
	for k := 1; k <= q; k++ {
		rate := min(spec.BytesPerSecond, q*spec.BytesPerSecond/(oversubscription*float64(k)))
		want := 5e-6 + 4*elements/rate
		var out, both [][3]int
		for i := range k {
			out = append(out, [3]int{i, q + i, elements})
			both = append(both, [3]int{i, q + i, elements}, [3]int{q + i, i, elements})
		}
		near(t, fmt.Sprintf("%d out", k), float64(simulate(t, spec, l, pairs(2*q, out)).Seconds), want, 1e-9)
		near(t, fmt.Sprintf("%d both ways", k), float64(simulate(t, spec, l, pairs(2*q, both)).Seconds), want, 1e-9)
	}
}

// TestDirectionsAreApart: k messages into a supernode, each from a different one, share its uplink like k messages out of it. Messages in the other
// direction at the same time, however many, change nothing.
func TestDirectionsAreApart(t *testing.T) {
	const q, oversubscription, elements, others = 8, 4, 1_000_000, 8
	spec := testSpec(q*(others+1), q, oversubscription)
	l := layout(t, spec, spec.Nodes, Block)
	share := func(k int) float64 {
		return min(spec.BytesPerSecond, q*spec.BytesPerSecond/(oversubscription*float64(k)))
	}
	for in := 1; in <= others; in++ {
		for _, out := range []int{0, 1, 3, others} {
			var list [][3]int
			for i := range in {
				list = append(list, [3]int{q * (1 + i), i, elements})
			}
			for i := range out {
				list = append(list, [3]int{i, q*(1+i) + 1, elements})
			}
			ends := map[bool]VTime{}
			_, err := Simulate(spec, l, pairs(spec.Nodes, list), 4, func(m Message) {
				if inward := m.To < q; m.End > ends[inward] {
					ends[inward] = m.End
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%d in beside %d out", in, out), float64(ends[true]), 5e-6+4*elements/share(in), 1e-9)
			if out > 0 {
				near(t, fmt.Sprintf("%d out beside %d in", out, in), float64(ends[false]), 5e-6+4*elements/share(out), 1e-9)
			}
		}
	}
}

// TestMaxMin: a message that is slowed down on one of its uplinks leaves the rest of its share of the other uplink to other messages.
func TestMaxMin(t *testing.T) {
	spec := testSpec(12, 4, 2) // uplinks of 20 GB/s
	spec.Latency, spec.UplinkLatency = 0, 0
	l := layout(t, spec, 12, Block)
	// Three messages enter supernode 2, one from 0 and two from 1; two more go from 0 to 1. Each message into 2 gets 20/3 GB/s. Those from 0
	// to 1 share the rest of the uplink of 0: (20 - 20/3)/2 GB/s each.
	ends := map[[2]int]VTime{}
	_, err := Simulate(spec, l, pairs(12, [][3]int{{0, 8, 1e6}, {4, 9, 1e6}, {5, 10, 1e6}, {1, 6, 1e6}, {2, 7, 1e6}}), 4, func(m Message) {
		ends[[2]int{m.From, m.To}] = m.End
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to int
		rate     float64
	}{{0, 8, 20e9 / 3}, {4, 9, 20e9 / 3}, {1, 6, 20e9 / 3}, {2, 7, 20e9 / 3}} {
		near(t, fmt.Sprintf("%d to %d", c.from, c.to), float64(ends[[2]int{c.from, c.to}]), 4e6/c.rate, 1e-9)
	}
	// Four messages enter supernode 2, 5 GB/s each, one of them from 0. Two more go from 0 to 1 and share the rest of the uplink of 0:
	// (20 - 5)/2 GB/s each.
	ends = map[[2]int]VTime{}
	list := [][3]int{{0, 8, 1e6}, {4, 9, 1e6}, {5, 10, 1e6}, {6, 11, 1e6}, {1, 4, 1e6}, {2, 5, 1e6}}
	if _, err := Simulate(spec, l, pairs(12, list), 4, func(m Message) { ends[[2]int{m.From, m.To}] = m.End }); err != nil {
		t.Fatal(err)
	}
	near(t, "crowded", float64(ends[[2]int{0, 8}]), 4e6/5e9, 1e-9)
	near(t, "left over", float64(ends[[2]int{1, 4}]), 4e6/7.5e9, 1e-9)
}

// gradient is AlexNet's packed gradient, 232.6 MB, in values.
const gradient = 58_150_000

func TestTopologyPays(t *testing.T) {
	spec, err := LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	l := layout(t, spec, 1024, Block)
	plain := simulate(t, spec, l, NewSchedule("halving_doubling", l, gradient))
	aware := simulate(t, spec, l, NewSchedule("topology", l, gradient))
	if plain.Seconds < 3*aware.Seconds {
		t.Errorf("halving_doubling %v s, topology %v s", plain.Seconds, aware.Seconds)
	}
}

// TestWholeMachine: at 40,960 nodes the simulated time is within 0.1 % of the closed form, for the algorithms whose
// closed form has no link shared unevenly.
func TestWholeMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("40,960 nodes take long under the race detector")
	}
	spec, err := LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	l := layout(t, spec, spec.Nodes, Block)
	for _, algorithm := range []string{"ring", "halving_doubling", "hierarchical"} {
		timing := simulate(t, spec, l, NewSchedule(algorithm, l, gradient))
		near(t, algorithm, float64(timing.Seconds), float64(Cost(algorithm, spec, l, 4*gradient)), 1e-3)
	}
}

func BenchmarkWholeMachine(b *testing.B) {
	spec, err := LoadSpec("taihulight")
	if err != nil {
		b.Fatal(err)
	}
	for _, algorithm := range []string{"halving_doubling", "topology", "hierarchical"} {
		b.Run(algorithm, func(b *testing.B) {
			for b.Loop() {
				l := layout(b, spec, spec.Nodes, Block)
				simulate(b, spec, l, NewSchedule(algorithm, l, gradient))
			}
		})
	}
}
