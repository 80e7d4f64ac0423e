package centre

import (
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// Transport is a worker's connection to the others. Calls block, and both sides give the same length.
type Transport interface {
	Size() int
	Send(to int, data []float32) error
	Recv(from int, data []float32) error
}

// respond handles a worker's message and returns its kind. The answer to a request replaces the message.
func (c *Centre) respond(rank int, m Message) (kind int, err error) {
	tail := m.tail()
	switch kind = int(tail[tailKind]); kind {
	case aLeave:
		c.ask(m.Agreed())
		c.leave(rank)
		return kind, nil
	case aKept:
		c.keeps(rank)
		return kind, nil
	}
	agreed, err := c.serve(rank, m.Body(), tail[tailAlpha], m.Agreed())
	tail[tailAction] = float32(agreed)
	return kind, err
}

// Server connects the first worker to the centre, which it holds. One goroutine per other worker answers its messages. The first
// worker's next call raises a panic of such a goroutine.
type Server struct {
	centre    *Centre
	answering sync.WaitGroup
}

// Serve starts answering the other workers.
func Serve(c *Centre, t Transport) *Server {
	s := &Server{centre: c}
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
func (s *Server) answer(t Transport, rank int) error {
	m := NewMessage(len(s.centre.Weights) + s.centre.behind)
	for {
		if err := t.Recv(rank, m); err != nil {
			return err
		}
		kind, err := s.centre.respond(rank, m)
		if err != nil || kind == aLeave {
			return err
		}
		if kind == aKept {
			continue
		}
		if err := t.Send(rank, m); err != nil {
			return err
		}
	}
}

// Exchange sends a request and replaces it by the answer.
func (s *Server) Exchange(m Message) error {
	_, err := s.centre.respond(0, m)
	return relay.RaiseIn(err)
}

// Kept announces that the worker has written its own part of a snapshot, and waits for the others.
func (s *Server) Kept(Message) error {
	s.centre.keeps(0)
	return relay.RaiseIn(s.centre.allKept())
}

// Leave announces the end of the worker's requests, and waits for the others.
func (s *Server) Leave(Message) error {
	s.centre.leave(0)
	s.answering.Wait()
	return relay.RaiseIn(s.centre.failure())
}

// Fail reports the worker's failure to the centre.
func (s *Server) Fail(err error) { s.centre.fail(0, err) }

// Remote connects another worker to the centre. The message is scratch for Leave and Kept.
type Remote struct{ Transport Transport }

// Exchange sends a request and replaces it by the answer.
func (r Remote) Exchange(m Message) error {
	if err := r.Transport.Send(0, m); err != nil {
		return err
	}
	return r.Transport.Recv(0, m)
}

// Leave announces the end of the worker's requests.
func (r Remote) Leave(m Message) error {
	m.leave()
	return r.Transport.Send(0, m)
}

// Kept announces that the worker has written its own part of a snapshot.
func (r Remote) Kept(m Message) error {
	m.tail()[tailKind] = aKept
	return r.Transport.Send(0, m)
}

// Fail does nothing: the transport stops the other workers.
func (r Remote) Fail(error) {}
