package solver

import "path/filepath"

// snapshots reports whether this worker writes snapshots without being asked to by a signal.
func (v *Solver) snapshots() bool {
	return v.team.rank() == 0 && (v.param.GetSnapshot() != 0 || v.followsBest() || v.param.GetSnapshotAfterTrain())
}

// snapshotBytes returns the approximate size of a snapshot: the weights, their gradients with snapshot_diff, and the histories.
func (v *Solver) snapshotBytes() float64 {
	copies := 1 + v.update.rule.Histories()
	if v.param.GetSnapshotDiff() {
		copies++
	}
	values := 0
	for _, w := range v.update.weights {
		values += w.weight.Blob.Count()
	}
	return 4 * float64(values) * float64(copies)
}

// checkSpace returns an error if the file system of the snapshots has no room for one. free is swproto.FreeBytes.
func (v *Solver) checkSpace(free func(dir string) (float64, bool)) error {
	if !v.snapshots() {
		return nil
	}
	dir := filepath.Dir(v.param.GetSnapshotPrefix() + snapshotMark)
	need := v.snapshotBytes()
	if has, ok := free(dir); ok && has < need {
		return wrong("snapshot_prefix", "a snapshot needs %.1f MB, but the file system of %s has %.1f MB free", need/1e6, dir, has/1e6)
	}
	return nil
}
