package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// slow is a solver like endless whose iterations take some tenths of a second.
var slow = strings.NewReplacer("dim: 8 dim: 64", "dim: 1024 dim: 1024", "dim: 8 dim: 500", "dim: 1024 dim: 1500", "num_output: 500", "num_output: 1500").Replace(endless)

// TestSIGHUPAfterStop: if SIGHUP arrives in the same iteration as a stop signal, before or after it, the run stops with a
// snapshot. It holds for one worker, for several, and for every way in which workers agree. One worker gets all pairs of signals, each of
// the others one.
func TestSIGHUPAfterStop(t *testing.T) {
	pairs := [][]syscall.Signal{{syscall.SIGTERM, syscall.SIGHUP}, {syscall.SIGHUP, syscall.SIGTERM}, {syscall.SIGTERM, syscall.SIGINT}}
	for i, args := range [][]string{
		{"-threads", "1"}, {"-workers", "2"}, {"-workers", "2", "-workers_strategy", "easgd"}, {"-workers", "2", "-workers_strategy", "sync_easgd3"},
		{"-threads", "1", "-sigint_effect", "snapshot", "-sighup_effect", "stop"},
	} {
		some := pairs
		if i > 0 {
			some = pairs[i%2 : i%2+1]
		}
		for _, pair := range some {
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
