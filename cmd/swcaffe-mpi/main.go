// Command swcaffe-mpi is swcaffe for processes that MPI joins. It opens an MPI library with MPI's standard ABI while it runs, and is therefore
// linked dynamically; swcaffe is static. swcaffe hands over to it under a launcher, so that users call swcaffe alone.
package main

import (
	"github.com/swcaffe/swcaffe/cmd/internal/all"
	_ "github.com/swcaffe/swcaffe/topology/mpiabi" // the program has MPI
)

func main() { all.Commands.Main() }
