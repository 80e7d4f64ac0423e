package topology

import (
	"errors"
	"fmt"
	"sync"
)

// Sim is a group of ranks in one process that exchange values in virtual time over a cluster's network.
//
// The clock advances only when every rank waits, and then wakes one rank. Which one, and when, depends only on the ranks' own clocks and
// numbers. Results therefore do not depend on the order of goroutines.
type Sim struct {
	mu      sync.Mutex
	net     *network
	ranks   []SimRank
	waiting int   // number of ranks inside a call
	running int   // number of ranks whose work has not returned
	failure error // all further calls return it
}

// SimRank is one rank's Transport in virtual time.
type SimRank struct {
	group      *Sim
	rank       int
	now        VTime
	send, recv []float32
	inCall     bool
	wake       chan error
}

// bytesPerValue is the size of a float32.
const bytesPerValue = 4

// NewSim returns a group of the layout's ranks on a cluster.
func NewSim(spec Spec, l Layout) *Sim {
	s := &Sim{net: newNetwork(spec, l), ranks: make([]SimRank, l.Ranks()), running: l.Ranks()}
	for r := range s.ranks {
		s.ranks[r] = SimRank{group: s, rank: r, wake: make(chan error, 1)}
	}
	s.net.started = func(from, to int) { copy(s.ranks[to].recv, s.ranks[from].send) }
	return s
}

// Observe has a function called at the end of every message, before its sender's call returns. Call it before Run. The function must not use
// the group.
func (s *Sim) Observe(ended func(Message)) { s.net.ended = ended }

// Run calls work in a goroutine for each rank and waits for all; it can be called once. Ranks that wait for each other forever get an error.
// If one rank returns an error the others are stopped, and Run returns that error as a *RankError.
func (s *Sim) Run(work func(t *SimRank) error) error {
	return runRanks(len(s.ranks), func(r int) Transport { return &s.ranks[r] }, s.end, func(t Transport) error { return work(t.(*SimRank)) })
}

// end records that a rank's work has returned; after an error all fail.
func (s *Sim) end(_ int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.fail(errors.Join(ErrAborted, err))
	}
	s.running--
	s.advance()
}

// advance, if every rank waits, simulates the network up to the next completed operation and wakes its rank.
func (s *Sim) advance() {
	if s.failure != nil || s.waiting < s.running || s.running == 0 {
		return
	}
	c, ok := s.net.next()
	if !ok {
		s.fail(fmt.Errorf("topology: no rank can go on: %s", s.stuck()))
		return
	}
	r := &s.ranks[c.rank]
	r.now = c.at
	s.release(r, nil)
}

func (s *Sim) release(r *SimRank, err error) {
	r.inCall = false
	s.waiting--
	r.wake <- err
}

// fail wakes every waiting rank with an error.
func (s *Sim) fail(err error) {
	if s.failure != nil {
		return
	}
	s.failure = err
	for r := range s.ranks {
		if s.ranks[r].inCall {
			s.release(&s.ranks[r], err)
		}
	}
}

// stuck describes the pending calls of the first ranks.
func (s *Sim) stuck() string {
	text := ""
	for r := range s.ranks {
		op := s.net.ops[r]
		if !s.ranks[r].inCall {
			continue
		}
		if len(text) > 200 {
			return text + " ..."
		}
		if op.to != None && !op.sendStarted {
			text += fmt.Sprintf("rank %d sends to %d; ", r, op.to)
		}
		if op.from != None && !op.recvStarted {
			text += fmt.Sprintf("rank %d receives from %d; ", r, op.from)
		}
	}
	return text
}

// Rank returns the rank.
func (t *SimRank) Rank() int { return t.rank }

// Size returns the number of ranks.
func (t *SimRank) Size() int { return len(t.group.ranks) }

// Now returns the rank's virtual time.
func (t *SimRank) Now() VTime { return t.now }

// Elapse advances the rank's clock by the time of its work between calls.
func (t *SimRank) Elapse(d VTime) { t.now += d }

func (t *SimRank) elapseReduce(elements int) {
	t.now += t.group.net.spec.ReduceTime(float64(elements * bytesPerValue))
}

// Send implements Transport.
func (t *SimRank) Send(to int, data []float32) error { return t.call(to, data, None, nil) }

// Recv implements Transport.
func (t *SimRank) Recv(from int, data []float32) error { return t.call(None, nil, from, data) }

// SendRecv implements Transport.
func (t *SimRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	return t.call(to, send, from, recv)
}

func (t *SimRank) call(to int, send []float32, from int, recv []float32) error {
	if to != None {
		if err := checkPeer(t.rank, t.Size(), to, "send to"); err != nil {
			return err
		}
	}
	if from != None {
		if err := checkPeer(t.rank, t.Size(), from, "receive from"); err != nil {
			return err
		}
	}
	if err := t.enter(to, send, from, recv); err != nil {
		return err
	}
	return <-t.wake
}

// enter posts the operation, and advances the clock if this was the last rank at work.
func (t *SimRank) enter(to int, send []float32, from int, recv []float32) error {
	s := t.group
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	t.send, t.recv, t.inCall = send, recv, true
	s.waiting++
	if err := s.net.post(t.rank, t.now, to, len(send)*bytesPerValue, from, len(recv)*bytesPerValue); err != nil {
		s.fail(err)
		return nil
	}
	s.advance()
	return nil
}
