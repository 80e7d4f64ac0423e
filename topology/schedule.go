package topology

// Range is the elements [Lo, Hi) of the array that is reduced.
type Range struct{ Lo, Hi int }

// Len returns the number of elements.
func (r Range) Len() int { return r.Hi - r.Lo }

// None is the peer of a step that sends or receives nothing.
const None = -1

// Step is what a rank does in one round: send, receive, or both at once. A step whose peers are both None is no step.
type Step struct {
	To, From   int
	Send, Recv Range
	// Reduce adds what is received to what is there; otherwise it replaces it.
	Reduce bool
}

// Idle reports whether nothing is sent or received.
func (s Step) Idle() bool { return s.To == None && s.From == None }

// renumber returns the step with other numbers for its peers.
func (s Step) renumber(number func(peer int) int) Step {
	if s.To != None {
		s.To = number(s.To)
	}
	if s.From != None {
		s.From = number(s.From)
	}
	return s
}

// Schedule is an all-reduce as data: after the steps of all rounds every rank's array is the sum over ranks. A rank goes
// through its rounds in order; rounds are not synchronised between ranks. A message is sent and received in the same round.
type Schedule struct {
	Algorithm string
	Ranks     int
	Elements  int
	Rounds    int
	// Segments is into how many equal parts the array falls that different ranks add up at once.
	Segments int
	step     func(rank, round int) Step
}

// Step returns what a rank does in a round.
func (s *Schedule) Step(rank, round int) Step { return s.step(rank, round) }

// idle is the step of a rank that sits a round out.
var idle = Step{To: None, From: None}

// split returns segment i of p nearly equal parts of a range: [lo + i*n/p, lo + (i+1)*n/p).
func (r Range) split(i, p int) Range { return r.parts(i, i+1, p) }

// parts returns segments [i, j) of p.
func (r Range) parts(i, j, p int) Range { return Range{r.Lo + i*r.Len()/p, r.Lo + j*r.Len()/p} }

// powerBelow returns the largest power of two that is at most p, and its logarithm; p >= 1.
func powerBelow(p int) (power, log int) {
	for power = 1; power*2 <= p; power *= 2 {
		log++
	}
	return power, log
}
