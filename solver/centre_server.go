package solver

import "sync"

// What a message to and from the centre has behind the weights and statistics.
const (
	tailAlpha  = iota // eta rho
	tailAction        // asked for, agreed
	tailKind          // one of the kinds of messages
	tailSize
)

// The kinds of messages.
const (
	aRequest = iota
	aLeave   // the last message of a worker, which is not answered
	aKept    // the worker has written its own part of a snapshot; not answered
)

// exchanger is a worker's way to the centre: it hands a message over and replaces it by the answer.
type exchanger interface {
	exchange(message []float32) error
	// leave tells the centre that this was all. The worker that has the centre waits for the others.
	leave(message []float32) error
	// kept tells the centre that the worker has written its own part of a snapshot. The worker that has the centre waits for the others.
	kept(message []float32) error
	// fail tells what this process has of the centre that the worker has failed.
	fail(err error)
}

// respond does what a worker's message asks for and reports which kind it was; the answer to a request takes its place.
func (c *centre) respond(rank int, message []float32) (kind int, err error) {
	body, tail := message[:len(c.weights)], message[len(c.weights):]
	switch kind = int(tail[tailKind]); kind {
	case aLeave:
		c.ask(Action(tail[tailAction]))
		c.leave(rank)
		return kind, nil
	case aKept:
		c.keeps(rank)
		return kind, nil
	}
	agreed, err := c.serve(rank, body, tail[tailAlpha], Action(tail[tailAction]))
	tail[tailAction] = float32(agreed)
	return kind, err
}

// server is the exchanger of the first worker, which has the centre: a goroutine each answers the other workers.
type server struct {
	*centre
	answering sync.WaitGroup
}

func newServer(c *centre, t Transport) *server {
	s := &server{centre: c}
	for rank := 1; rank < t.Size(); rank++ {
		s.answering.Go(func() {
			if err := s.answer(t, rank); err != nil {
				c.fail(rank, err)
			}
		})
	}
	return s
}

// answer serves one worker to its end. The transport is used by several goroutines, each with another peer.
func (s *server) answer(t Transport, rank int) error {
	message := make([]float32, len(s.weights)+tailSize)
	for {
		if err := t.Recv(rank, message); err != nil {
			return err
		}
		kind, err := s.respond(rank, message)
		if err != nil || kind == aLeave {
			return err
		}
		if kind == aKept {
			continue
		}
		if err := t.Send(rank, message); err != nil {
			return err
		}
	}
}

func (s *server) exchange(message []float32) error {
	_, err := s.respond(0, message)
	return err
}

// fail implements exchanger.
func (s *server) fail(err error) { s.centre.fail(0, err) }

func (s *server) kept([]float32) error {
	s.keeps(0)
	return s.allKept()
}

func (s *server) leave(message []float32) error {
	s.centre.leave(0)
	s.answering.Wait()
	return s.failure()
}

// remote is the exchanger of the other workers.
type remote struct{ t Transport }

func (r remote) exchange(message []float32) error {
	if err := r.t.Send(0, message); err != nil {
		return err
	}
	return r.t.Recv(0, message)
}

func (r remote) leave(message []float32) error {
	message[len(message)-tailSize+tailKind] = aLeave
	return r.t.Send(0, message)
}

func (r remote) kept(message []float32) error {
	message[len(message)-tailSize+tailKind] = aKept
	return r.t.Send(0, message)
}

// fail leaves it to the transport to stop the others.
func (r remote) fail(error) {}
