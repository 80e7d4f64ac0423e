package main

import (
	"os"
	"strconv"

	"github.com/swcaffe/swcaffe/topology"
)

// underMPI reports whether mpirun has started this process.
func underMPI() bool { return os.Getenv("OMPI_COMM_WORLD_SIZE") != "" }

// launchedRank is the rank that mpirun has started this process as, 0 where it has not.
func launchedRank() int {
	rank, err := strconv.Atoi(os.Getenv("OMPI_COMM_WORLD_RANK"))
	if err != nil {
		return 0
	}
	return rank
}

// inJob runs this process's part in an MPI job. An error of any rank ends the whole job.
func inJob(e *env, work func(job *topology.MPIJob) error) error {
	job, err := topology.OpenMPI()
	if err != nil {
		return err
	}
	if err := work(job); err != nil {
		e.log.Errorf("rank %d: %v", job.Rank(), err)
		job.Abort()
		return err
	}
	job.Close()
	return nil
}
