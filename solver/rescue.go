package solver

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// rescueMark follows snapshot_prefix in the names of a rescued snapshot whose usual names cannot be written.
const rescueMark = "_rescue"

// rescue writes a snapshot of the last whole iteration when an error ends Solve. It returns that error, and the one of the snapshot. Each
// worker calls it by itself, since the others may be gone.
func (v *Solver) rescue(cause error) error {
	f := &v.footing
	if v.unkept = v.hopeless(cause); v.unkept != "" {
		return cause
	}
	v.ending = true
	f.regain(v)
	if v.lastState != "" && v.lastIter == f.iter {
		return cause // it is there already
	}
	v.log.Infof("An error ends the training after iteration %d", f.iter)
	err := relay.Error(func() error { return v.storeAnywhere(cause) })
	if err != nil {
		v.unkept = err.Error()
		if v.stateless != "" {
			v.unkept += "; weights without a state are in " + v.stateless
		}
	}
	return errors.Join(cause, err)
}

// storeAnywhere writes the snapshot, under other names if a fault that does not pass prevents its own.
func (v *Solver) storeAnywhere(cause error) error {
	usual := v.snapshotBase()
	failed := (*snapshotError)(nil)
	if !errors.As(cause, &failed) || failed.iter != v.iter {
		err := v.store(usual, false)
		if err == nil || passes(err) {
			return err
		}
	}
	return v.store(fmt.Sprint(v.param.GetSnapshotPrefix(), rescueMark, snapshotMark, v.iter), false)
}

// hopeless returns why there is nothing to keep, or it cannot be kept; "" if it can.
func (v *Solver) hopeless(cause error) string {
	f := &v.footing
	writes := v.param.GetSnapshot() != 0 || v.followsBest() || v.param.GetSnapshotAfterTrain()
	switch {
	case !f.taken || f.iter == v.begun && !v.inMemory:
		return "no iteration was completed"
	case !writes:
		return "the solver writes no snapshots (snapshot_after_train: false)"
	case isUnequal(cause):
		return "workers differ whose weights should be equal, so that none can be trusted"
	case f.updating:
		return "the error came during an update, when weights of two iterations are mixed"
	}
	if where := v.net.NonFiniteWeight(); where != "" {
		return "the weights have diverged: " + where
	}
	return ""
}
