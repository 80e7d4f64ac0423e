package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
		s := &signals{log: quietLog(), end: func(os.Signal) { t.Errorf("%v: the process ends", c.taken) }}
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
	s := &signals{log: quietLog(), end: func(sig os.Signal) { ended = append(ended, sig) }}
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

// slow is a solver like endless whose iterations take some tenths of a second.
var slow = strings.NewReplacer("dim: 8 dim: 64", "dim: 1024 dim: 1024", "dim: 8 dim: 500", "dim: 1024 dim: 1500", "num_output: 500", "num_output: 1500").Replace(endless)

// TestSIGHUPAfterStop: signals of one iteration, the stop first or last, stop with a snapshot: for one worker, several, and all ways to agree.
func TestSIGHUPAfterStop(t *testing.T) {
	for _, args := range [][]string{
		{"-threads", "1"}, {"-workers", "2"}, {"-workers", "2", "-strategy", "easgd"}, {"-workers", "2", "-strategy", "sync_easgd3"},
		{"-threads", "1", "-sigint_effect", "snapshot", "-sighup_effect", "stop"},
	} {
		for _, pair := range [][]syscall.Signal{{syscall.SIGTERM, syscall.SIGHUP}, {syscall.SIGHUP, syscall.SIGTERM}, {syscall.SIGTERM, syscall.SIGINT}} {
			cmd, dir, log, done := start(t, slow, "Iteration 1 ", args...)
			time.Sleep(50 * time.Millisecond) // into the next iteration's passes
			for _, sig := range pair {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			select {
			case <-done:
			case <-time.After(patience):
				t.Fatalf("%v, %v: it goes on:\n%s", args, pair, log)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v, %v: %v\n%s", args, pair, err, log)
			}
			if n := countSnapshots(t, dir); n == 0 || !strings.Contains(log.String(), "Optimization stopped early.") {
				t.Errorf("%v, %v: %d snapshots, log:\n%s", args, pair, n, log)
			}
		}
	}
}
