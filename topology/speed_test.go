//go:build unix

package topology

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time of this process, which other programs do not change.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSpeed: 1024 nodes take less than 2 s to simulate, and 40,960 by halving and doubling less than 60 s. BenchmarkWholeMachine has the
// other algorithms on 40,960: topology takes longest, less than ten seconds.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("times mean nothing under the race detector")
	}
	spec, err := LoadSpec("taihulight")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		algorithm string
		nodes     int
		limit     time.Duration
	}{
		{"halving_doubling", 1024, 2 * time.Second},
		{"topology", 1024, 2 * time.Second},
		{"halving_doubling", 40960, time.Minute},
	} {
		l := layout(t, spec, c.nodes, Block)
		start := cpuTime(t)
		simulate(t, spec, l, NewSchedule(c.algorithm, l, gradient))
		if took := cpuTime(t) - start; took > c.limit {
			t.Errorf("%s over %d nodes takes %v to simulate, more than %v", c.algorithm, c.nodes, took, c.limit)
		}
	}
}
