package topology

import (
	"errors"
	"runtime"
	"sync"

	"github.com/swcaffe/swcaffe/internal/simd"
)

// errAborted is what a rank gets from a call when another rank has failed.
var errAborted = errors.New("topology: another rank has failed")

// Local is a group of ranks in one process.
type Local struct {
	ranks []localRank
	boxes []mailbox // [from*size+to]
	done  chan struct{}
	once  sync.Once
	cause error // why done is closed
}

// mailbox hands a slice from one rank to another. The receiver reads the sender's slice, to copy or to add, then acknowledges;
// until then the sender's call does not return.
type mailbox struct {
	data chan []float32
	ack  chan struct{}
}

// NewLocal returns a group of size ranks, each to be used by its own goroutine.
func NewLocal(size int) *Local {
	l := &Local{ranks: make([]localRank, size), boxes: make([]mailbox, size*size), done: make(chan struct{})}
	for i := range l.boxes {
		l.boxes[i] = mailbox{data: make(chan []float32, 1), ack: make(chan struct{}, 1)}
	}
	for r := range l.ranks {
		l.ranks[r] = localRank{l, r}
	}
	return l
}

// Transport returns the rank's side of the group.
func (l *Local) Transport(rank int) Transport { return &l.ranks[rank] }

// Abort makes the calls of all ranks that wait, and all later ones, fail. The first cause counts.
func (l *Local) Abort(cause error) {
	l.once.Do(func() {
		l.cause = errors.Join(errAborted, cause)
		close(l.done)
	})
}

// Run calls work in a goroutine for each rank and waits for all. If one returns an error the others are stopped at their
// next call, and Run returns that error as a *RankError.
func (l *Local) Run(work func(t Transport) error) error {
	return runRanks(len(l.ranks), l.Transport, l.Abort, work)
}

// runRanks calls work for every rank at once and returns the first failure that is no consequence of another's.
func runRanks(size int, transport func(rank int) Transport, abort func(error), work func(Transport) error) error {
	errs := make([]error, size)
	var wg sync.WaitGroup
	for r := range size {
		wg.Go(func() {
			if err := work(transport(r)); err != nil {
				errs[r] = &RankError{r, err}
				abort(errs[r])
			}
		})
	}
	wg.Wait()
	var consequence error
	for _, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, errAborted):
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

// RecvAdd receives and adds to data.
func (t *localRank) RecvAdd(from int, data []float32) error {
	if err := checkPeer(t.rank, t.Size(), from, "receive from"); err != nil {
		return err
	}
	return t.take(from, data, addValues)
}

func copyValues(dst, src []float32) { copy(dst, src) }

func addValues(dst, src []float32) { simd.Add(dst, dst, src) }

// take reads the next message of a rank into data.
func (t *localRank) take(from int, data []float32, read func(dst, src []float32)) error {
	box := t.box(from, t.rank)
	sent, err := await(t.group, box.data)
	if err != nil {
		return err
	}
	if len(sent) != len(data) {
		err := lengthError(from, t.rank, len(sent), len(data))
		t.group.Abort(err)
		return err
	}
	read(data, sent)
	box.ack <- struct{}{}
	return nil
}

// patience is how often a rank looks whether another has come, letting others compute in between, before it sleeps. To wake a
// thread takes longer than ranks that work on pieces of one length usually are apart.
const patience = 200

// await receives from a channel of the group.
func await[T any](l *Local, c <-chan T) (T, error) {
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
	case <-l.done:
		var none T
		return none, l.cause
	}
}

func (t *localRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	return t.exchange(to, send, from, recv, copyValues)
}

// SendRecvAdd sends, receives and adds to data, which does not overlap what is sent.
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
	if err := t.take(from, recv, read); err != nil {
		return err
	}
	return t.acknowledged(to)
}

func (t *localRank) post(to int, data []float32) error {
	if err := checkPeer(t.rank, t.Size(), to, "send to"); err != nil {
		return err
	}
	select {
	case <-t.group.done:
		return t.group.cause
	default:
	}
	t.box(t.rank, to).data <- data // never blocks: the last message in it was acknowledged
	return nil
}

func (t *localRank) acknowledged(to int) error {
	_, err := await(t.group, t.box(t.rank, to).ack)
	return err
}
