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

// workerFile names what one worker has of its own beside a snapshot, whatever the snapshot's format.
func workerFile(base string, rank int) string { return fmt.Sprintf("%s.worker_%d", base, rank) }

// keepOwn writes what the worker has of its own, if workers differ. The first worker returns when all have, or with an error if one could not: a
// snapshot whose state is there has all its files. Virtual time, which has one process, would show the messages for this, and goes without.
func (v *Solver) keepOwn() error {
	worker, ok := v.strategy.(individual)
	if !ok {
		return nil
	}
	s := worker.keep()
	v.sign(s, v.seed)
	err := swproto.WriteBinary(workerFile(v.snapshotBase(), v.team.rank()), s)
	if v.watch != nil {
		return err
	}
	return worker.allKept(err)
}

// sign says where a worker's state belongs.
func (v *Solver) sign(s *caffepb.WorkerState, seed uint64) {
	s.Strategy, s.Workers, s.Rank = proto.String(v.team.Strategy), proto.Int32(int32(v.team.size())), proto.Int32(int32(v.team.rank()))
	s.Iter, s.Seed = proto.Int32(int32(v.iter)), proto.Uint64(seed)
}

// readOwn reads what the worker had of its own when a snapshot was taken. It is no error if there is none for this worker, or
// one of another strategy, number of workers or run, which the seed tells.
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

// resume gives every worker back what it had of its own, if all have found it; otherwise all go on from what the snapshot has.
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
		v.log.Infof("%d of %d workers have a state of their own in the snapshot, of this strategy and number of workers: all start from the centre", found, len(rows))
	} else {
		worker.regain(v.kept)
	}
	v.kept = nil
	return nil
}
