package train

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// signals turns SIGINT, SIGTERM and SIGHUP into actions of the solver. A snapshot is remembered until the solver asks for actions; a stop is
// final. Before training begins there is nothing to save, and a stop ends the process, which may be waiting for a file.
type signals struct {
	log *logrus.Logger
	end func(os.Signal)

	mu      sync.Mutex
	pending solver.Action
	running bool
}

// next returns what signals ask for.
func (s *signals) next() solver.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.pending
	if a != solver.Stop {
		s.pending = solver.None
	}
	return a
}

// begin says that from now on the solver asks for actions.
func (s *signals) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

// take notes what a signal asks for, and logs it before the solver can act on it.
func (s *signals) take(sig os.Signal, a solver.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case a == solver.Stop && !s.running:
		s.log.Infof("Stopped before the first iteration by signal %d (%v).", sig, sig)
		s.end(sig)
	case a == solver.None || s.pending == solver.Stop || a == s.pending:
	case a == solver.Stop:
		s.pending = a
		s.log.Infof("Signal %d (%v) asks to stop.", sig, sig)
	default:
		s.pending = a
		s.log.Infof("Signal %d (%v) asks for a snapshot.", sig, sig)
	}
}

var effects = map[string]solver.Action{"stop": solver.Stop, "snapshot": solver.Snapshot, "none": solver.None}

func watchSignals(o *trainOptions, log *logrus.Logger) (*signals, error) {
	s := &signals{log: log, end: cli.EndBySignal}
	for _, w := range []struct {
		flag, value string
		sig         os.Signal
	}{{"sigint_effect", o.sigint, syscall.SIGINT}, {"sigterm_effect", o.sigterm, syscall.SIGTERM}, {"sighup_effect", o.sighup, syscall.SIGHUP}} {
		action, ok := effects[w.value]
		if !ok {
			return nil, fmt.Errorf("-%s %q: use snapshot, stop or none", w.flag, w.value)
		}
		// Each signal has a channel of its own: where many of one kind come at once, those of another kind are not dropped.
		channel := make(chan os.Signal, 1)
		signal.Notify(channel, w.sig)
		go func() {
			for sig := range channel {
				s.take(sig, action)
			}
		}()
	}
	return s, nil
}
