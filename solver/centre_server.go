package solver

import (
	"sync"

	"github.com/swcaffe/swcaffe/internal/relay"
)

// The tail of a message follows the weights and statistics. These are its indices.
const (
	tailAlpha  = iota // eta rho
	tailAction        // requested in a request, agreed in an answer
	tailKind          // the kind of message
	tailSize
)

// The kinds of messages.
const (
	aRequest = iota
	aLeave   // a worker's last message, without answer
	aKept    // the worker has written its own part of a snapshot; without answer
)

// exchanger is a worker's connection to the centre. It sends a message and replaces it by the answer.
type exchanger interface {
	exchange(message []float32) error
	// leave announces the end of the worker's requests. On the worker with the centre it waits for the others.
	leave(message []float32) error
	// kept announces that the worker has written its own part of a snapshot. On the worker with the centre it waits for the others.
	kept(message []float32) error
	// fail reports the worker's failure to the centre, if this process holds it.
	fail(err error)
}

// respond handles a worker's message and returns its kind. The answer to a request replaces the message.
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

// server is the exchanger of the first worker, which holds the centre. One goroutine per other worker answers its messages. The first
// worker's next call raises a panic of such a goroutine.
type server struct {
	*centre
	answering sync.WaitGroup
}

func newServer(c *centre, t Transport) *server {
	s := &server{centre: c}
	for rank := 1; rank < t.Size(); rank++ {
		s.answering.Go(func() {
			if err := relay.Error(func() error { return s.answer(t, rank) }); err != nil {
				c.fail(rank, err)
			}
		})
	}
	return s
}

// answer serves one worker until it leaves. Several goroutines use the transport, each for a different peer.
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
	return relay.RaiseIn(err)
}

// fail implements exchanger.
func (s *server) fail(err error) { s.centre.fail(0, err) }

func (s *server) kept([]float32) error {
	s.keeps(0)
	return relay.RaiseIn(s.allKept())
}

func (s *server) leave(message []float32) error {
	s.centre.leave(0)
	s.answering.Wait()
	return relay.RaiseIn(s.failure())
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

// fail does nothing: the transport stops the other workers.
func (r remote) fail(error) {}
