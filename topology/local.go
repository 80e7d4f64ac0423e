package topology

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// ErrAborted is the error of a call whose other side has failed.
var ErrAborted = errors.New("topology: another rank has failed")

// Local is a group of ranks in one process.
//
// A rank's call fails only if the rank on its other side has ended. How far each rank gets, and which errors occur, therefore depends only on
// what the ranks do, not on their timing.
type Local struct {
	ranks []localRank
	boxes []mailbox // [from*size+to]
}

// mailbox passes a slice from one rank to another. The receiver copies or adds the sender's slice in place, then acknowledges it. The
// sender's call returns only then.
type mailbox struct {
	data chan []float32
	ack  chan struct{}
}

// NewLocal returns a group of size ranks, each for one goroutine.
func NewLocal(size int) *Local {
	l := &Local{ranks: make([]localRank, size), boxes: make([]mailbox, size*size)}
	for i := range l.boxes {
		l.boxes[i] = mailbox{data: make(chan []float32, 1), ack: make(chan struct{}, 1)}
	}
	for r := range l.ranks {
		l.ranks[r] = localRank{group: l, rank: r, ended: make(chan struct{})}
	}
	return l
}

// Transport returns the rank's side of the group.
func (l *Local) Transport(rank int) Transport { return &l.ranks[rank] }

// Run calls work in a goroutine for each rank and waits for all. If one returns an error, ranks that wait for it get an error too. Run
// returns the error of the lowest rank that failed by itself, as a *RankError.
func (l *Local) Run(work func(t Transport) error) error {
	return runRanks(len(l.ranks), l.Transport, l.end, work)
}

// end records that a rank's work has ended, and its error.
func (l *Local) end(rank int, err error) {
	t := &l.ranks[rank]
	t.cause = fmt.Errorf("topology: rank %d has ended", rank)
	if err != nil {
		t.cause = errors.Join(ErrAborted, err)
	}
	close(t.ended)
}

// runRanks calls work for every rank concurrently, and returns the failure of the lowest rank whose failure is not a consequence of
// another's. It raises the panic of a rank, the lowest one's of several, when all ranks have ended. It calls end when the work of a rank
// has ended.
func runRanks(size int, transport func(rank int) Transport, end func(rank int, err error), work func(Transport) error) error {
	errs := make([]error, size)
	var wg sync.WaitGroup
	for r := range size {
		wg.Go(func() {
			if err := relay.Error(func() error { return work(transport(r)) }); err != nil {
				errs[r] = &RankError{r, err}
			}
			end(r, errs[r])
		})
	}
	wg.Wait()
	var consequence error
	for _, err := range errs {
		if e, ok := err.(*RankError); ok {
			_ = relay.RaiseIn(e.Err)
		}
	}
	for _, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, ErrAborted):
			return err
		case consequence == nil:
			consequence = err
		}
	}
	return consequence
}

type localRank struct {
	group *Local
	rank  int
	ended chan struct{} // closed when the rank's work has returned
	cause error         // error of other ranks' calls from then on
}

func (t *localRank) Rank() int { return t.rank }

func (t *localRank) Size() int { return len(t.group.ranks) }

func (t *localRank) box(from, to int) *mailbox { return &t.group.boxes[from*len(t.group.ranks)+to] }

func (t *localRank) Send(to int, data []float32) error {
	if err := t.post(to, data); err != nil {
		return err
	}
	return t.acknowledged(to)
}

func (t *localRank) Recv(from int, data []float32) error {
	if err := checkPeer(t.rank, t.Size(), from, "receive from"); err != nil {
		return err
	}
	return t.take(from, data, copyValues)
}

// RecvAdd receives values and adds them to data.
func (t *localRank) RecvAdd(from int, data []float32) error {
	if err := checkPeer(t.rank, t.Size(), from, "receive from"); err != nil {
		return err
	}
	return t.take(from, data, addValues)
}

func copyValues(dst, src []float32) { copy(dst, src) }

func addValues(dst, src []float32) { vec.Add(dst, dst, src) }

// take receives the next message of a rank into data.
func (t *localRank) take(from int, data []float32, read func(dst, src []float32)) error {
	box := t.box(from, t.rank)
	sent, err := await(&t.group.ranks[from], box.data)
	if err != nil {
		return err
	}
	if len(sent) != len(data) {
		return lengthError(from, t.rank, len(sent), len(data))
	}
	read(data, sent)
	box.ack <- struct{}{}
	return nil
}

// patience is the number of polls for another rank, yielding in between, before a rank sleeps. Waking a thread takes longer than ranks with
// equal work usually differ.
const patience = 200

// await receives from a channel of a peer. Values that the peer sent before it ended are still received.
func await[T any](peer *localRank, c <-chan T) (T, error) {
	for range patience {
		select {
		case v := <-c:
			return v, nil
		default:
			runtime.Gosched()
		}
	}
	select {
	case v := <-c:
		return v, nil
	case <-peer.ended:
	}
	select {
	case v := <-c:
		return v, nil
	default:
		var none T
		return none, peer.cause
	}
}

func (t *localRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	return t.exchange(to, send, from, recv, copyValues)
}

// SendRecvAdd sends, receives and adds to data, which must not overlap send.
func (t *localRank) SendRecvAdd(to int, send []float32, from int, data []float32) error {
	return t.exchange(to, send, from, data, addValues)
}

func (t *localRank) exchange(to int, send []float32, from int, recv []float32, read func(dst, src []float32)) error {
	if err := checkPeer(t.rank, t.Size(), from, "receive from"); err != nil {
		return err
	}
	if err := t.post(to, send); err != nil {
		return err
	}
	taken := t.take(from, recv, read)
	if err := t.acknowledged(to); taken == nil { // wait even after an error: the peer may still be reading the posted slice
		return err
	}
	return taken
}

func (t *localRank) post(to int, data []float32) error {
	if err := checkPeer(t.rank, t.Size(), to, "send to"); err != nil {
		return err
	}
	select {
	case t.box(t.rank, to).data <- data: // the box is empty: its last message was acknowledged, or the peer has ended
		return nil
	case <-t.group.ranks[to].ended:
		return t.group.ranks[to].cause
	}
}

func (t *localRank) acknowledged(to int) error {
	_, err := await(&t.group.ranks[to], t.box(t.rank, to).ack)
	return err
}
