package topology

import (
	"slices"
	"testing"
	"time"
)

// TestWaits: a long wait is reported after five seconds and at growing intervals, and so is its end. Short waits are not reported, nor is a call
// that has replaced a long one.
func TestWaits(t *testing.T) {
	var told []string
	w := newWaits(0, 3, func(line string) { told = append(told, line) })
	const second = time.Second
	check := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %q, want %q", what, told, want)
		}
		told = nil
	}
	w.begin(waitRecv, 2)
	began := time.Duration(w.since[2][waitRecv].began.Load())
	w.look(began + 4*second)
	check("4 s")
	w.look(began + 5*second)
	check("5 s", "rank 0 has waited 5s for rank 2: for a message of it; it goes on waiting")
	for s := time.Duration(6); s < 10; s++ {
		w.look(began + s*second)
	}
	check("9 s")
	w.look(began + 10*second)
	check("10 s", "rank 0 has waited 10s for rank 2: for a message of it; it goes on waiting")
	w.look(began + 19*second)
	check("19 s")
	w.end(waitRecv, 2)
	check("end", "rank 2 is back: rank 0 waited 0s for a message of it")
	w.look(began + 60*second)
	check("nothing under way")
	w.begin(waitSend, 1)
	w.end(waitSend, 1)
	check("a short one")
	var none *waits
	none.begin(waitSend, 1)
	none.end(waitSend, 1)
}
