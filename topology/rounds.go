package topology

// maxSummed is the largest number of steps of all ranks whose rounds are summed: a second's work. Only rings have more, and their closed form is
// near.
const maxSummed = 20e6

// Estimate estimates the time of a schedule without simulating it, and names what it is: the sum of rounds or, for schedules of very many
// steps, the closed form of Cost.
func Estimate(spec Spec, l Layout, s *Schedule, elementBytes int) (seconds VTime, by string) {
	if float64(s.Ranks)*float64(s.Rounds) > maxSummed {
		return Cost(s.Algorithm, spec, l, s.Elements*elementBytes), "its closed form"
	}
	return byRounds(spec, l, s, elementBytes), "the sum of its rounds"
}

// byRounds is the time of a schedule if every message between supernodes takes as long as its two uplinks need for all messages of the same
// round. Ranks wait for their peers only. It is the simulated time where all ranks do the same at the same time. Where supernodes begin a
// round one after the other they share links with fewer messages than that: the estimate is then too long, by up to an eighth in the
// schedules that TestByRounds simulates beside it.
func byRounds(spec Spec, l Layout, s *Schedule, elementBytes int) VTime {
	up, down := make([]float64, l.Supernodes()), make([]float64, l.Supernodes())
	at, next := make([]VTime, s.Ranks), make([]VTime, s.Ranks)
	steps := make([]Step, s.Ranks)
	bytes := func(rank int) float64 { return float64(steps[rank].Send.Len() * elementBytes) }
	for round := range s.Rounds {
		clear(up)
		clear(down)
		for rank := range steps {
			steps[rank] = s.Step(rank, round)
			if to := steps[rank].To; to != None && l.Supernode(rank) != l.Supernode(to) {
				up[l.Supernode(rank)] += bytes(rank)
				down[l.Supernode(to)] += bytes(rank)
			}
		}
		copy(next, at)
		for rank, step := range steps {
			if step.To == None {
				continue
			}
			takes := VTime(bytes(rank) / spec.messageBandwidth(bytes(rank)))
			end := max(at[rank], at[step.To]) + spec.Latency
			if from, to := l.Supernode(rank), l.Supernode(step.To); from != to {
				takes = max(takes, VTime(max(up[from], down[to])/spec.uplinkBandwidth()))
				end += spec.UplinkLatency
			}
			end += takes
			added := end
			if steps[step.To].adds() {
				added += spec.ReduceTime(bytes(rank))
			}
			next[rank], next[step.To] = max(next[rank], end), max(next[step.To], added)
		}
		at, next = next, at
	}
	last := VTime(0)
	for _, end := range at {
		last = max(last, end)
	}
	return last
}
