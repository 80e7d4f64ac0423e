package train

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// logResumption logs the command line that continues a run which a signal has stopped.
func logResumption(log *logrus.Logger, s *solver.Solver, resume func(state string) string) {
	state, iteration := s.LastSnapshot()
	switch {
	case !s.Stopped():
	case state == "":
		log.Warn("No snapshot was written: this run cannot go on where it stopped")
	case iteration != s.Iter():
		log.Infof("To go on from the last snapshot, at iteration %d: %s", iteration, resume(state))
	default:
		log.Infof("To go on: %s", resume(state))
	}
}

// resumption returns the command line that goes on from a state, with what starts as many MPI processes as there are.
func (o *trainOptions) resumption(e *cli.Env, team *solver.Team) func(state string) string {
	return func(state string) string {
		line := e.Resume(state)
		if o.workers.transport == cli.TransportMPI {
			line = fmt.Sprintf("mpirun -np %d %s", team.Transport.Size(), line)
		}
		return line
	}
}
