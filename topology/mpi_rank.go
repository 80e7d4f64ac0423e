package topology

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// mpiRank is the transport between the processes of an MPI job, over either binding.
//
// Messages have tag 0. A rank's last message has no values, and its tag is 1 plus the rank's outcome. A receive therefore fails if the other
// side's work has ended, but messages sent before are still received.
type mpiRank struct {
	mpi        MPI
	rank, size int
	ended      []atomic.Int32 // tag of each rank's last message; 0: not received yet
	waits      *waits         // nil: waits are not reported
}

func newMPIRank(m MPI) *mpiRank {
	return &mpiRank{mpi: m, rank: m.Rank(), size: m.Size(), ended: make([]atomic.Int32, m.Size())}
}

func (t *mpiRank) tellWaits(tell func(line string)) {
	t.waits = newWaits(t.rank, t.size, tell)
	go t.waits.follow(nil)
}

func (t *mpiRank) Rank() int { return t.rank }

func (t *mpiRank) Size() int { return t.size }

func (t *mpiRank) Send(to int, data []float32) error {
	if err := t.check(to, "send to", data); err != nil {
		return err
	}
	t.waits.begin(waitSend, to)
	defer t.waits.end(waitSend, to)
	if err := t.mpi.Send(data, to, 0); err != nil {
		return fmt.Errorf("MPI: send to rank %d: %w", to, err)
	}
	return nil
}

func (t *mpiRank) Recv(from int, data []float32) error {
	if err := t.check(from, "receive from", data); err != nil {
		return err
	}
	if t.ended[from].Load() != 0 {
		return t.gone(from)
	}
	t.waits.begin(waitRecv, from)
	got, err := t.mpi.Recv(data, from)
	t.waits.end(waitRecv, from)
	return t.received(from, data, got, err)
}

func (t *mpiRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	if err := t.check(to, "send to", send); err != nil {
		return err
	}
	if err := t.check(from, "receive from", recv); err != nil {
		return err
	}
	if t.ended[from].Load() != 0 {
		return t.gone(from)
	}
	t.waits.begin(waitRecv, from)
	got, err := t.mpi.SendRecv(send, to, 0, recv, from)
	t.waits.end(waitRecv, from)
	return t.received(from, recv, got, err)
}

func (t *mpiRank) check(peer int, verb string, data []float32) error {
	if len(data) > math.MaxInt32 {
		return fmt.Errorf("topology: rank %d cannot %s rank %d %d values at once; MPI counts to %d", t.rank, verb, peer, len(data), math.MaxInt32)
	}
	return checkPeer(t.rank, t.size, peer, verb)
}

// received checks the number of received values; MPI itself reports a message that is too long as truncated.
func (t *mpiRank) received(from int, data []float32, got Received, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("MPI: receive %d values from rank %d: %w", len(data), from, err)
	case got.Tag != 0:
		t.ended[from].Store(int32(got.Tag))
		return t.gone(from)
	case got.Values != len(data):
		return lengthError(from, t.rank, got.Values, len(data))
	}
	return nil
}

// gone is the error of a call whose other side's work has ended.
func (t *mpiRank) gone(from int) error { return fmt.Errorf("%w: rank %d has ended", ErrAborted, from) }

// end implements MPIJob.End. It receives messages that are still sent until the others' work has ended too.
func (t *mpiRank) end(o outcome, patience time.Duration) (first bool) {
	last := time.Now().Add(patience)
	for to := range t.size {
		if to != t.rank {
			t.mpi.Send(nil, to, int(1+o)) // an error is the other rank's end
		}
	}
	t.ended[t.rank].Store(int32(1 + o))
	for !t.allEnded() && (o == done || time.Now().Before(last)) {
		time.Sleep(time.Millisecond)
	}
	for r := range t.rank {
		if t.ended[r].Load() >= int32(1+o) {
			return false
		}
	}
	for r := t.rank + 1; r < t.size; r++ {
		if t.ended[r].Load() > int32(1+o) {
			return false
		}
	}
	return o != done
}

// allEnded receives the available messages, and reports whether each rank's last one has come.
func (t *mpiRank) allEnded() bool {
	all := true
	for from := range t.ended {
		for t.ended[from].Load() == 0 {
			tag, found, err := t.mpi.Drop(from)
			if err != nil || !found {
				all = false
				break
			}
			t.ended[from].CompareAndSwap(0, int32(tag))
		}
	}
	return all
}
