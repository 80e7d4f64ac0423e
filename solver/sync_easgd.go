package solver

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// syncElasticKind tells the synchronous kinds of EASGD apart. Their results are equal; their costs differ.
type syncElasticKind struct {
	tree       bool // sums use a tree to the first worker and back; otherwise the team's all-reduce
	apart      bool // a master that is no worker holds the centre
	overlapped bool // the sums run during the passes
}

// syncElastic is a worker of synchronous EASGD. Every tau iterations it updates its own weights and the centre's, with values from before
// the step ([SC17] equations 1 and 2):
//
//	W_i <- W_i - eta g_i - eta rho (W_i - W)
//	W   <- W + eta rho (sum of all W_i - P W)
//
// In the paper the master holds the centre, sends it to all workers over a tree, and receives the sum of W_i over the same tree. Here the
// tree distributes the sum to all workers, at the same cost, and every worker updates an identical copy of the centre. In [SC17] algorithm
// 2 (sync_easgd1) the master is no worker. In algorithm 3 (sync_easgd2) it is the first worker. In sync_easgd3 its messages overlap the
// passes. decentralised_easgd has no tree; it uses the team's all-reduce. It is our reading of swFLOW's decentralised variant, of which
// only the name is published.
type syncElastic struct {
	v       *Solver
	team    *Team
	kind    syncElasticKind
	sum     Reducer     // nil before the first run
	centre  []float32   // the centre's state
	mine    []float32   // the worker's state before the step
	total   []float32   // sum of all workers' states
	asked   []float32   // number of workers with a request for each Action; follows total in the same array
	message []float32   // total and asked
	beside  *background // runs the sum, if it overlaps the passes
	running bool
}

func syncElasticBy(kind syncElasticKind) func(v *Solver) strategy {
	return func(v *Solver) strategy {
		n := v.group.stateSize()
		v.dropMomentum()
		s := &syncElastic{v: v, team: v.team, kind: kind}
		s.centre, s.mine, s.message = make([]float32, n), make([]float32, n), make([]float32, n+int(Snapshot)+1)
		s.total, s.asked = s.message[:n], s.message[n:]
		return s
	}
}

func (s *syncElastic) start() error {
	if s.sum == nil {
		if err := s.team.meet(s.v); err != nil {
			return err
		}
		s.sum = s.team.NewReducer(len(s.message), s.kind.tree)
		s.v.group.state(s.centre)
		if err := s.v.resume(s); err != nil {
			return err
		}
	}
	if s.kind.overlapped {
		s.beside = inBackground(s.reduce)
	}
	return nil
}

// begin prepares the message. If the sum overlaps the passes, begin starts it.
func (s *syncElastic) begin() error {
	if !s.v.exchanges() {
		return nil
	}
	s.v.group.state(s.mine)
	copy(s.total, s.mine)
	clear(s.asked)
	s.asked[s.v.pendingAction()] = 1
	if s.kind.overlapped {
		s.running = true
		s.beside.begin()
	}
	return nil
}

func (s *syncElastic) reduce() error { return s.sum.Run(s.message) }

func (s *syncElastic) layerDone(int) {}

func (s *syncElastic) combine(loss float64) (float64, error) {
	var err error
	switch {
	case !s.v.exchanges():
	case s.kind.overlapped:
		err = s.settle()
	default:
		s.v.watch.reach(0)
		if s.kind.apart && s.team.rank() == 0 {
			s.v.watch.round(bytesPerValue * len(s.message))
		}
		err = s.reduce()
	}
	if err != nil {
		return 0, err
	}
	return loss, s.v.checkLoss(loss)
}

func (s *syncElastic) updated(rate float64) (Action, error) {
	if !s.v.exchanges() {
		return None, nil
	}
	alpha, workers := s.team.alpha(rate), float32(s.team.size())
	for i, w := range s.centre {
		s.centre[i] = w + alpha*(s.total[i]-workers*w)
		s.mine[i] = alpha * (s.mine[i] - w)
	}
	s.v.group.state(s.total)
	vec.Sub(s.total, s.total, s.mine)
	s.v.group.setState(s.total)
	if s.team.checks(s.v.iter) {
		if err := s.team.compareCentre(s.v, s.centre); err != nil {
			return None, err
		}
	}
	switch {
	case s.asked[Stop] > 0:
		return Stop, nil
	case s.asked[Snapshot] > 0:
		return Snapshot, nil
	}
	return None, nil
}

func (s *syncElastic) shown(f func() error) error {
	if s.sum == nil {
		return f()
	}
	return s.v.group.lend(s.centre, f)
}

// settle waits for a running sum.
func (s *syncElastic) settle() error {
	if !s.running {
		return nil
	}
	s.running = false
	return s.beside.wait()
}

func (s *syncElastic) finish(err error) error {
	if s.beside != nil {
		if failed := s.settle(); err == nil {
			err = failed
		}
		s.beside.stop()
	}
	return err
}

// keep implements individual. It returns the worker's weights.
func (s *syncElastic) keep() *caffepb.WorkerState {
	w := &caffepb.WorkerState{State: make([]float32, s.v.group.stateSize())}
	s.v.group.state(w.State)
	return w
}

// inStep implements individual.
func (s *syncElastic) inStep() bool { return true }

// allKept implements individual.
func (s *syncElastic) allKept(err error) error { return s.team.consent(err) }

// regain implements individual.
func (s *syncElastic) regain(w *caffepb.WorkerState) { s.v.group.setState(w.State) }
