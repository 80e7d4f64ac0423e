package topology

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// straightMessage is a message of the straightforward simulation, which computes all rates anew whenever a message joins or ends.
type straightMessage struct {
	key   flowKey
	from  int32
	left  float64 // bytes
	rate  float64
	fixed bool // the rate is final
}

// straightRates gives all messages their max-min fair rates by raising all together until a link is full, or one is at its limit.
func straightRates(messages []*straightMessage, links int, bandwidth float64) {
	free, rising := make([]float64, links), make([]float64, links)
	for i := range free {
		free[i] = bandwidth
	}
	for _, m := range messages {
		m.rate, m.fixed = 0, false
	}
	for left := len(messages); left > 0; {
		clear(rising)
		rise := math.Inf(1)
		for _, m := range messages {
			if !m.fixed {
				rising[m.key.up]++
				rising[links/2+int(m.key.down)]++
				rise = min(rise, m.key.limit-m.rate)
			}
		}
		for i, n := range rising {
			if n > 0 {
				rise = min(rise, free[i]/n)
			}
		}
		for i, n := range rising {
			free[i] -= rise * n
		}
		for _, m := range messages {
			if m.fixed {
				continue
			}
			m.rate += rise
			if up, down := free[m.key.up], free[links/2+int(m.key.down)]; min(up, down) < 1e-9*bandwidth || m.key.limit-m.rate < 1e-9*bandwidth {
				m.fixed = true
				left--
			}
		}
	}
}

// TestUplinks compares the ends of messages that come and go with the straightforward simulation. Sizes and times are such that many end
// together but for rounding.
func TestUplinks(t *testing.T) {
	racing.SkipSequential(t)
	const supernodes, bandwidth = 6, 7.0
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 5))
		u := newUplinks(supernodes, bandwidth)
		var straight []*straightMessage
		now, ids := VTime(0), int32(0)
		for range 300 {
			for range random.IntN(8) {
				key := flowKey{random.Int32N(supernodes), random.Int32N(supernodes), []float64{0.9, 7. / 3, 50}[seed%3]}
				bytes := []float64{0.1, 0.3, 1. / 3, 70}[random.IntN(4)]
				bytes *= 1 + 4*simultaneous*random.Float64()
				u.join(now, key, ids, bytes)
				straight = append(straight, &straightMessage{key: key, from: ids, left: bytes})
				ids++
			}
			if len(straight) == 0 {
				continue
			}
			u.share(now)
			straightRates(straight, 2*supernodes, bandwidth)
			next := math.Inf(1)
			for _, m := range straight {
				next = min(next, m.left/m.rate)
			}
			const slack = 1e-7
			for {
				at, any := u.ends.peek()
				if !any || float64(at-now) > next+slack {
					break
				}
				if float64(at-now) < next-slack {
					t.Fatalf("seed %d: a message ends after %g, want %g", seed, float64(at-now), next)
				}
				for _, from := range u.finish() {
					straight = endStraight(t, straight, from, next, slack)
				}
				if u.changed() { // as if something else had happened at the same time
					u.share(max(now, at) * (1 + simultaneous))
				}
			}
			for _, m := range straight {
				if m.left -= m.rate * next; m.left < 1e-9 {
					t.Fatalf("seed %d: message %d has not ended, with %g bytes left", seed, m.from, m.left)
				}
			}
			now += VTime(next)
		}
	}
}

// endStraight takes out a message that ends after a time.
func endStraight(t *testing.T, messages []*straightMessage, from int32, after, slack float64) []*straightMessage {
	t.Helper()
	for i, m := range messages {
		if m.from == from {
			if took := m.left / m.rate; math.Abs(took-after) > 10*slack {
				t.Fatalf("message %d ends after %g, want %g", from, after, took)
			}
			return append(messages[:i], messages[i+1:]...)
		}
	}
	t.Fatalf("message %d ends twice", from)
	return nil
}
