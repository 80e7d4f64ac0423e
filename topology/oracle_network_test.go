package topology

import (
	"math"
	"testing"
)

// The oracle plays programs on a cluster by brute force, from the definition of the network alone: at every moment all of its
// messages are looked at, and every link, node links too, is filled by raising the rates of all messages together.

// action is one blocking call of a rank: bytes to one, bytes from another, and bytes to add when both are through.
type action struct {
	to, from         int // None: no such half
	send, recv, adds int
}

// oracleLink is a direction of a node's or a supernode's link.
type oracleLink struct {
	kind string
	of   int
}

type oracleMessage struct {
	from, to int
	left     float64 // bytes
	begins   float64 // when its latency is paid
	rate     float64
	links    []oracleLink
}

type oracle struct {
	spec      Spec
	supernode []int
	programs  [][]action
	at        []int     // of its program, by rank
	ready     []float64 // when the rank posts that action
	halves    []int     // that are not through
	sent      []bool    // the action's send half has begun
	heard     []bool    // and its other half
	messages  []*oracleMessage
	now       float64
	intra     int64
	inter     int64
}

// playByBruteForce returns what [Simulate] should.
func playByBruteForce(t *testing.T, spec Spec, supernode []int, programs [][]action) Timing {
	p := len(programs)
	o := &oracle{spec: spec, supernode: supernode, programs: programs, at: make([]int, p), ready: make([]float64, p), halves: make([]int, p), sent: make([]bool, p), heard: make([]bool, p)}
	last := 0.0
	for r := range p {
		o.halves[r] = o.countHalves(r)
	}
	for o.busy() {
		o.meet()
		o.fill()
		next := o.nextMoment()
		if math.IsInf(next, 1) {
			t.Fatalf("the oracle is stuck at %g", o.now)
		}
		o.advance(next)
		for _, e := range o.ready {
			last = max(last, e)
		}
	}
	timing := Timing{Seconds: VTime(last), IntraBytes: o.intra, InterBytes: o.inter}
	for _, program := range programs {
		timing.Steps = max(timing.Steps, len(program))
	}
	return timing
}

func (o *oracle) countHalves(r int) int {
	n := 0
	if o.at[r] < len(o.programs[r]) {
		if a := o.programs[r][o.at[r]]; a.to != None {
			n++
		}
		if o.programs[r][o.at[r]].from != None {
			n++
		}
	}
	return n
}

func (o *oracle) busy() bool {
	for r := range o.programs {
		if o.at[r] < len(o.programs[r]) {
			return true
		}
	}
	return false
}

// posted returns the rank's action if it has come to it.
func (o *oracle) posted(r int) *action {
	if o.at[r] == len(o.programs[r]) || o.ready[r] > o.now {
		return nil
	}
	return &o.programs[r][o.at[r]]
}

// meet begins the messages whose two sides have posted.
func (o *oracle) meet() {
	for r := range o.programs {
		a := o.posted(r)
		if a == nil || a.to == None || o.sent[r] {
			continue
		}
		b := o.posted(a.to)
		if b == nil || b.from != r || o.heard[a.to] {
			continue
		}
		o.sent[r], o.heard[a.to] = true, true
		m := &oracleMessage{from: r, to: a.to, left: float64(a.send), begins: o.now + float64(o.spec.Latency), links: []oracleLink{{"node up", r}, {"node down", a.to}}}
		if from, to := o.supernode[r], o.supernode[a.to]; from == to {
			o.intra += int64(a.send)
		} else {
			o.inter += int64(a.send)
			m.begins += float64(o.spec.UplinkLatency)
			m.links = append(m.links, oracleLink{"supernode up", from}, oracleLink{"supernode down", to})
		}
		o.messages = append(o.messages, m)
	}
}

func (m *oracleMessage) moves(now float64) bool { return m.begins <= now && m.left > 0 }

// fill gives every moving message its max-min fair rate: all rates rise together until a link is full, whose messages keep theirs.
func (o *oracle) fill() {
	rising := map[*oracleMessage]bool{}
	free := map[oracleLink]float64{}
	for _, m := range o.messages {
		m.rate = 0
		if m.moves(o.now) {
			rising[m] = true
		}
		for _, l := range m.links {
			free[l] = o.spec.BytesPerSecond
			if l.kind == "supernode up" || l.kind == "supernode down" {
				free[l] *= float64(o.spec.NodesPerSupernode) / o.spec.Oversubscription
			}
		}
	}
	for len(rising) > 0 {
		on := map[oracleLink]float64{}
		for m := range rising {
			for _, l := range m.links {
				on[l]++
			}
		}
		rise := math.Inf(1)
		for l, n := range on {
			rise = min(rise, free[l]/n)
		}
		for m := range rising {
			m.rate += rise
			for _, l := range m.links {
				free[l] -= rise
			}
		}
		for m := range rising {
			for _, l := range m.links {
				if free[l] < 1e-6*o.spec.BytesPerSecond {
					delete(rising, m)
				}
			}
		}
	}
}

// nextMoment is when something happens next: a rank comes, a latency is paid, or a message ends.
func (o *oracle) nextMoment() float64 {
	next := math.Inf(1)
	for r := range o.programs {
		if o.at[r] < len(o.programs[r]) && o.ready[r] > o.now {
			next = min(next, o.ready[r])
		}
	}
	for _, m := range o.messages {
		switch {
		case m.begins > o.now:
			next = min(next, m.begins)
		case m.left > 0:
			next = min(next, o.now+m.left/m.rate)
		default:
			next = min(next, o.now)
		}
	}
	return next
}

func (o *oracle) advance(next float64) {
	var under []*oracleMessage
	for _, m := range o.messages {
		if m.begins <= o.now {
			m.left -= m.rate * (next - o.now)
		}
		if m.begins <= next && m.left < 1e-6 {
			o.through(m.from, next)
			o.through(m.to, next)
			continue
		}
		under = append(under, m)
	}
	o.messages, o.now = under, next
}

// through completes a half; after the last one the rank adds and goes on.
func (o *oracle) through(r int, at float64) {
	o.halves[r]--
	if o.halves[r] > 0 {
		return
	}
	o.ready[r] = at
	if rate := o.spec.ReduceBytesPerSecond; rate > 0 {
		o.ready[r] += float64(o.programs[r][o.at[r]].adds) / rate
	}
	o.at[r]++
	o.sent[r], o.heard[r] = false, false
	o.halves[r] = o.countHalves(r)
}
