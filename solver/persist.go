package solver

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// passing lists failures to write a file whose cause may be gone a moment later: full tables of files, a full disk, a busy or absent server.
var passing = []error{
	syscall.EMFILE, syscall.ENFILE, syscall.EINTR, syscall.EAGAIN, syscall.EBUSY, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO,
	syscall.ESTALE, syscall.ETIMEDOUT,
}

// passes reports whether the cause of a failure may be gone a moment later.
func passes(err error) bool {
	if peer := (*PeerError)(nil); errors.As(err, &peer) {
		return peer.Passes
	}
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	return false
}

// pauses are the times between the attempts to write a file.
var pauses = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second}

// persist calls write, which writes files, with the spare handles free. After a failure that may pass it calls it again, some times.
func (v *Solver) persist(write func() error) error {
	v.spare.release()
	defer v.spare.take()
	for _, pause := range pauses {
		err := write()
		if err == nil || !passes(err) {
			return err
		}
		v.log.Warnf("%v; the next attempt is in %v", err, pause)
		time.Sleep(pause)
	}
	return write()
}

// spare holds handles of files that snapshots need, so that a table of files that is full does not prevent them.
type spare []*os.File

// spareHandles are for a file and its folder, and one more.
const spareHandles = 3

func (s *spare) take() {
	for len(*s) < spareHandles {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		*s = append(*s, f)
	}
}

func (s *spare) release() {
	for _, f := range *s {
		f.Close()
	}
	*s = (*s)[:0]
}

// late is a snapshot that could not be written for a reason that may pass. The solver tries again after 1, 2, 4, ... further iterations, with
// the weights of then.
type late struct {
	owed     bool
	at, wait int // the next attempt's iteration, and the iterations before it
}

func (l *late) due(iter int) bool { return l.owed && l.wait > 0 && iter >= l.at }

// snapshotOrLater writes a snapshot while a run goes on. If it fails for a reason that may pass, the run goes on without it. Workers that each
// write a part try again when all of them write the next one.
func (v *Solver) snapshotOrLater() error {
	err := v.Snapshot()
	if err == nil {
		v.late = late{}
		return nil
	}
	if !passes(err) {
		return err
	}
	wait := max(1, 2*v.late.wait)
	if _, ok := v.strategy.(individual); ok {
		wait = 0
	}
	v.late = late{owed: true, at: v.iter + wait, wait: wait}
	v.log.Errorf("%v. Training goes on; the next attempt is %s", err, v.late.next())
	return nil
}

// next says when the next attempt is.
func (l *late) next() string {
	if l.wait == 0 {
		return "the next snapshot"
	}
	return fmt.Sprintf("at iteration %d", l.at)
}
