package elastic

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/swcaffe/swcaffe/topology"
	"github.com/swcaffe/swcaffe/topology/tcp"
)

// Network makes connections.
type Network interface {
	Listen() (net.Listener, error)
	Dial(address string) (net.Conn, error)
}

// Epoch is a worker's part of an epoch.
type Epoch struct {
	Number int
	Mesh   *tcp.Mesh
	Mail   *Mail
	// State is what another worker's State has returned and from which to go on; nil: this one's own, or the beginning if it has none.
	State []byte
}

// Training is what a worker does.
type Training interface {
	// Iteration is the number of iterations completed, -1 before there is any state. It may be called at any time.
	Iteration() int
	// Version tells which of two workers' states is the later one, -1 before there is any: Iteration, unless workers have one common state that some
	// know better than others. It is called between two Trains.
	Version() int
	// State is the state after so many iterations. It is called between two Trains.
	State() ([]byte, error)
	// Train trains to the end. A failure of a connection is an error with topology.ErrAborted. When that returns, the state must be that after
	// Iteration iterations, whatever it was doing.
	Train(e Epoch) error
	// Rescue writes the state, since the training ends before it is complete.
	Rescue(why error)
}

// Worker is one worker.
type Worker struct {
	Coordinator   string // address
	Word, Program string
	Flags         string // those that all workers must give alike
	Host          string // the name of this computer
	PID           int
	Network       Network
	// Gone, if not nil, reports whether the process of the coordinator is gone, on whose end the worker then does not wait for it to come back.
	Gone func() bool

	arrivals chan arrival
	early    []arrival // of an epoch that has not begun here
	closed   chan struct{}
	address  string
	known    bool // the coordinator has been heard
}

// ErrEnded is the error of a worker that another one, or the coordinator, ends. Its text says why.
var ErrEnded = errors.New("the training has ended")

// ended is an ErrEnded with its reason.
type ended struct{ why string }

func (e *ended) Error() string        { return e.why }
func (e *ended) Is(target error) bool { return target == ErrEnded }

// Run takes part in a training until it is complete. An error that is not an ErrEnded is the worker's own.
func (w *Worker) Run(t Training) error {
	l, err := w.Network.Listen()
	if err != nil {
		return fmt.Errorf("the coordinator at %s cannot be reached: %w", w.Coordinator, err)
	}
	defer l.Close()
	w.address, w.arrivals, w.closed = l.Addr().String(), make(chan arrival), make(chan struct{})
	defer close(w.closed)
	go w.answer(l)
	for tried := time.Now(); ; {
		again, err := w.follow(t)
		switch {
		case !again:
			return err
		case err == nil:
			tried, w.known = time.Now(), true
			continue
		case w.known && errors.Is(err, os.ErrDeadlineExceeded): // a coordinator that is stopped
		case time.Since(tried) >= returns:
			return w.giveUp(t, fmt.Errorf("what answers at %s is no coordinator of a training: %w", w.Coordinator, err))
		}
		time.Sleep(beat)
	}
}

// giveUp returns the error of a worker without a coordinator, once it has kept what it has trained.
func (w *Worker) giveUp(t Training, err error) error {
	if t.Iteration() > 0 {
		t.Rescue(err)
	}
	return err
}

// returns is how long a worker that has lost the coordinator tries to come back: it was stopped so long that it counted as lost, or the
// coordinator has ended.
const returns = 10 * time.Second

// follow does what the coordinator says until the training ends. again says that the connection was lost, with an error if nothing was heard before.
func (w *Worker) follow(t Training) (again bool, err error) {
	conn, err := w.Network.Dial(w.Coordinator)
	for begun := time.Now(); err != nil && time.Since(begun) < returns && (w.Gone == nil || !w.Gone()); conn, err = w.Network.Dial(w.Coordinator) {
		time.Sleep(beat)
	}
	if err != nil {
		return false, w.giveUp(t, fmt.Errorf("the coordinator at %s cannot be reached any more: %w", w.Coordinator, err))
	}
	s := &session{w: w, t: t, line: newLine(conn), heard: make(chan message), quit: make(chan struct{})}
	defer close(s.quit)
	defer s.line.close()
	defer conn.Close()
	s.line.send(message{Kind: kindHello, Word: w.Word, Host: w.Host, Program: w.Program, Flags: w.Flags, Address: w.address, PID: w.PID})
	go s.beat()
	go s.listen()
	return s.run()
}

