package cli

import (
	"errors"
	"os"
	"strconv"

	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// UnderMPI reports whether mpirun has started this process.
func UnderMPI() bool { return os.Getenv("OMPI_COMM_WORLD_SIZE") != "" }

// LaunchedRank is this process's rank under mpirun, 0 without mpirun.
func LaunchedRank() int {
	rank, err := strconv.Atoi(os.Getenv("OMPI_COMM_WORLD_RANK"))
	if err != nil {
		return 0
	}
	return rank
}

// InJob runs this process's rank of an MPI job. An error of any rank ends the whole job and is shown; of several errors, that of
// the lowest rank.
func InJob(e *Env, work func(job *topology.MPIJob) error) error {
	job, err := topology.OpenMPI()
	if err != nil {
		return err
	}
	job.TellWaits(func(line string) { e.Log.Warn(line) })
	err = work(job)
	if peer := (*solver.PeerError)(nil); errors.As(err, &peer) {
		err = errors.Join(topology.ErrAborted, err)
	}
	first := job.End(err)
	if err == nil {
		job.Close()
		return nil
	}
	if first {
		e.Log.Errorf("rank %d: %v", job.Rank(), err)
	}
	job.Abort()
	return err
}
