//go:build unix

package train

import (
	"os"
	"syscall"
)

// launcherSignal is what every mpirun passes on to its processes at once. SIGTERM is not: Open MPI 4 passes it on a second later, Open MPI 6 never.
var launcherSignal os.Signal = syscall.SIGUSR1
