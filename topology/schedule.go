package topology

// Range is the elements [Lo, Hi) of the array.
type Range struct{ Lo, Hi int }

// Len returns the number of elements.
func (r Range) Len() int { return r.Hi - r.Lo }

// None is the peer of a step that does not send, or does not receive.
const None = -1

// Step is a rank's part of one round: send, receive, or both at once. A step whose peers are both None does nothing.
type Step struct {
	To, From   int
	Send, Recv Range
	// Reduce adds received values to the present ones; otherwise they replace them.
	Reduce bool
}

// Idle reports whether the step neither sends nor receives.
func (s Step) Idle() bool { return s.To == None && s.From == None }

// renumber returns the step with its peers renumbered.
func (s Step) renumber(number func(peer int) int) Step {
	if s.To != None {
		s.To = number(s.To)
	}
	if s.From != None {
		s.From = number(s.From)
	}
	return s
}

// Schedule is an all-reduce as data: after the steps of all rounds every rank's array is the sum over ranks. A rank goes through its rounds
// in order; rounds are not synchronised between ranks. A message is sent and received in the same round.
type Schedule struct {
	Algorithm string
	Ranks     int
	Elements  int
	Rounds    int
	// Segments is the number of equal parts of the array that different ranks sum concurrently.
	Segments int
	step     func(rank, round int) Step
}

// Step returns a rank's step in a round.
func (s *Schedule) Step(rank, round int) Step { return s.step(rank, round) }

// idle is the step of a rank that does nothing in a round.
var idle = Step{To: None, From: None}

// split returns segment i of p nearly equal parts of a range: [lo + i*n/p, lo + (i+1)*n/p).
func (r Range) split(i, p int) Range { return r.parts(i, i+1, p) }

// parts returns segments [i, j) of p.
func (r Range) parts(i, j, p int) Range {
	at := func(i int) int { return r.Lo + int(int64(i)*int64(r.Len())/int64(p)) } // beyond 32 bits for a large net on hundreds of ranks
	return Range{at(i), at(j)}
}

// powerBelow returns the largest power of two not above p, and its logarithm; p >= 1.
func powerBelow(p int) (power, log int) {
	for power = 1; power*2 <= p; power *= 2 {
		log++
	}
	return power, log
}
