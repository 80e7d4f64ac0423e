package solver

import (
	"path/filepath"

	"github.com/swcaffe/swcaffe/solver/rules"
)

// Snapshots reports whether this worker writes snapshots without being asked to by a signal.
func (v *Solver) Snapshots() bool {
	return v.team.rank() == 0 && (v.param.GetSnapshot() != 0 || v.followsBest() || v.param.GetSnapshotAfterTrain())
}

// snapshotsKept returns how many snapshots need room at once: a regular one, the best one, and a new best one beside it until that is
// complete.
func (v *Solver) snapshotsKept() (n int, which string) {
	regular := v.param.GetSnapshot() != 0 || v.param.GetSnapshotAfterTrain()
	switch {
	case regular && v.followsBest():
		return 3, "a snapshot, the best one and a new best one beside it need"
	case v.followsBest():
		return 2, "the best snapshot and a new one beside it need"
	}
	return 1, "a snapshot needs"
}

// snapshotBytes returns the approximate size of a snapshot: the weights, their gradients with snapshot_diff, and the histories.
func (v *Solver) snapshotBytes() float64 {
	r, err := rules.Find(v.param)
	if err != nil {
		return 0 // another fault of the same file
	}
	copies := 1 + r.Histories()
	if v.param.GetSnapshotDiff() {
		copies++
	}
	values := 0
	for _, w := range v.net.Learnable() {
		values += w.Blob.Count()
	}
	return 4 * float64(values) * float64(copies)
}

// checkSpace returns an error if the file system of the snapshots has no room for them. free is swproto.FreeBytes.
func (v *Solver) checkSpace(free func(dir string) (float64, bool)) error {
	if !v.Snapshots() {
		return nil
	}
	dir := filepath.Dir(v.param.GetSnapshotPrefix() + snapshotMark)
	kept, which := v.snapshotsKept()
	need := float64(kept) * v.snapshotBytes()
	if has, ok := free(dir); ok && has < need {
		return wrong("snapshot_prefix", "%s %.1f MB, but the file system of %s has %.1f MB free", which, need/1e6, dir, has/1e6)
	}
	return nil
}
