package train

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/topology"
)

// simulation is the common state of workers in virtual time. This computer computes the values; the clocks show the time of
// modelled machines on a modelled cluster's network.
type simulation struct {
	cluster topology.Spec
	layout  topology.Layout
	costs   []solver.Costs // modelled times, one per worker
	queue   *centre.Queue
	factors trust.Range // of the simulated time; see factorsOf
}

// newSimulation models the work of every worker on a machine, and logs what the ranges behind simulated times are.
func newSimulation(e *cli.Env, w *workerFlags, machine cpe.Spec, file *swproto.Solver) (*simulation, error) {
	s := &simulation{}
	var err error
	if s.cluster, err = topology.LoadSpec(w.cluster); err != nil {
		return nil, cli.FlagError("cluster", err)
	}
	if s.layout, err = topology.NewLayout(s.cluster, w.workers, topology.Block); err != nil {
		return nil, cli.Usagef("-workers: %w", err)
	}
	net, err := solver.TrainNet(file)
	if err != nil {
		return nil, err
	}
	whole, err := s.model(machine, net, file.Param, 0)
	if err != nil {
		return nil, err
	}
	most, bySize := 0, map[int]solver.Costs{}
	for rank := range w.workers {
		window, err := layers.Share{Rank: rank, Ranks: w.workers, Split: w.strategy == solver.Sync}.Window(whole.Batch)
		if err != nil {
			return nil, err
		}
		most = max(most, window.Count)
		costs, ok := bySize[window.Count]
		if !ok {
			r, err := s.model(machine, net, file.Param, window.Count)
			if err != nil {
				return nil, err
			}
			costs = s.costsOf(r)
			bySize[window.Count] = costs
		}
		s.costs = append(s.costs, costs)
	}
	s.queue = centre.NewQueue(w.workers, s.costs[0].Message, s.costs[0].Update)
	if s.factors, err = s.factorsOf(w, machine, net, file.Param, most); err != nil {
		return nil, err
	}
	e.Log.Info(s.aboutRanges(machine.Name))
	return s, nil
}

// modelling returns the options of the model of a training net.
func modelling(machine cpe.Spec, net *swproto.Net, p *caffepb.SolverParameter) modeltime.Options {
	return modeltime.Options{
		Spec: machine, Mode: cpe.CostOnly, Log: layers.NoLog(),
		State: swnet.MergeState(caffepb.Phase_TRAIN, net.Param.State, p.TrainState),
	}
}

// model models an iteration of the net with the given batch size; 0: the prototxt's.
func (s *simulation) model(machine cpe.Spec, net *swproto.Net, p *caffepb.SolverParameter, batch int) (*modeltime.Report, error) {
	o := modelling(machine, net, p)
	o.Batch, o.Bare = batch, true
	r, err := modeltime.Run(net, o)
	if err != nil {
		return nil, fmt.Errorf("modelling the net on %s: %w", machine.Name, err)
	}
	return r, nil
}

func (s *simulation) costsOf(r *modeltime.Report) solver.Costs {
	const milli = 1e-3
	c := solver.Costs{
		Forward: r.Total.ForwardMs * milli, Update: r.Total.UpdateMs * milli,
		Message: func(bytes int) float64 { return float64(s.cluster.MessageTime(float64(bytes), false)) },
	}
	for i := range r.Layers {
		c.Backward = append(c.Backward, r.Layers[i].BackwardMs()*milli)
	}
	return c
}

// run calls work for every worker. Strategies with a centre send their messages through the queue; they use the local transport
// only to compare nets at the start. The other strategies send all messages over the simulated network.
func (s *simulation) run(e *cli.Env, w *workerFlags, work func(t *solver.Team, log *logrus.Logger) error) error {
	if w.tracer != nil {
		w.tracer.wire = trust.Of(s.cluster.Name)
	}
	if solver.HasCentre(w.strategy) {
		if w.tracer != nil {
			s.queue.Observe(func(served centre.Service) { w.tracer.served(served, w.workers) })
		}
		return topology.NewLocal(w.workers).Run(func(t topology.Transport) error {
			team := w.team(t, s.layout, sinceNow())
			team.Virtual = &solver.Virtual{Clock: s.queue.Clock(t.Rank()), Costs: s.costs[t.Rank()], Queue: s.queue, Range: s.ranges()}
			return work(team, cli.RankLog(e, t.Rank()))
		})
	}
	sim := topology.NewSim(s.cluster, s.layout)
	if w.tracer != nil {
		sim.Observe(w.tracer.carried)
	}
	return sim.Run(func(t *topology.SimRank) error {
		team := w.team(t, s.layout, t.Now)
		team.Virtual = &solver.Virtual{Clock: simClock{t}, Costs: s.costs[t.Rank()], Range: s.ranges()}
		return work(team, cli.RankLog(e, t.Rank()))
	})
}

// simClock is the clock of a rank on the simulated network.
type simClock struct{ rank *topology.SimRank }

func (c simClock) Now() float64 { return float64(c.rank.Now()) }

func (c simClock) AdvanceTo(t float64) { c.rank.Elapse(max(0, topology.VTime(t)-c.rank.Now())) }
