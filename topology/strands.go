package topology

// piece is the largest number of values that ranks with shared memory hand over at once: a quarter of a megabyte, so that values written by
// one rank are still in a cache when the others read them.
const piece = 1 << 16

// strands divide an array for ranks that share memory. A strand has a piece of every segment, and goes through all rounds of a schedule
// before the next strand starts: sums of the reduce-scatter are passed on while they are in a cache. The summation order of an element does
// not depend on the strands.
type strands struct{ elements, segments, count int }

// sharedSteps returns a rank's steps, strand by strand, for ranks that share memory. No step changes the values that it sends.
func sharedSteps(s *Schedule, rank int) []Step {
	var out []Step
	strands := strandsOf(s)
	for k := range strands.count {
		for round := range s.Rounds {
			for _, part := range strands.cut(s.Step(rank, round), k) {
				out = append(out, part.apart(rank)...)
			}
		}
	}
	return out
}

// apart splits a step in which two ranks exchange the same part of the array and both add. Each rank sums one half, and then receives the
// sums of the other half. These have the same bits, since a + b = b + a.
func (s Step) apart(rank int) []Step {
	if !s.adds() || s.To != s.From || s.Send != s.Recv {
		return []Step{s}
	}
	mine, other := s.Send.split(0, 2), s.Send.split(1, 2)
	if rank > s.To {
		mine, other = other, mine
	}
	adding, copying := s, s
	adding.Send, adding.Recv = other, mine
	copying.Send, copying.Recv, copying.Reduce = mine, other, false
	return []Step{adding, copying}
}

func strandsOf(s *Schedule) strands {
	segment := (s.Elements + s.Segments - 1) / s.Segments
	return strands{s.Elements, s.Segments, max(1, (segment+piece-1)/piece)}
}

// cut returns strand k's part of a step: one message for every piece that is sent or received. Both sides of a message cut it alike. With one
// strand the step is unchanged; an idle step gives nothing.
func (s strands) cut(step Step, k int) []Step {
	switch {
	case step.Idle():
		return nil
	case s.count == 1:
		return []Step{step}
	}
	var out []Step
	sent, received := s.within(step.Send, step.To, k), s.within(step.Recv, step.From, k)
	for i := range max(len(sent), len(received)) {
		part := Step{To: None, From: None, Reduce: step.Reduce}
		if i < len(sent) {
			part.To, part.Send = step.To, sent[i]
		}
		if i < len(received) {
			part.From, part.Recv = step.From, received[i]
		}
		out = append(out, part)
	}
	return out
}

// within returns the pieces of strand k in a range; none if there is no peer.
func (s strands) within(r Range, peer, k int) []Range {
	var out []Range
	if peer == None {
		return nil
	}
	for i := range s.segments {
		p := Range{0, s.elements}.split(i, s.segments).split(k, s.count)
		p = Range{max(p.Lo, r.Lo), min(p.Hi, r.Hi)}
		if p.Len() > 0 {
			out = append(out, p)
		}
	}
	return out
}
