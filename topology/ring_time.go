package topology

// ringTime is what a ring takes of ranks that fill supernodes one after the other, to rounding that of the simulation, and how many bytes
// go where; false where it has to be played.
//
// Then a supernode sends one message at a time over its uplink and receives one, so that none shares a link. A rank begins its next round
// when its message to the next rank and that of the one before it have ended, so that the whole takes as long as the slowest walk of
// one message a round, from a message to the same one of the next round or to one beside it. Messages are of two sizes at
// most. Where all take equally long by size, the slowest walk goes with a larger segment round the ring. Where those that cross
// uplinks take longer by enough, it stays at one of them.
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
		return Timing{}, false // a bandwidth that grows steeply with the size
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

// ring is one of ringTime's.
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

// segment is the length of segment i, modulo P.
func (r *ring) segment(i int) int {
	p := r.layout.Ranks()
	return r.all.split(i%p, p).Len()
}

// slowestUplink is the longest that a message over an uplink is under way and its receiver or sender adds, over all rounds. Rank r
// sends all segments but r+1, and, when they have their sums, all but r+2; the receiver adds what it gets, the sender the segment
// before.
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

// count adds up the bytes that ranks send.
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

// crosses reports whether a rank and the next, the first being the last's, are in different supernodes.
func (l Layout) crosses(rank int) bool {
	return l.supernode[rank] != l.supernode[(rank+1)%len(l.supernode)]
}

// crossings counts the ranks of which crosses is true.
func (l Layout) crossings() int {
	n := 0
	for rank := range l.supernode {
		if l.crosses(rank) {
			n++
		}
	}
	return n
}

// crossesTwice reports whether crosses is true of two ranks in a row.
func (l Layout) crossesTwice() bool {
	for rank := range l.supernode {
		if l.crosses(rank) && l.crosses((rank+1)%len(l.supernode)) {
			return true
		}
	}
	return false
}
