package train

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// signals turns SIGINT, SIGTERM, SIGUSR1 and SIGHUP into actions of the solver. It keeps a snapshot request until the solver asks for
// actions; a stop request is final. Before training begins there is nothing to save, and after its end all is saved. A stop then ends the
// process at once, even while it waits for a file.
type signals struct {
	log *logrus.Logger
	end func(os.Signal)

	mu      sync.Mutex
	pending solver.Action
	running bool
	over    bool
}

// next returns the requested action.
func (s *signals) next() solver.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.pending
	if a != solver.Stop {
		s.pending = solver.None
	}
	return a
}

// begin marks the start of training: from now on the solver asks for actions.
func (s *signals) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

// finish marks the end of training: nobody asks for actions any more.
func (s *signals) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.over = false, true
}

// tell changes the log that is told of requests.
func (s *signals) tell(log *logrus.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = log
}

// take records a signal's request, and logs it before the solver can act on it.
func (s *signals) take(sig os.Signal, a solver.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case a == solver.Stop && s.over:
		s.log.Infof("Ended after the training, while files were written, by signal %d (%v).", sig, sig)
		s.end(sig)
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

// request records a request from another source than a signal.
func (s *signals) request(from string, a solver.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running || s.pending == solver.Stop || s.pending == a {
		return
	}
	s.pending = a
	s.log.Infof("%s asks %s.", from, map[solver.Action]string{solver.Stop: "to stop", solver.Snapshot: "for a snapshot"}[a])
}

// effectNames are the values of -sigint_effect and the others.
var effectNames = cli.OneOf("snapshot", "stop", "none")

var effects = map[string]solver.Action{"stop": solver.Stop, "snapshot": solver.Snapshot, "none": solver.None}

func watchSignals(o *trainOptions, log *logrus.Logger) (*signals, error) {
	s := &signals{log: log, end: cli.EndBySignal}
	for _, w := range []struct {
		flag, value string
		sig         os.Signal
	}{{"sigint_effect", o.sigint, syscall.SIGINT}, {"sigterm_effect", o.sigterm, syscall.SIGTERM}, {"sighup_effect", o.sighup, syscall.SIGHUP}, {"sigusr1_effect", o.sigusr1, launcherSignal}} {
		action, ok := effects[w.value]
		if !ok {
			return nil, cli.Usagef("-%s %q: use snapshot, stop or none", w.flag, w.value)
		}
		if w.sig == nil {
			continue
		}
		// Each signal has its own channel, so that many signals of one kind cannot displace another kind.
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
