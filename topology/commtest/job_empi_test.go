//go:build mpi && cgo

package commtest

import _ "github.com/swcaffe/swcaffe/topology/empi" // TestJob has MPI
