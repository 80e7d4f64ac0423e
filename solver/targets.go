package solver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// CheckTargets returns an error if something that a snapshot cannot replace, as a folder or a pipe, has the name of a file that the run will
// write from its present iteration on.
func (v *Solver) CheckTargets() error {
	if !v.Snapshots() {
		return nil
	}
	dir, base := filepath.Split(v.param.GetSnapshotPrefix())
	entries, err := os.ReadDir(filepath.Join(dir, "."))
	if err != nil {
		return nil // checkWritable has looked at the folder; one may be written without being listed
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), base)
		if !ours || e.Type().IsRegular() || !v.writes(rest) {
			continue
		}
		if err := swproto.CheckReplaceable(dir + e.Name()); err != nil {
			return inFile(v.file, wrong("snapshot_prefix", "snapshot_prefix: %w, and a snapshot will need its name", err))
		}
	}
	return nil
}

// writes reports whether the run will write a file whose name is snapshot_prefix and rest.
func (v *Solver) writes(rest string) bool {
	weights, state := v.weightsFile(""), v.stateFile("")
	if best, ok := strings.CutPrefix(rest, bestMark); ok && v.followsBest() {
		best = strings.TrimPrefix(best, newMark)
		return best == weights || best == state
	}
	rest, ok := strings.CutPrefix(rest, snapshotMark)
	if !ok {
		return false
	}
	number, end, _ := strings.Cut(rest, ".")
	iter, err := strconv.Atoi(number)
	if end = "." + end; err != nil || end != weights && end != state && !strings.HasPrefix(end, ".worker_") {
		return false
	}
	last, every := int(v.param.GetMaxIter()), int(v.param.GetSnapshot())
	return iter > v.iter && (iter == last || every > 0 && iter < last && iter%every == 0)
}
