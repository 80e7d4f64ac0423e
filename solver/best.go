package solver

import (
	"fmt"
	"math"

	swproto "github.com/swcaffe/swcaffe/proto"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// best follows the output of a test net that snapshot_best names. After a test with the best value so far it writes a snapshot of its own,
// and after stop_after tests without a better value it ends the training. The worker that writes snapshots follows; its state is part of
// every snapshot.
type best struct {
	net, output int  // the test net and its output
	falls       bool // a loss: smaller is better

	known bool    // the following fields are set
	value float64 // the best value
	iter  int     // its iteration
	since int     // tests since then
	fresh bool    // the last test had it

	tested int // the iteration after whose tests the solver is; -1: the tests of the current iteration are to come
}

// bestMark follows snapshot_prefix in the names of the best snapshot's files.
const bestMark = "_best"

// followsBest reports whether snapshot_best is set.
func (v *Solver) followsBest() bool { return v.param.GetSnapshotBest() != "" }

// checkBest validates snapshot_best and stop_after, as far as that is possible without nets.
func checkBest(p *caffepb.SolverParameter) error {
	switch {
	case p.GetStopAfter() < 0:
		return wrong("stop_after", "stop_after must be at least 0, it is %d", p.GetStopAfter())
	case p.GetSnapshotBest() == "" && p.GetStopAfter() > 0:
		return wrong("stop_after", "stop_after: %d needs snapshot_best, the output of a test net that must improve", p.GetStopAfter())
	case p.GetSnapshotBest() != "" && (p.GetTestInterval() <= 0 || len(p.TestIter) == 0):
		return wrong("snapshot_best", "snapshot_best: %q needs tests: set test_iter and test_interval", p.GetSnapshotBest())
	}
	return nil
}

// findBest finds the output in the test nets, of several the first.
func (v *Solver) findBest() error {
	if !v.followsBest() || len(v.testNets) == 0 {
		return nil
	}
	name, names := v.param.GetSnapshotBest(), []string{}
	for i, n := range v.testNets {
		for k, out := range n.Outputs() {
			if out.Name != name {
				names = append(names, out.Name)
				continue
			}
			if values := out.Blob.Count(); values != 1 && !v.evaluation.Detection {
				return wrong("snapshot_best", "snapshot_best: output %q of test net #%d has %d values; one is needed", name, i, values)
			}
			v.best.net, v.best.output, v.best.falls = i, k, out.LossWeight != 0
			return nil
		}
	}
	return swproto.WrongField("snapshot_best", "%w", fmt.Errorf("snapshot_best: %w", suggest.Unknown("output", name, "outputs of the test nets", names)))
}

// judge takes the results of a test net, which only the first worker has.
func (v *Solver) judge(net int, r *results, batches float64) {
	b := &v.best
	if !v.followsBest() || net != b.net || v.team.rank() > 0 {
		return
	}
	value := math.NaN()
	if v.evaluation.Detection {
		if b.output < len(r.precisions) {
			_, value = r.precisions[b.output].Classes(v.evaluation.Version)
		}
	} else if k := v.firstScore(); k < len(r.scores) {
		value = r.scores[k].sum / batches
	}
	if math.IsNaN(value) || b.known && (value == b.value || (value < b.value) != b.falls) {
		b.since++
		return
	}
	if where := v.notFinite(r); where != "" {
		v.log.Warnf("Iteration %d: %s = %s does not count for snapshot_best: %s", v.iter, v.param.GetSnapshotBest(), caffelog.Figure(value), where)
		b.since++
		return
	}
	b.known, b.value, b.iter, b.since, b.fresh = true, value, v.iter, 0, true
}

// notFinite names a NaN or an infinity in the results of a test or in the weights, or returns "". A net with such values is no best one, whatever a
// single output says: accuracy, for instance, ranks NaN.
func (v *Solver) notFinite(r *results) string {
	if !finite(r.loss) {
		return "the test's loss is " + caffelog.Figure(r.loss)
	}
	for _, s := range r.scores {
		if !finite(s.sum) {
			return fmt.Sprintf("output %s is %s", s.name, caffelog.Figure(s.sum))
		}
	}
	return v.net.NonFiniteWeight()
}

// firstScore returns the index of the output among the values of all outputs.
func (v *Solver) firstScore() (k int) {
	for _, out := range v.testNets[v.best.net].Outputs()[:v.best.output] {
		k += out.Blob.Count()
	}
	return k
}

// keepBest writes the best snapshot if the tests that have just ended had a better value than all before.
func (v *Solver) keepBest() error {
	if !v.followsBest() {
		return nil
	}
	v.best.tested = v.iter
	if !v.best.fresh {
		return nil
	}
	v.best.fresh = false
	v.log.Infof("Iteration %d has the best %s so far: %s", v.iter, v.param.GetSnapshotBest(), caffelog.Figure(v.best.value))
	before := v.footing.best
	err := v.writeBest()
	switch {
	case err == nil:
		return nil
	case !passes(err):
		return fmt.Errorf("best snapshot, of iteration %d: %w", v.iter, err)
	}
	v.log.Errorf("best snapshot, of iteration %d: %v. Training goes on; a later test need only be better than the best one that is written", v.iter, err)
	v.best.known, v.best.value, v.best.iter = before.known, before.value, before.iter
	v.footing.best = v.best
	return nil
}

// stopsEarly reports whether training ends after the tests that have just ended, by stop_after. Workers that test together agree on it. A
// team in which the first worker tests alone ends after the next iteration, by a stop as a signal asks for it.
func (v *Solver) stopsEarly() (bool, error) {
	limit := int(v.param.GetStopAfter())
	if limit == 0 {
		return false, nil
	}
	stop := v.team.rank() == 0 && v.best.since >= limit
	if stop {
		v.log.Info(v.plateau())
	}
	switch {
	case v.team == nil:
		return stop, nil
	case v.testers() != nil:
		return v.anyWorker(stop)
	case stop:
		v.pending = Stop
	}
	return false, nil
}

// plateau says why training ends.
func (v *Solver) plateau() string {
	b, name := &v.best, v.param.GetSnapshotBest()
	tests := fmt.Sprintf("%d tests", b.since)
	if b.since == 1 {
		tests = "a test"
	}
	if !b.known {
		return fmt.Sprintf("Early stop at iteration %d: %s has had no number in %s (stop_after: %d)", v.iter, name, tests, v.param.GetStopAfter())
	}
	return fmt.Sprintf("Early stop at iteration %d: %s has not been better than %s, its value at iteration %d, in %s (stop_after: %d)",
		v.iter, name, caffelog.Figure(b.value), b.iter, tests, v.param.GetStopAfter())
}

// store writes what a continuation needs of b into a snapshot of an iteration.
func (b *best) store(to *caffepb.RunState, iter int) {
	if b.known || b.since > 0 {
		to.Best = &caffepb.BestTest{Tests: proto.Int32(int32(b.since))}
	}
	if b.known {
		to.Best.Value, to.Best.Iter = proto.Float64(b.value), proto.Int32(int32(b.iter))
	}
	if b.tested == iter {
		to.Tested = proto.Bool(true)
	}
}

// regain reads what store has written.
func (b *best) regain(from *caffepb.RunState, iter int) {
	t := from.GetBest()
	b.known, b.value, b.iter, b.since = t != nil && t.Value != nil, t.GetValue(), int(t.GetIter()), int(t.GetTests())
	b.fresh, b.tested = false, -1
	if from.GetTested() {
		b.tested = iter
	}
}

// recall takes the best value from the best snapshot, after the solver has taken a state that was carried in memory: only the first worker follows the
// tests, and another one may have carried the state, or may be the first one now.
func (v *Solver) recall() {
	b, interval := &v.best, int(v.param.GetTestInterval())
	first := interval // iteration of the first tests of a training from its beginning
	if v.param.GetTestInitialization() {
		first = 0
	}
	if !v.followsBest() || v.team.rank() > 0 || !b.known && v.iter <= first {
		return
	}
	path := v.bestPair().state
	state, err := openState(path)
	if err != nil {
		v.log.Warnf("The best %s before iteration %d is not known here: %v", v.param.GetSnapshotBest(), v.iter, err)
		return
	}
	defer state.Close()
	t := state.RunState.GetBest()
	if t == nil || t.Value == nil || state.RunState.GetSeed() != v.seed || b.known && b.iter >= int(t.GetIter()) {
		return
	}
	b.known, b.value, b.iter = true, t.GetValue(), int(t.GetIter())
	b.since = (v.iter-1)/interval - b.iter/interval // tests of the current iteration, if they are to come, count as any other
	if b.tested == v.iter && v.iter%interval == 0 {
		b.since++
	}
}
