//go:build mpi && cgo

package all

import _ "github.com/swcaffe/swcaffe/topology/empi" // the program has MPI
