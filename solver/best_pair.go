package solver

import (
	"errors"
	"io/fs"
	"os"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// newMark follows bestMark in the names of a new best snapshot's files, until it takes the place of the old one.
const newMark = "_new"

// pair is a best snapshot that becomes another's successor: the paths of weights and state, and of their successors.
//
// The successors are written first, the state last. So there is a complete successor if and only if there is newState. Its taking over is
// three steps: the old state goes, the weights are renamed, the state is renamed. Before the first step the old pair is complete; after it,
// the new state and the new weights, under either name. A state and weights of different iterations never have the names of one pair.
// After a kill, the next run with this prefix does the steps that are left.
type pair struct {
	weights, state       string
	newWeights, newState string

	remove func(path string) error
	rename func(from, to string) error
}

// bestPair returns the pair of the best snapshot.
func (v *Solver) bestPair() pair {
	base := v.param.GetSnapshotPrefix() + bestMark
	return pair{v.weightsFile(base), v.stateFile(base), v.weightsFile(base + newMark), v.stateFile(base + newMark), os.Remove, os.Rename}
}

// writeBest writes the best snapshot.
func (v *Solver) writeBest() error {
	p := v.bestPair()
	if err := p.settle(); err != nil {
		return err
	}
	base := v.param.GetSnapshotPrefix() + bestMark
	v.footing.takeTested(v)
	err := v.persist(func() error { return v.writeFiles(base, newMark, v.param.GetSnapshotDiff()) })
	if err == nil {
		err = p.settle()
	}
	if err != nil {
		return err
	}
	v.report.wrote(p.state)
	return nil
}

// settle lets a complete successor take over, and removes an incomplete one.
func (p pair) settle() error {
	if _, err := os.Lstat(p.newState); errors.Is(err, fs.ErrNotExist) {
		return present(p.remove(p.newWeights))
	}
	if err := present(p.remove(p.state)); err != nil {
		return err
	}
	if err := present(p.rename(p.newWeights, p.weights)); err != nil {
		return err
	}
	return p.rename(p.newState, p.state)
}

// present ignores that a file is not there.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// tidy does what killed runs with the same snapshot_prefix have left undone.
func (v *Solver) tidy() error {
	if !v.Snapshots() {
		return nil
	}
	prefix := v.param.GetSnapshotPrefix()
	swproto.RemoveLeftovers(prefix + snapshotMark)
	swproto.RemoveLeftovers(prefix + bestMark + ".")
	swproto.RemoveLeftovers(prefix + bestMark + newMark + ".")
	if !v.followsBest() {
		return nil
	}
	if err := v.bestPair().settle(); err != nil {
		return wrong("snapshot_prefix", "best snapshot: %w", err)
	}
	return nil
}

// weightsFile returns the name of the weights of a snapshot whose files' names begin with base.
func (v *Solver) weightsFile(base string) string {
	if v.param.GetSnapshotFormat() == caffepb.SolverParameter_HDF5 {
		return base + ".caffemodel.h5"
	}
	return base + ".caffemodel"
}
