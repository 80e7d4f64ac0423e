package topology

// ringTime computes, in closed form, the time and the traffic of a ring whose ranks fill one supernode after the other. It agrees with the
// simulation up to rounding. It returns false if the ring must be simulated.
//
// In such a ring a supernode sends and receives one message at a time over its uplink, so that messages share no link. A rank starts its next
// round when its message to the next rank and the one from the previous rank have ended. The total time is therefore that of the slowest path
// through the messages, one a round, from a message to the same rank's or a neighbour's message of the next round. Messages have at most two
// sizes. If the time of a message depends only on its size, the slowest path follows a larger segment round the ring. If messages over
// uplinks are slower by a large enough margin, the path stays at one uplink.
func ringTime(spec Spec, l Layout, s *Schedule, elementBytes int) (Timing, bool) {
	p := s.Ranks
	if s.Algorithm != ringName || l.Mapping != Block || p < 2 {
		return Timing{}, false
	}
	r := ring{spec: spec, layout: l, all: Range{0, s.Elements}, elementBytes: elementBytes}
	small, large := s.Elements/p, (s.Elements+p-1)/p
	longest := r.message(large, false) + r.adding(large)
	least := r.message(small, true) + r.adding(small)
	uneven := r.message(large, true) + r.adding(large) - least
	t := Timing{Steps: s.Rounds}
	switch crossing := l.crossings(); {
	case r.message(small, false) > r.message(large, false):
		return Timing{}, false // the bandwidth grows steeply with the size
	case crossing == 0 || crossing == p || r.message(large, true) == r.message(large, false) && r.message(small, true) == r.message(small, false):
		t.Seconds = VTime(p-1) * (2*r.message(large, crossing == p) + r.adding(large))
	case least-longest >= 2*uneven && !l.crossesTwice():
		t.Seconds = r.slowestUplink()
	default:
		return Timing{}, false
	}
	r.count(&t)
	return t, true
}

// ring is the state of ringTime.
type ring struct {
	spec         Spec
	layout       Layout
	all          Range
	elementBytes int
}

func (r *ring) message(elements int, across bool) VTime {
	bytes := float64(elements * r.elementBytes)
	if !across {
		return r.spec.MessageTime(bytes, false)
	}
	return r.spec.Latency + r.spec.UplinkLatency + VTime(bytes/min(r.spec.messageBandwidth(bytes), r.spec.uplinkBandwidth()))
}

func (r *ring) adding(elements int) VTime {
	return r.spec.ReduceTime(float64(elements * r.elementBytes))
}

// segment returns the length of segment i, modulo P.
func (r *ring) segment(i int) int {
	p := r.layout.Ranks()
	return r.all.split(i%p, p).Len()
}

// slowestUplink returns the longest time of a message over an uplink plus its receiver's or sender's addition, over all rounds. Rank r sends
// all segments but r+1 and, once they are summed, all but r+2. The receiver adds the message, the sender the segment before.
func (r *ring) slowestUplink() VTime {
	p := r.layout.Ranks()
	adding := func(rank int) VTime { return r.adding(max(r.segment(rank), r.segment(rank+1))) }
	var sent, added, most VTime
	for i := range p {
		sent += r.message(r.segment(i), true)
		added += adding(i)
	}
	for rank := range p {
		if r.layout.crosses(rank) {
			most = max(most, 2*sent-r.message(r.segment(rank+1), true)-r.message(r.segment(rank+2), true)+added-adding(rank))
		}
	}
	return most
}

// count adds up the bytes that all ranks send.
func (r *ring) count(t *Timing) {
	for rank := range r.layout.Ranks() {
		bytes := int64(r.elementBytes) * int64(2*r.all.Len()-r.segment(rank+1)-r.segment(rank+2))
		if r.layout.crosses(rank) {
			t.InterBytes += bytes
		} else {
			t.IntraBytes += bytes
		}
	}
}

// crosses reports whether a rank and the next are in different supernodes; the rank after the last is the first.
func (l Layout) crosses(rank int) bool {
	return l.supernode[rank] != l.supernode[(rank+1)%len(l.supernode)]
}

// crossings returns the number of ranks for which crosses is true.
func (l Layout) crossings() int {
	n := 0
	for rank := range l.supernode {
		if l.crosses(rank) {
			n++
		}
	}
	return n
}

// crossesTwice reports whether crosses is true for two ranks in a row.
func (l Layout) crossesTwice() bool {
	for rank := range l.supernode {
		if l.crosses(rank) && l.crosses((rank+1)%len(l.supernode)) {
			return true
		}
	}
	return false
}
