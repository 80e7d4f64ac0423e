//go:build !(mpi && cgo)

package commtest

import _ "github.com/swcaffe/swcaffe/topology/mpiabi" // TestJob has MPI, on systems that have the binding
