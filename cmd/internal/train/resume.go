package train

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
)

// logResumption logs a command line that continues a run after a signal has stopped it.
// secret reports that the command line has a secret, which is not repeated.
func logResumption(log *logrus.Logger, s *solver.Solver, resume func(state string) string, secret bool) {
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
	if secret && s.Stopped() && state != "" {
		log.Infof("The word of -http_token is a secret and is not repeated: put it into the environment variable %s", cli.HTTPTokenVariable)
	}
}

// logRescue logs what an error has left of a run, and the command line that continues from it.
func logRescue(log *logrus.Logger, s *solver.Solver, resume func(state string) string, secret bool) {
	state, iteration := s.LastSnapshot()
	why := s.Unkept()
	switch {
	case state == "" && why == "":
		return // not the worker that writes snapshots
	case state == "":
		log.Warnf("No snapshot was written: %s", why)
		return
	case why != "":
		log.Warnf("The last snapshot is that of iteration %d; there is none of a later one: %s", iteration, why)
	}
	log.Infof("What was trained up to iteration %d is in %s. To go on once the fault below is mended: %s", iteration, state, resume(state))
	if secret {
		log.Infof("The word of -http_token is a secret and is not repeated: put it into the environment variable %s", cli.HTTPTokenVariable)
	}
}

// resumption returns a function from a solver state to the command line that continues from it. The command line starts the same
// number of MPI processes.
func (o *trainOptions) resumption(e *cli.Env, team *solver.Team) func(state string) string {
	return func(state string) string {
		line := e.Resume(state)
		if o.workers.transport == cli.TransportMPI {
			line = fmt.Sprintf("mpirun -np %d %s", team.Transport.Size(), line)
		}
		return line
	}
}
