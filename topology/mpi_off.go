//go:build !(mpi && cgo)

package topology

import "errors"

// HasMPI reports whether this build can join an MPI job.
func HasMPI() bool { return false }

// OpenMPI would join this process's MPI job. This build has no MPI: it returns an error.
func OpenMPI() (*MPIJob, error) {
	return nil, errors.New("this build has no MPI: build swcaffe with CGO_ENABLED=1 go build -tags mpi (needs Open MPI's headers) and start it with mpirun")
}