// session is a worker's connection to the coordinator.
type session struct {
	w     *Worker
	t     Training
	line  *line
	heard chan message // closed when the connection is lost
	lost  error        // why it is lost, if nothing was heard before
	quit  chan struct{}

	result chan error    // of the epoch that is under way; nil: none
	over   chan struct{} // closed when it is over
	epoch  int
	mail   *Mail // of the epoch; nil: there was none
}

func (s *session) beat() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.line.send(message{Kind: kindBeat, Iteration: s.t.Iteration()})
		case <-s.quit:
			return
		}
	}
}

func (s *session) listen() {
	answered := false
	err := s.line.receive(orphaned, func(m message) {
		answered = true
		if m.Kind != kindBeat {
			select {
			case s.heard <- m:
			case <-s.quit:
			}
		}
	})
	if !answered {
		s.lost = err
	}
	close(s.heard)
}

func (s *session) run() (again bool, err error) {
	s.ready()
	for {
		select {
		case m, ok := <-s.heard:
			switch {
			case !ok:
				s.stop()
				return true, s.lost
			case m.Kind == kindEnd:
				return false, s.end(m)
			case m.Kind == kindOver && s.over != nil && m.Epoch == s.epoch:
				s.stop()
				s.ready()
			case m.Kind == kindEpoch:
				s.begin(m)
			case m.Kind == kindMail:
				s.mail.take(m)
			}
		case err := <-s.result:
			s.result = nil
			switch {
			case err == nil:
				s.line.send(message{Kind: kindDone, Epoch: s.epoch})
			case errors.Is(err, topology.ErrAborted):
				s.stop()
				s.ready()
			default:
				return false, s.fail(err)
			}
		}
	}
}

func (s *session) ready() {
	s.line.send(message{Kind: kindReady, Iteration: s.t.Iteration(), Version: s.t.Version(), Epoch: s.epoch})
}

// stop ends the epoch that is under way here, and waits for that.
func (s *session) stop() {
	if s.over != nil {
		close(s.over)
		s.over = nil
	}
	if s.result != nil {
		<-s.result
		s.result = nil
	}
}

// begin takes part in an epoch.
func (s *session) begin(m message) {
	s.epoch, s.over, s.result = m.Epoch, make(chan struct{}), make(chan error, 1)
	s.mail = newMail(s, m)
	over, result, mail := s.over, s.result, s.mail
	go func() { result <- s.train(m, mail, over) }()
}

func (s *session) train(m message, mail *Mail, over chan struct{}) error {
	mesh, err := s.w.meet(m, over)
	if err != nil {
		return err
	}
	failed := make(chan struct{})
	go func() {
		select {
		case <-over: // until then others may still receive what this worker has sent
		case <-failed:
		}
		mesh.Close()
	}()
	e := Epoch{Number: m.Epoch, Mesh: mesh, Mail: mail}
	if e.State, err = s.hand(m, mesh); err == nil {
		err = s.t.Train(e)
	}
	if err != nil {
		close(failed)
	}
	return err
}

// hand gives the latest state to those that have an earlier one.
func (s *session) hand(m message, mesh *tcp.Mesh) (state []byte, err error) {
	if m.From < 0 {
		return nil, nil
	}
	has := func(rank int) bool {
		return m.Iterations[rank] == m.Iterations[m.From] && m.Versions[rank] == m.Versions[m.From]
	}
	if m.Rank != m.From {
		if has(m.Rank) {
			return nil, nil
		}
		return mesh.RecvBytes(m.From)
	}
	for rank := range m.Iterations {
		if has(rank) {
			continue
		}
		if state == nil {
			if state, err = s.t.State(); err != nil {
				return nil, err
			}
		}
		if err := mesh.SendBytes(rank, state); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// end ends the training. Its reason is another worker's or the coordinator's.
func (s *session) end(m message) error {
	s.stop()
	if m.Why == "" {
		return nil
	}
	if m.Rescue {
		s.t.Rescue(errors.New(m.Why))
	}
	if m.Refused {
		return &ended{"refused: " + m.Why} // the training goes on
	}
	return &ended{fmt.Sprintf("%v: %s", ErrEnded, m.Why)}
}

// fail tells the coordinator of an error of this worker's own and waits until it says who keeps what was trained.
func (s *session) fail(err error) error {
	s.line.send(message{Kind: kindFailed, Why: err.Error()})
	for m := range s.heard {
		if m.Kind == kindEnd {
			_ = s.end(m)
			break
		}
	}
	return err
}
