package topology

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// firstWord is the duration after which a wait for another rank is first reported, at the next look, so that five seconds do not pass in silence.
// It is reported again each time the duration has doubled.
const firstWord = 4 * time.Second

// waits tracks how long this rank has been waiting for others. If a rank is stopped, or its computer hangs, all others wait forever, since
// MPI reports no fault. Such waits are therefore reported, and their ends too. Calls may begin and end at any time; one goroutine looks at a
// time.
type waits struct {
	rank  int
	tell  func(line string)
	since [][waitKinds]waitSlot // one slot for each rank and kind
	start time.Time
}

// The kinds of waiting calls.
const (
	waitSend = iota
	waitRecv
	waitKinds
)

var waitWords = [waitKinds]string{"it to take a message", "a message of it"}

// waitSlot is one kind of call to one rank.
type waitSlot struct {
	began atomic.Int64 // start of the call in nanoseconds since start, at least 1; 0: no call
	mu    sync.Mutex
	call  int64         // the call that was reported
	told  time.Duration // its duration when it was last reported; 0: not reported
}

func newWaits(rank, size int, tell func(line string)) *waits {
	return &waits{rank: rank, tell: tell, since: make([][waitKinds]waitSlot, size), start: time.Now()}
}

// begin records that a call starts to wait for a rank; it does nothing if w is nil.
func (w *waits) begin(kind, peer int) {
	if w != nil {
		w.since[peer][kind].began.Store(max(1, int64(time.Since(w.start))))
	}
}

// end records that the call has ended.
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

// look reports the calls that have waited long; now is the time since start.
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

// follow calls look twice a second until stopped is closed; nil: as long as the process lives.
func (w *waits) follow(stopped <-chan struct{}) {
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.look(time.Since(w.start))
		case <-stopped:
			return
		}
	}
}

// TellWaits returns a transport that does what t does and reports, in lines of text, calls that have waited for another rank for many seconds, and
// their ends, until stop is called. tell may be called from any goroutine. t's time must be real. MPIJob has a TellWaits of its own.
func TellWaits(t Transport, tell func(line string)) (told Transport, stop func()) {
	stopped := make(chan struct{})
	w := &waiting{t, newWaits(t.Rank(), t.Size(), tell)}
	go w.waits.follow(stopped)
	told = w
	if a, ok := t.(adder); ok {
		told = &waitingAdder{w, a}
	}
	return told, func() { close(stopped) }
}

// waiting is a transport whose waits are reported.
type waiting struct {
	Transport
	waits *waits
}

// call makes a call that waits for a rank.
func (w *waiting) call(kind, peer int, do func() error) error {
	if peer >= 0 && peer < w.Size() {
		w.waits.begin(kind, peer)
		defer w.waits.end(kind, peer)
	}
	return do()
}

func (w *waiting) Send(to int, data []float32) error {
	return w.call(waitSend, to, func() error { return w.Transport.Send(to, data) })
}

func (w *waiting) Recv(from int, data []float32) error {
	return w.call(waitRecv, from, func() error { return w.Transport.Recv(from, data) })
}

func (w *waiting) SendRecv(to int, send []float32, from int, recv []float32) error {
	return w.call(waitRecv, from, func() error { return w.Transport.SendRecv(to, send, from, recv) })
}

// waitingAdder is such a transport between ranks that share memory.
type waitingAdder struct {
	*waiting
	adder adder
}

func (w *waitingAdder) RecvAdd(from int, data []float32) error {
	return w.call(waitRecv, from, func() error { return w.adder.RecvAdd(from, data) })
}

func (w *waitingAdder) SendRecvAdd(to int, send []float32, from int, data []float32) error {
	return w.call(waitRecv, from, func() error { return w.adder.SendRecvAdd(to, send, from, data) })
}
