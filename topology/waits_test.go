package topology

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTellWaits: workers of one process name one that does nothing for some seconds within five, and say when it is back.
func TestTellWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		begun := time.Now()
		err := NewLocal(2).Run(func(tr Transport) error {
			tr, stop := TellWaits(tr, func(line string) {
				mu.Lock()
				defer mu.Unlock()
				if told = append(told, line); len(told) == 1 && time.Since(begun) > 5*time.Second {
					t.Errorf("told after %v", time.Since(begun))
				}
			})
			defer stop()
			if tr.Rank() == 1 {
				time.Sleep(6500 * time.Millisecond)
			}
			data := make([]float32, 100)
			return NewAllReduce(tr, NewSchedule("ring", Flat(2), 100)).Run(data)
		})
		want := []string{"rank 0 has waited 4s for rank 1: for a message of it; it goes on waiting", "rank 1 is back: rank 0 waited 6s for a message of it"}
		if err != nil || !slices.Equal(told, want) {
			t.Errorf("told %q, want %q; error %v", told, want, err)
		}
	})
}

// TestWaits: a long wait is reported after four seconds and at growing intervals, and so is its end. Short waits are not reported, nor is a call
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
	w.look(began + 3*second)
	check("3 s")
	w.look(began + 4*second)
	check("4 s", "rank 0 has waited 4s for rank 2: for a message of it; it goes on waiting")
	for s := time.Duration(5); s < 8; s++ {
		w.look(began + s*second)
	}
	check("7 s")
	w.look(began + 8*second)
	check("8 s", "rank 0 has waited 8s for rank 2: for a message of it; it goes on waiting")
	w.look(began + 15*second)
	check("15 s")
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
