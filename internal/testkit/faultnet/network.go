// Package faultnet is a transport between workers of one process whose faults are drawn from a seed: late messages, messages of different
// pairs that overtake one another, stalled and lost workers. Tests run collectives and strategies on it.
//
// Time is that of package time. In a bubble of testing/synctest it is virtual, and the same seed gives the same run: every delay is a function of
// the seed and of the number of the message or call, never of the order in which goroutines come to draw it. Times are whole nanoseconds: with
// delays of seconds, two things hardly ever happen at the same moment, when their order would be open.
package faultnet

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/topology"
)

// Faults say what goes wrong. The zero Faults are none: messages take no time.
type Faults struct {
	Seed uint64
	// Delay is the longest time of a message. Times are drawn for each message, but those of one pair in one direction never overtake one
	// another: MPI promises that.
	Delay time.Duration
	// Stall is the longest time for which a worker does nothing before a call; one call in 16 is drawn for it.
	Stall time.Duration
	// Eager permits sends that return before the other side receives, as MPI does with short messages; which ones is drawn.
	Eager bool
	// Lost is when workers are lost, by rank. From then on all calls of that worker fail, those that wait too.
	Lost map[int]time.Duration
	// Notice is the longest time until another worker finds out that one has ended or is lost.
	Notice time.Duration
}

// ErrLost is the error of a lost worker's calls.
var ErrLost = errors.New("faultnet: this worker is lost")

// Patience is the time after which all waiting calls fail: far more than any schedule of faults takes, so that the run hangs.
const Patience = 1000 * time.Hour

// Network connects workers.
type Network struct {
	faults Faults
	start  time.Time
	links  []link // [from*size+to]
	ranks  []worker
	hung   chan struct{} // closed after Patience
	timer  *time.Timer
	trace  atomic.Uint64
}

// link is what goes from one worker to another.
type link struct {
	messages chan message
	sent     uint64
	last     time.Duration // when the last message arrives
}

// message is on its way. taken is nil if the sender does not wait.
type message struct {
	data    []float32
	number  uint64
	arrives time.Duration
	taken   chan struct{}
}

// worker is one worker's transport. Calls for different peers may come from several goroutines.
type worker struct {
	net   *Network
	rank  int
	calls []atomic.Uint64 // by peer
	lost  chan struct{}   // closed when the worker is lost
	once  sync.Once
	gone  chan struct{} // closed when others notice that it has ended
	cause error
}

// room is the number of messages on their way from one worker to another at which the next one waits.
const room = 64

// New returns a network of a number of workers.
func New(size int, f Faults) *Network {
	n := &Network{faults: f, start: time.Now(), links: make([]link, size*size), ranks: make([]worker, size), hung: make(chan struct{})}
	for i := range n.links {
		n.links[i].messages = make(chan message, room)
	}
	for r := range n.ranks {
		n.ranks[r] = worker{net: n, rank: r, calls: make([]atomic.Uint64, size), lost: make(chan struct{}), gone: make(chan struct{})}
		if at, ok := f.Lost[r]; ok {
			time.AfterFunc(at, func() {
				close(n.ranks[r].lost)
				n.ranks[r].end(ErrLost)
			})
		}
	}
	n.timer = time.AfterFunc(Patience, func() { close(n.hung) })
	return n
}

// Run calls work for each worker at the same time and returns their errors, by rank, when all have returned.
func (n *Network) Run(work func(t topology.Transport) error) []error {
	errs := make([]error, len(n.ranks))
	var wg sync.WaitGroup
	for r := range n.ranks {
		wg.Go(func() {
			errs[r] = work(&n.ranks[r])
			n.ranks[r].end(errs[r])
		})
	}
	wg.Wait()
	n.timer.Stop()
	return errs
}

// Elapsed is the time since New.
func (n *Network) Elapsed() time.Duration { return time.Since(n.start) }

// Trace is a number that two runs share if all messages arrived at the same times with the same values.
func (n *Network) Trace() uint64 { return n.trace.Load() }

// Kinds of drawn numbers.
const (
	drawDelay = iota
	drawEager
	drawStall
	drawStallTime
	drawNotice
)

// draw returns a number of the seed for one thing; the same for the same arguments (splitmix64: G. Steele et al., OOPSLA 2014).
func (n *Network) draw(kind, a, b int, number uint64) uint64 {
	x := n.faults.Seed
	for _, v := range []uint64{uint64(kind), uint64(a), uint64(b), number} {
		x = mix(x + v + 1)
	}
	return x
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// upTo is a time from 0 to longest.
func upTo(drawn uint64, longest time.Duration) time.Duration {
	return time.Duration(drawn % uint64(longest+1))
}

func (n *Network) link(from, to int) *link { return &n.links[from*len(n.ranks)+to] }

// end has others notice, some time from now, that the worker has ended.
func (w *worker) end(err error) {
	w.once.Do(func() {
		w.cause = fmt.Errorf("%w: rank %d has ended", topology.ErrAborted, w.rank)
		if err != nil {
			w.cause = fmt.Errorf("%w: rank %d: %w", topology.ErrAborted, w.rank, err)
		}
		time.AfterFunc(upTo(w.net.draw(drawNotice, w.rank, 0, 0), w.net.faults.Notice), func() { close(w.gone) })
	})
}
