package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// UnderMPI reports whether mpirun has started this process.
func UnderMPI() bool { return os.Getenv("OMPI_COMM_WORLD_SIZE") != "" }

// launchers are the variables by which launchers other than Open MPI's tell a process how many there are.
var launchers = []struct{ variable, name string }{
	{"PMI_SIZE", "an MPICH or Intel MPI launcher"}, {"MV2_COMM_WORLD_SIZE", "MVAPICH2's launcher"}, {"MPI_LOCALNRANKS", "an MPICH or Intel MPI launcher"}, {"SLURM_STEP_NUM_TASKS", "srun"},
}

// CheckLauncher returns an error if another launcher than Open MPI's has started this process as one of several: each would work alone, and
// they would overwrite one another's files.
func CheckLauncher() error {
	if UnderMPI() {
		return nil
	}
	for _, l := range launchers {
		if n, err := strconv.Atoi(os.Getenv(l.variable)); err == nil && n > 1 {
			return fmt.Errorf("%s has started %d processes (%s=%d), which would each work alone and overwrite one another's files: start one process, or use Open MPI's mpirun and the build with -tags mpi",
				l.name, n, l.variable, n)
		}
	}
	return nil
}

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
