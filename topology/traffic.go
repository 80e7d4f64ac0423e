package topology

// Traffic counts what a schedule sends, without simulating it: the largest number of steps of a rank, and the bytes that all ranks send
// inside and between supernodes. Seconds stays 0.
func Traffic(l Layout, s *Schedule, elementBytes int) Timing {
	var t Timing
	for rank := range s.Ranks {
		steps := 0
		for round := range s.Rounds {
			step := s.Step(rank, round)
			if step.Idle() {
				continue
			}
			steps++
			bytes := int64(step.Send.Len() * elementBytes)
			switch {
			case step.To == None:
			case l.Supernode(rank) == l.Supernode(step.To):
				t.IntraBytes += bytes
			default:
				t.InterBytes += bytes
			}
		}
		t.Steps = max(t.Steps, steps)
	}
	return t
}
