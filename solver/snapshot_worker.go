package solver

import (
	"errors"
	"fmt"
	"os"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// workerFile returns the name of the file with a worker's own state for a snapshot of either format.
func workerFile(base string, rank int) string { return fmt.Sprintf("%s.worker_%d", base, rank) }

// keepOwn writes the worker's own state if workers differ. On the first worker it returns once all workers have written, or with an error
// if one could not. A snapshot with a .solverstate is therefore complete. In virtual time, a single process, no such confirmation is
// needed, and its messages would take virtual time. When an error ends the run, other workers may be gone: nobody waits for them.
func (v *Solver) keepOwn(base string) error {
	worker, ok := v.strategy.(individual)
	if !ok || v.ending && HasCentre(v.team.Strategy) { // the centre has some workers' steps of the iteration that an error has ended
		return nil
	}
	if !worker.inStep() && !v.plansSnapshot(v.iter) { // the others are at iterations of their own: the snapshot is the first worker's alone
		return nil
	}
	s := worker.keep()
	s.LayerState = v.footing.layerStates()
	v.sign(s, v.seed)
	err := v.persist(func() error { return swproto.WriteBinary(workerFile(base, v.team.rank()), s) })
	if v.watch != nil || v.ending {
		return err
	}
	return worker.allKept(err)
}

// plansSnapshot reports whether all workers write a snapshot after an iteration unless something stops them before.
func (v *Solver) plansSnapshot(iter int) bool {
	every := int(v.param.GetSnapshot())
	return iter == int(v.param.GetMaxIter()) || every > 0 && iter > 0 && iter%every == 0
}

// sign records which run and which worker a worker's state belongs to.
func (v *Solver) sign(s *caffepb.WorkerState, seed uint64) {
	s.Strategy, s.Workers, s.Rank = proto.String(v.team.Strategy), proto.Int32(int32(v.team.size())), proto.Int32(int32(v.team.rank()))
	s.Iter, s.Seed = proto.Int32(int32(v.iter)), proto.Uint64(seed)
}

// readOwn reads the worker's own state from a snapshot. A missing file is no error, and neither is one of another strategy, number of
// workers or run (told by its seed).
func (v *Solver) readOwn(snapshot string, seed uint64) error {
	v.restored, v.kept = true, nil
	worker, ok := v.strategy.(individual)
	if !ok {
		return nil
	}
	base := strings.TrimSuffix(strings.TrimSuffix(snapshot, ".h5"), ".solverstate")
	file := workerFile(base, v.team.rank())
	s := &caffepb.WorkerState{}
	if err := swproto.ReadBinary(file, s); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	want := worker.keep()
	v.sign(want, seed)
	if s.GetStrategy() != want.GetStrategy() || s.GetWorkers() != want.GetWorkers() || s.GetRank() != want.GetRank() ||
		s.GetIter() != want.GetIter() || s.GetSeed() != want.GetSeed() {
		return nil
	}
	if len(s.State) != len(want.State) || len(s.Velocity) != len(want.Velocity) || len(s.Pending) != len(want.Pending) {
		return fmt.Errorf("%s has %d, %d and %d values of weights, momentum and steps, this net's worker has %d, %d and %d",
			file, len(s.State), len(s.Velocity), len(s.Pending), len(want.State), len(want.Velocity), len(want.Pending))
	}
	v.kept = s
	return nil
}

// resume restores every worker's own state if all workers have found theirs. Otherwise all workers continue from the snapshot alone.
func (v *Solver) resume(worker individual) error {
	if !v.restored {
		return nil
	}
	v.restored = false
	row := make([]float32, 1)
	if v.kept != nil {
		row[0] = 1
	}
	rows, err := v.team.table(row)
	if err != nil {
		return err
	}
	found := 0
	for _, r := range rows {
		found += int(r[0])
	}
	if found < len(rows) {
		v.log.Infof("The snapshot has states of %d of %d workers for this strategy and number of workers: all workers start from the centre", found, len(rows))
	} else {
		worker.regain(v.kept)
		v.setLayerStates(v.kept.LayerState)
	}
	v.kept = nil
	return nil
}
