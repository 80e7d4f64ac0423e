package topology

import (
	"errors"
	"fmt"
)

// Timing is the result of a simulation.
type Timing struct {
	Seconds    VTime // when the last rank ends
	Steps      int   // largest number of steps of a rank
	IntraBytes int64 // sent inside supernodes, over all ranks
	InterBytes int64 // sent between supernodes
}

// BusBandwidth returns 2 n (p-1)/p / t in bytes a second. The numerator is the least that each node's link carries in any algorithm.
func (t Timing) BusBandwidth(ranks, bytes int) float64 {
	if t.Seconds == 0 {
		return 0
	}
	return 2 * float64(bytes) * float64(ranks-1) / float64(ranks) / float64(t.Seconds)
}

// maxSteps is the largest number of steps of all ranks that is simulated. A ring of 40,960 nodes dealt round-robin has 3.4e9.
const maxSteps = 200e6

// maxShares is how many times a simulation may look at a class of messages on a shared link, without a trace. It takes seconds. Exchanges that
// are folded to a power of two, on supernodes that are filled unevenly, change the rates of most classes whenever a message ends.
const maxShares = 160e6

// ErrTooLong is the error for a schedule that takes too long to simulate; Estimate has an estimate.
var ErrTooLong = errors.New("too long to simulate")

// tooLong is ErrTooLong with its reason, and the estimate.
func tooLong(spec Spec, l Layout, s *Schedule, elementBytes int, why string) error {
	estimate, how := Estimate(spec, l, s, elementBytes)
	return fmt.Errorf("%w: %s over %d nodes %s; %s estimates %.6g s", ErrTooLong, s.Algorithm, s.Ranks, why, how, float64(estimate))
}

// Simulate simulates a schedule on a cluster and returns its time and traffic. Elements have elementBytes bytes. trace, if not nil, is called
// at the end of every message. Without it, rings whose messages share no link are computed in closed form.
func Simulate(spec Spec, l Layout, s *Schedule, elementBytes int, trace func(Message)) (Timing, error) {
	if trace == nil {
		if t, ok := ringTime(spec, l, s, elementBytes); ok {
			return t, nil
		}
	}
	if steps := float64(s.Ranks) * float64(s.Rounds); steps > maxSteps {
		return Timing{}, tooLong(spec, l, s, elementBytes, fmt.Sprintf("makes %.3g steps, more than the %.3g that are simulated", steps, float64(maxSteps)))
	}
	p := &player{schedule: s, net: newNetwork(spec, l), elementBytes: elementBytes, ranks: make([]playing, s.Ranks)}
	p.net.ended = trace
	for r := range p.ranks {
		if err := p.proceed(r, 0); err != nil {
			return Timing{}, err
		}
	}
	for {
		c, ok := p.net.next()
		if !ok {
			break
		}
		at := c.at + spec.ReduceTime(float64(p.ranks[c.rank].reduceBytes))
		if err := p.proceed(c.rank, at); err != nil {
			return Timing{}, err
		}
		if trace == nil && p.net.links.rates.shares > maxShares {
			return Timing{}, tooLong(spec, l, s, elementBytes, "shares links in too many ways")
		}
	}
	return p.timing()
}

// player takes each rank through its rounds.
type player struct {
	schedule     *Schedule
	net          *network
	elementBytes int
	ranks        []playing
}

type playing struct {
	round, steps int
	reduceBytes  int // bytes to add when the current step is complete
	end          VTime
}

// proceed posts a rank's next step, if there is one.
func (p *player) proceed(rank int, at VTime) error {
	r := &p.ranks[rank]
	r.end = at
	for r.round < p.schedule.Rounds {
		s := p.schedule.Step(rank, r.round)
		r.round++
		if s.Idle() {
			continue
		}
		r.steps++
		r.reduceBytes = 0
		if s.adds() {
			r.reduceBytes = s.Recv.Len() * p.elementBytes
		}
		return p.net.post(rank, at, s.To, s.Send.Len()*p.elementBytes, s.From, s.Recv.Len()*p.elementBytes)
	}
	r.round++ // past the end: the rank has finished
	return nil
}

func (p *player) timing() (Timing, error) {
	t := Timing{IntraBytes: p.net.intra, InterBytes: p.net.inter}
	for rank, r := range p.ranks {
		if r.round <= p.schedule.Rounds {
			return Timing{}, fmt.Errorf("topology: %s: rank %d waits for ever in round %d", p.schedule.Algorithm, rank, r.round-1)
		}
		t.Seconds, t.Steps = max(t.Seconds, r.end), max(t.Steps, r.steps)
	}
	return t, nil
}
