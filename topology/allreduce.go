package topology

import "github.com/swcaffe/swcaffe/internal/base/simd/vec"

// AllReduce executes a schedule on a rank's transport. It allocates only when made.
type AllReduce struct {
	transport Transport
	adder     adder // the transport if ranks share memory, else nil
	steps     []Step
	elements  int
	scratch   []float32
	clock     reduceClock // the transport if its time is virtual, else nil
}

// reduceClock is a transport in virtual time. It charges the time of additions.
type reduceClock interface{ elapseReduce(elements int) }

// adder is a transport between ranks that share memory. It adds received values directly from the sender's array.
type adder interface {
	RecvAdd(from int, data []float32) error
	SendRecvAdd(to int, send []float32, from int, data []float32) error
}

// NewAllReduce prepares a rank's part of a schedule. The schedule and the transport must have the same number of ranks.
func NewAllReduce(t Transport, s *Schedule) *AllReduce {
	if s.Ranks != t.Size() {
		panic("topology: the schedule has another number of ranks than the transport")
	}
	a := &AllReduce{transport: t, elements: s.Elements}
	a.adder, _ = t.(adder)
	a.clock, _ = t.(reduceClock)
	if a.adder != nil {
		a.steps = sharedSteps(s, t.Rank())
		return a
	}
	longest := 0
	for round := range s.Rounds {
		step := s.Step(t.Rank(), round)
		if step.Idle() {
			continue
		}
		a.steps = append(a.steps, step)
		if step.adds() {
			longest = max(longest, step.Recv.Len())
		}
	}
	a.scratch = make([]float32, longest)
	return a
}

// adds reports whether the received values are added.
func (s Step) adds() bool { return s.Reduce && s.From != None }

// Run replaces data by its sum over ranks. Every rank gets the same bits. All ranks call Run with an array of the schedule's length. After an
// error the contents of data are undefined.
func (a *AllReduce) Run(data []float32) error {
	if len(data) != a.elements {
		panic("topology: the array has another length than the schedule")
	}
	for _, step := range a.steps {
		if err := a.run(step, data); err != nil {
			return err
		}
	}
	return nil
}

func (a *AllReduce) run(step Step, data []float32) error {
	send, recv := data[step.Send.Lo:step.Send.Hi], data[step.Recv.Lo:step.Recv.Hi]
	switch {
	case step.From == None:
		return a.transport.Send(step.To, send)
	case a.adder != nil && step.Reduce && step.To == None:
		return a.adder.RecvAdd(step.From, recv)
	case a.adder != nil && step.Reduce:
		return a.adder.SendRecvAdd(step.To, send, step.From, recv)
	}
	into := recv
	if step.Reduce {
		into = a.scratch[:len(recv)]
	}
	var err error
	if step.To == None {
		err = a.transport.Recv(step.From, into)
	} else {
		err = a.transport.SendRecv(step.To, send, step.From, into)
	}
	if err != nil || !step.Reduce {
		return err
	}
	vec.Add(recv, recv, into)
	if a.clock != nil {
		a.clock.elapseReduce(len(recv))
	}
	return nil
}
