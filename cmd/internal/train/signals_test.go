package train

import (
	"github.com/swcaffe/swcaffe/layers"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/solver"
)

// TestStopIsFinal: a stop wins over what comes before and after it, as often as the solver asks; a snapshot is asked for once.
func TestStopIsFinal(t *testing.T) {
	const none, stop, snapshot = solver.None, solver.Stop, solver.Snapshot
	for _, c := range []struct{ taken, want []solver.Action }{
		{[]solver.Action{stop}, []solver.Action{stop, stop}},
		{[]solver.Action{stop, snapshot}, []solver.Action{stop, stop}},
		{[]solver.Action{snapshot, stop}, []solver.Action{stop, stop}},
		{[]solver.Action{stop, none}, []solver.Action{stop, stop}},
		{[]solver.Action{snapshot, none}, []solver.Action{snapshot, none}},
		{[]solver.Action{snapshot, snapshot}, []solver.Action{snapshot, none}},
		{[]solver.Action{none}, []solver.Action{none, none}},
	} {
		s := &signals{log: layers.NoLog(), end: func(os.Signal) { t.Errorf("%v: the process ends", c.taken) }}
		s.begin()
		for _, a := range c.taken {
			s.take(syscall.SIGTERM, a)
		}
		if got := []solver.Action{s.next(), s.next()}; !slices.Equal(got, c.want) {
			t.Errorf("after %v the solver is told %v, want %v", c.taken, got, c.want)
		}
	}
}

// TestStopBeforeTraining: until training begins a stop ends the process by its signal, and a snapshot waits.
func TestStopBeforeTraining(t *testing.T) {
	var ended []os.Signal
	s := &signals{log: layers.NoLog(), end: func(sig os.Signal) { ended = append(ended, sig) }}
	s.take(syscall.SIGHUP, solver.Snapshot)
	s.take(syscall.SIGINT, solver.None)
	s.take(syscall.SIGTERM, solver.Stop)
	if !slices.Equal(ended, []os.Signal{syscall.SIGTERM}) {
		t.Errorf("the process ends by %v, want SIGTERM", ended)
	}
	if s.begin(); s.next() != solver.Snapshot {
		t.Error("the snapshot that was asked for before training is forgotten")
	}
}

// TestStopAfterTraining: a stop ends the process also where one was asked for in the training, as a file may wait for its reader for ever.
func TestStopAfterTraining(t *testing.T) {
	var ended []os.Signal
	s := &signals{log: layers.NoLog(), end: func(sig os.Signal) { ended = append(ended, sig) }}
	s.begin()
	s.take(syscall.SIGTERM, solver.Stop)
	s.finish()
	s.take(syscall.SIGHUP, solver.Snapshot)
	s.take(syscall.SIGINT, solver.Stop)
	if !slices.Equal(ended, []os.Signal{syscall.SIGINT}) {
		t.Errorf("the process ends by %v, want SIGINT", ended)
	}
}
