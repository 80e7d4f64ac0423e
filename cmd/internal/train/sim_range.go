package train

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/scaling"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// factorsOf returns the factors between which, times the simulated time, the true one probably lies. They are those of an iteration as scale
// models it: with computing and communication at both ends of what is known of them. batch is the number of items of the worker with the
// most. The zero value: nothing was published of the machine or of the cluster.
func (s *simulation) factorsOf(w *workerFlags, machine cpe.Spec, net *swproto.Net, p *caffepb.SolverParameter, batch int) (trust.Range, error) {
	if trust.Of(machine.Name) == nil || trust.Of(s.cluster.Name) == nil {
		return trust.Range{}, nil
	}
	node, err := scaling.NewMachine(net, modelling(machine, net, p))
	if err != nil {
		return trust.Range{}, err
	}
	wire := s.cluster
	wire.Storage, wire.Nodes = nil, max(wire.Nodes, w.workers+1) // nothing is read; scale gives the centre a node of its own
	strategy, tau := s.likeScale(w), max(1, w.tau)
	if strategy == scaling.Sync {
		tau = 1 // it sums gradients in every iteration
	}
	points, err := scaling.Run(scaling.Config{
		Job:     scaling.Job{Compute: func(n int) (scaling.Compute, error) { return passes(node, n, int(p.GetIterSize())) }},
		Cluster: wire, Strategy: strategy, Batch: batch, Tau: tau, Bucket: s.bucket(w),
		Collective: scaling.Simulated{Cluster: wire, Mapping: topology.Block, Algorithm: s.collective(w, strategy)},
	}, []int{w.workers})
	if err != nil || points[0].Range == nil {
		return trust.Range{}, err
	}
	one := points[0]
	return trust.Range{Low: float64(one.Range.Low.Iteration / one.Iteration), High: float64(one.Range.High.Iteration / one.Iteration)}, nil
}

// passes returns the computing of an iteration of several passes; gradients are complete in the last one.
func passes(node *scaling.Machine, batch, count int) (scaling.Compute, error) {
	c, err := node.Compute(batch)
	c.Forward += topology.VTime(max(1, count)-1) * (c.Forward + c.Backward())
	return c, err
}

// likeScale returns the strategy of scale that sends what a training's strategy sends. Scale's SGD methods exchange in every iteration; with a tau
// they take as long as their relatives of the EASGD family.
func (s *simulation) likeScale(w *workerFlags) scaling.Strategy {
	switch {
	case w.strategy == solver.Sync || w.tau <= 1:
	case w.strategy == "async_sgd", w.strategy == "async_msgd":
		return "async_easgd"
	case w.strategy == "hogwild_sgd":
		return "hogwild_easgd"
	}
	return scaling.Strategy(w.strategy)
}

// bucket is the size of a bucket of gradients in bytes, 0 for strategies without.
func (s *simulation) bucket(w *workerFlags) int64 {
	if w.strategy != solver.Sync {
		return 0
	}
	return int64(w.bucketMB * cli.BytesPerMB)
}

// collective names the all-reduce of a strategy: the flag's where gradients are summed. Measuring finds the fastest, as auto does.
func (s *simulation) collective(w *workerFlags, strategy scaling.Strategy) string {
	switch {
	case w.strategy != solver.Sync:
		return strategy.Collective()
	case w.allreduce == topology.Measured:
		return topology.Auto
	}
	return w.allreduce
}

// ranges returns the range of a simulated time, nil if none is known.
func (s *simulation) ranges() func(seconds float64) (low, high float64, text string) {
	if !s.factors.Known() {
		return nil
	}
	return func(seconds float64) (low, high float64, text string) {
		r := trust.Range{Low: seconds * s.factors.Low, High: seconds * s.factors.High}
		return r.Low, r.High, r.String()
	}
}

// aboutRanges says what the ranges behind simulated times are, or why there are none.
func (s *simulation) aboutRanges(machine string) string {
	for _, name := range []string{machine, s.cluster.Name} {
		if trust.Of(name) == nil {
			return fmt.Sprintf("Simulated times have no ranges: no times of %s were published to compare its model with", name)
		}
	}
	return "Simulated times (low-high): where the true time probably lies, relative to the simulated one as in scale"
}
