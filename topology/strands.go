package topology

// piece is how many values ranks that share memory hand over at once at most: a quarter of a megabyte, so that what one rank has
// written is still in a cache when the others read it.
const piece = 1 << 16

// strands divide an array for ranks that share memory. A strand has a piece of every segment, and goes through all rounds of a
// schedule before the next one begins: what the reduce-scatter has added is passed on before it goes to memory. An element is summed
// in the same order whatever strand it is in.
type strands struct{ elements, segments, count int }

// sharedSteps returns what a rank does, strand by strand, where ranks share memory. None of these steps changes what it sends.
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

// apart makes two steps of one in which two ranks exchange the same part of the array and both add: each adds up one half of it and
// then gets the other half's sums, which have the same bits, since a + b = b + a.
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

// cut returns what is to be done of a step for strand k: a message for every piece of what is sent and received. The two sides of a
// message cut it alike. With one strand the step stays as it is; an idle step is none.
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

// within returns the pieces of strand k in a range; none where there is no peer.
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
