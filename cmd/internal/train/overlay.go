package train

import (
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver"
)

// oldNames takes the flags of earlier versions, in which -strategy said how workers train together and -conv_strategy what to convolve with.
func (o *trainOptions) oldNames(log *logrus.Logger) error {
	f := &o.strategies
	if slices.Contains(solver.Strategies(), f.Strategy) {
		if o.workers.strategy != solver.Sync && o.workers.strategy != f.Strategy {
			return cli.Usagef("-workers_strategy %s and -strategy %s: -strategy is now for convolutions; leave it out", o.workers.strategy, f.Strategy)
		}
		log.Warnf("-strategy %s: the flag is now for convolutions; use -workers_strategy %[1]s", f.Strategy)
		o.workers.strategy, f.Strategy = f.Strategy, cli.AutoStrategy
	}
	if o.convStrategy == "" {
		return nil
	}
	if f.Strategy != cli.AutoStrategy && f.Strategy != o.convStrategy {
		return cli.Usagef("-strategy %s and -conv_strategy %s: they are two names of one flag; leave -conv_strategy out", f.Strategy, o.convStrategy)
	}
	log.Warnf("-conv_strategy is the old name of a flag; use -strategy %s", o.convStrategy)
	f.Strategy = o.convStrategy
	return nil
}

// read reads the solver's file with the flags.
func (o *trainOptions) read(log *logrus.Logger) (*swproto.Solver, error) {
	file, err := solver.Read(o.solver, o.start())
	if err != nil {
		return nil, err
	}
	for _, w := range slices.Concat(file.Warnings, solver.Doubts(file.Param)) {
		log.Warn(w)
	}
	return file, nil
}

// start is what the flags add to the solver's file.
func (o *trainOptions) start() solver.Start {
	return solver.Start{State: o.state.Asked(), Weights: o.weights, Snapshot: o.snapshot}
}
