package train

import (
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"google.golang.org/protobuf/proto"
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

// read reads the solver's file and overlays it with the flags.
func (o *trainOptions) read(log *logrus.Logger) (*swproto.Solver, error) {
	file, err := swproto.ReadSolver(o.solver)
	if err != nil {
		return nil, err
	}
	for _, w := range slices.Concat(file.Warnings, solver.Doubts(file.Param)) {
		log.Warn(w)
	}
	o.apply(file.Param)
	return file, nil
}

// apply overlays a solver's fields with the flags, as Caffe does: -level always, -stage in addition, -weights instead.
func (o *trainOptions) apply(p *caffepb.SolverParameter) {
	if p.TrainState == nil {
		p.TrainState = &caffepb.NetState{}
	}
	p.TrainState.Level = proto.Int32(int32(o.state.Level))
	p.TrainState.Stage = append(p.TrainState.Stage, o.state.Stages()...)
	switch {
	case o.snapshot != "":
		p.Weights = nil
	case o.weights != "":
		p.Weights = []string{o.weights}
	}
}
