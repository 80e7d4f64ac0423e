package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/solver/events"
)

// eventsOf reads a file of events. Its iterations follow one another; those of a resumed run begin at its state's.
func eventsOf(t *testing.T, path string) (list []events.Body, cut int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	next := -1
	cut, err = events.Read(bytes.NewReader(text), func(e events.Event) {
		switch b := e.Body.(type) {
		case *events.Started:
			next = b.Iteration
		case *events.Iteration:
			if b.Iteration != next {
				t.Errorf("iteration %d follows, want %d", b.Iteration, next)
			}
			next++
		}
		list = append(list, e.Body)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, cut
}

// TestEventsSurviveSignals: a kill leaves whole lines, an interrupt ends the file with a stop, and the command line that the log names
// appends to the file.
func TestEventsSurviveSignals(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGKILL, syscall.SIGINT} {
		cmd, dir, log, done := start(t, endless+"snapshot: 5", "Iteration 12 ", "-log_json", "e.jsonl")
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		<-done
		cmd.Wait()
		file := filepath.Join(dir, "e.jsonl")
		list, cut := eventsOf(t, file)
		stop, stopped := list[len(list)-1].(*events.Stopped)
		if cut != 0 || stopped != (sig == syscall.SIGINT) || stopped && !stop.Early || len(list) < 13 {
			t.Errorf("%v: %d events, the last %+v; %d lines are cut", sig, len(list), list[len(list)-1], cut)
		}
		if sig == syscall.SIGINT && !strings.Contains(log.String(), "-log_json e.jsonl -snapshot") {
			t.Errorf("the log's command line lacks the file:\n%s", log)
		}
		short := strings.Replace(endless, "max_iter: 100000000", "max_iter: 11", 1)
		if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(short), 0o644); err != nil {
			t.Fatal(err)
		}
		again := exec.Command(cmd.Path, "train", "-solver", "solver.prototxt", "-snapshot", "s_iter_10.solverstate", "-log_json", "e.jsonl")
		again.Dir = dir
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		both, cut := eventsOf(t, file)
		if last, ok := both[len(both)-1].(*events.Stopped); cut != 0 || !ok || last.Iteration != 11 || len(both) < len(list)+3 {
			t.Errorf("%v: resumed: %d events after %d, the last %+v", sig, len(both), len(list), both[len(both)-1])
		}
	}
}

// TestEventsFullDisk: a training whose events no longer fit goes on and says so once.
func TestEventsFullDisk(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(endless, "max_iter: 100000000", "max_iter: 40 snapshot_after_train: false", 1)
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `ulimit -f 8; exec "$@"`, "sh", buildBinary(t), "train", "-solver", "solver.prototxt", "-log_json", "e.jsonl")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "e.jsonl: an event is lost:") != 1 || !strings.Contains(string(out), "Optimization Done.") {
		t.Errorf("%v\n%s", err, out)
	}
	if list, cut := eventsOf(t, filepath.Join(dir, "e.jsonl")); cut > 1 || len(list) < 5 || len(list) > 40 {
		t.Errorf("%d events, %d lines are cut", len(list), cut)
	}
}
