package lineartest

import (
	"math/rand/v2"
	"testing"
)

// TestAccuracy holds the classifier against sets whose answer is known: a linear rule is learnt, its exclusive or is not,
// and labels without any relation to the pixels give chance.
func TestAccuracy(t *testing.T) {
	rules := []struct {
		name     string
		label    func(p []byte, rng *rand.Rand) int
		min, max float64
	}{
		{"linear", func(p []byte, _ *rand.Rand) int {
			if int(p[0])+int(p[1]) > int(p[2])+int(p[3]) {
				return 1
			}
			return 0
		}, 0.97, 1},
		{"exclusive or", func(p []byte, _ *rand.Rand) int { return int(p[0]>>7 ^ p[1]>>7) }, 0.4, 0.6},
		{"unrelated", func(_ []byte, rng *rand.Rand) int { return rng.IntN(2) }, 0.4, 0.6},
	}
	for _, r := range rules {
		rng := rand.New(rand.NewPCG(3, 4))
		var sets [2]Set
		for i, n := range []int{4000, 1000} {
			for range n {
				p := make([]byte, 6)
				for k := range p {
					p[k] = byte(rng.Uint32())
				}
				sets[i].Add(p, r.label(p, rng))
			}
		}
		if got := Accuracy(&sets[0], &sets[1], 2, 5); got < r.min || got > r.max {
			t.Errorf("%s: accuracy %.3f, want %.2f to %.2f", r.name, got, r.min, r.max)
		}
	}
}
