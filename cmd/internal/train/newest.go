package train

import (
	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// newestSnapshot is the value of -snapshot that stands for the newest state, so that the command line that starts a run also continues it, as
// batch systems do that start a job again.
const newestSnapshot = "auto"

// findNewest replaces -snapshot auto by the newest state. If there is one, -weights does not count; without one the run begins. Processes of a
// job take the first one's choice: others may not see its files yet.
func (o *trainOptions) findNewest(log *logrus.Logger) error {
	o.workers.agree = func(*topology.MPIJob) error { return nil }
	if o.snapshot != newestSnapshot {
		return nil
	}
	file, err := solver.Read(o.solver, solver.Start{State: o.state.Asked(), Weights: o.weights})
	if err != nil {
		return err
	}
	state, err := solver.NewestState(file, func(line string) { log.Warnf("-snapshot auto: %s", line) })
	if err != nil {
		return err
	}
	weights := o.weights
	o.resumeFrom(state, weights)
	if state == "" {
		log.Info("-snapshot auto: no state was found, and the training begins")
	}
	o.workers.agree = func(job *topology.MPIJob) error {
		if job.Rank() > 0 {
			text, err := cli.WaitForMail(job, 0)
			o.resumeFrom(string(text), weights)
			return err
		}
		for rank := 1; rank < job.Size(); rank++ {
			if err := job.Post(rank, []byte(state)); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// resumeFrom sets the state to resume from, in place of weights; "" for none.
func (o *trainOptions) resumeFrom(state, weights string) {
	o.snapshot, o.weights = state, weights
	if state != "" {
		o.weights, o.finetunes = "", false
	}
}
