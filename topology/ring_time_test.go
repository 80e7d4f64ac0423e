package topology

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestRingTime holds the ring that is worked out against the one that is played message by message: with supernodes of any size, segments
// of one and of two lengths, some of them empty, uplinks that are slower by their latency, by their bandwidth, or not at all, and
// bandwidth by message size. Where it is not worked out, the two are the same.
func TestRingTime(t *testing.T) {
	racing.SkipSequential(t)
	clusters := map[string]func(*Spec){
		"uplinks like links":   func(s *Spec) { s.UplinkLatency, s.Oversubscription = 0, 1 },
		"slow uplinks":         func(s *Spec) { s.Oversubscription = 2 * float64(s.NodesPerSupernode) },
		"far uplinks":          func(s *Spec) { s.Oversubscription, s.UplinkLatency = 1, 3e-6 },
		"hardly slower":        func(s *Spec) { s.Oversubscription, s.UplinkLatency = 1, 5e-10 },
		"additions at no cost": func(s *Spec) { s.ReduceBytesPerSecond = 0 },
		"by size": func(s *Spec) {
			s.bySize = []sizePoint{{16, 1e9}, {256, 3e9}, {4096, 10e9}}
		},
		"longer messages are faster": func(s *Spec) {
			s.bySize = []sizePoint{{16, 1e7}, {20, 1e9}}
		},
	}
	workedOut := 0
	for name, change := range clusters {
		for _, c := range []struct{ ranks, perSupernode int }{{2, 1}, {2, 2}, {3, 8}, {4, 2}, {5, 2}, {7, 1}, {8, 4}, {9, 4}, {11, 3}, {24, 5}, {32, 8}, {48, 16}} {
			for _, n := range []int{0, 1, c.ranks - 1, c.ranks, 5*c.ranks - 1, 5 * c.ranks, 5*c.ranks + 2, 64*c.ranks - 3} {
				spec := testSpec(64, c.perSupernode, 2)
				change(&spec)
				l := layout(t, spec, c.ranks, Block)
				s := NewSchedule("ring", l, n)
				got := simulate(t, spec, l, s)
				want, err := Simulate(spec, l, s, 4, func(Message) {})
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, %d ranks in supernodes of %d, %d elements", name, c.ranks, c.perSupernode, n)
				near(t, what, float64(got.Seconds), float64(want.Seconds), 1e-12)
				if got.Seconds = want.Seconds; got != want {
					t.Errorf("%s: %+v, want %+v", what, got, want)
				}
				if _, ok := ringTime(spec, l, s, 4); ok {
					workedOut++
				}
			}
		}
	}
	if workedOut != 536 {
		t.Errorf("%d rings are worked out, want 536", workedOut)
	}
}
