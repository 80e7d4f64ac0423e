package topology

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// firstWord is after how long a wait for another rank is first told of; then it is each time the wait has become twice as long.
const firstWord = 5 * time.Second

// waits follows how long this rank has been waiting for others. A rank that is stopped, or whose computer hangs, makes all others wait
// without an end, as MPI sees no fault: so that is told, and when the rank is back. A call may begin and end at any time; one look at a time.
type waits struct {
	rank  int
	tell  func(line string)
	since [][waitKinds]waitSlot // by rank
	start time.Time
}

// The kinds of calls that wait.
const (
	waitSend = iota
	waitRecv
	waitKinds
)

var waitWords = [waitKinds]string{"it to take a message", "a message of it"}

// waitSlot is one kind of call to one rank.
type waitSlot struct {
	began atomic.Int64 // nanoseconds since start, 1 or more; 0: none is under way
	mu    sync.Mutex
	call  int64         // the call that was told of
	told  time.Duration // how long it had waited when it was last told of; 0: it was not
}

func newWaits(rank, size int, tell func(line string)) *waits {
	return &waits{rank: rank, tell: tell, since: make([][waitKinds]waitSlot, size), start: time.Now()}
}

// begin notes that a call waits for a rank from now on; nil waits note nothing.
func (w *waits) begin(kind, peer int) {
	if w != nil {
		w.since[peer][kind].began.Store(max(1, int64(time.Since(w.start))))
	}
}

// end notes that it does no more.
func (w *waits) end(kind, peer int) {
	if w == nil {
		return
	}
	s := &w.since[peer][kind]
	call := s.began.Swap(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told > 0 && s.call == call {
		w.tell(fmt.Sprintf("rank %d is back: rank %d waited %v for %s", peer, w.rank, (time.Since(w.start) - time.Duration(call)).Round(time.Second), waitWords[kind]))
		s.told = 0
	}
}

// look tells of the calls that have waited long; now is the time since start.
func (w *waits) look(now time.Duration) {
	for peer := range w.since {
		for kind := range waitKinds {
			s := &w.since[peer][kind]
			s.mu.Lock()
			call := s.began.Load()
			if call != s.call {
				s.call, s.told = call, 0
			}
			waited := now - time.Duration(call)
			if call != 0 && waited >= max(firstWord, 2*s.told) {
				s.told = waited
				w.tell(fmt.Sprintf("rank %d has waited %v for rank %d: for %s; it goes on waiting", w.rank, waited.Round(time.Second), peer, waitWords[kind]))
			}
			s.mu.Unlock()
		}
	}
}

// follow looks every second, for as long as the process lives.
func (w *waits) follow() {
	for range time.Tick(time.Second) {
		w.look(time.Since(w.start))
	}
}
