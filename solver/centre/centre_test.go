package centre

import (
	"errors"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// TestQueueNamesLowest: if several workers fail in virtual time, the error names the lowest rank, whoever failed first.
func TestQueueNamesLowest(t *testing.T) {
	q := NewQueue(3, nil, 0)
	q.centre = New(Kind{Order: FirstCome}, 3, 0, nil, 0)
	waiting := make(chan error)
	go func() { waiting <- q.workers[0].Exchange([]float32{1}) }()
	q.workers[2].Fail(errors.New("of the third"))
	q.workers[1].Fail(errors.New("of the second"))
	if err := <-waiting; err == nil || err.Error() != "rank 1: of the second" {
		t.Errorf("got %v, want the error of rank 1", err)
	}
}

// TestTurnsBeforeFault: if workers take turns, requests before a failed worker's turn are served, whenever it failed.
func TestTurnsBeforeFault(t *testing.T) {
	c := New(Kind{Order: InTurn, Rule: Descend}, 3, 0, make([]float32, 1), 1)
	broken := errors.New("broken")
	c.fail(2, broken)
	for rank := range 2 {
		if _, err := c.serve(rank, []float32{1}, 0, None); err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if _, err := c.serve(0, []float32{1}, 0, None); err != broken || c.Weights[0] != -2 {
		t.Errorf("weight %g and error %v after two requests, want -2 and %v", c.Weights[0], err, broken)
	}
}

// TestRoundsAgree: a late worker gets the action of its own round, not that of the next.
func TestRoundsAgree(t *testing.T) {
	for _, action := range []Action{Stop, Snapshot} {
		c := New(Kind{Order: InTurn, Rule: Descend}, 2, 0, make([]float32, 1), 1)
		serve := func(rank int, asked, want Action) {
			t.Helper()
			if got, err := c.serve(rank, []float32{1}, 0, asked); got != want || err != nil {
				t.Errorf("rank %d is told %v, want %v; error %v", rank, got, want, err)
			}
		}
		serve(0, None, None)
		next := make(chan struct{})
		go func() {
			defer close(next)
			serve(0, action, action)
		}()
		time.Sleep(10 * time.Millisecond) // the request for the next round is waiting
		serve(1, None, None)
		<-next
		serve(1, None, action)
	}
}

// broken is a Transport whose Recv panics.
type broken struct{ Transport }

func (broken) Size() int                 { return 2 }
func (broken) Recv(int, []float32) error { panic("words") }

// TestServerPanics: the panic of a goroutine that answers a worker is raised by every call of the worker with the centre.
func TestServerPanics(t *testing.T) {
	for name, call := range map[string]func(s *Server) error{
		"exchange": func(s *Server) error { return s.Exchange(NewMessage(1)) },
		"kept":     func(s *Server) error { return s.Kept(nil) },
		"leave":    func(s *Server) error { return s.Leave(nil) },
	} {
		var p *relay.Panic
		func() {
			defer relay.Catch(&p)
			s := Serve(New(Kind{Order: InTurn}, 2, 0, make([]float32, 1), 1), broken{})
			if name != "leave" {
				s.answering.Wait()
			}
			if name == "exchange" { // rank 0's own turn comes first
				if err := s.Exchange(NewMessage(1)); err != nil {
					t.Error(err)
				}
			}
			t.Errorf("%s returned %v", name, call(s))
		}()
		if p == nil || p.Value != "words" {
			t.Errorf("%s raised %v", name, p)
		}
	}
}
