package solver

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver/evaluate"
)

// readEvaluation reads eval_type, ap_version and show_per_class_result.
func (v *Solver) readEvaluation() (err error) {
	p := v.param
	if _, err := evaluate.Parse(p.GetEvalType(), evaluate.DefaultVersion, false); err != nil {
		return wrong("eval_type", "%w", err)
	}
	if v.evaluation, err = evaluate.Parse(p.GetEvalType(), p.GetApVersion(), p.GetShowPerClassResult()); err != nil {
		return wrong("ap_version", "%w", err)
	}
	return nil
}

// testAll runs every test net, unless a signal requests a stop.
func (v *Solver) testAll() error { return v.strategy.shown(v.testNetworks) }

func (v *Solver) testNetworks() error {
	for i := range v.testNets {
		stop, err := v.test(i)
		if err != nil {
			return fmt.Errorf("test net #%d at iteration %d: %w", i, v.iter, err)
		}
		if stop {
			return nil
		}
	}
	return v.keepBest()
}

// testers returns the transport of the workers that run test batches: all workers if they have the same weights. It is nil if only the
// first worker tests.
func (v *Solver) testers() Transport {
	if v.team == nil || !v.team.splits() || v.team.Virtual != nil {
		return nil
	}
	return v.team.Transport
}

// testShare returns the test batches that a worker runs.
func (v *Solver) testShare() layers.Share {
	if w := v.testers(); w != nil {
		return layers.Share{Rank: w.Rank(), Ranks: w.Size()}
	}
	return layers.Share{}
}

// score is the mean of one value of a test net's outputs.
type score struct {
	name   string
	weight float32
	sum    float64
}

// results accumulates the outputs of a test.
type results struct {
	loss       float64
	scores     []score
	precisions []evaluate.Precision // with eval_type: detection
}

// add adds a batch.
func (r *results) add(n *swnet.Net, detection bool, loss float64, outputs [][]float32) {
	r.loss += loss
	if detection {
		if r.precisions == nil {
			r.precisions = make([]evaluate.Precision, len(outputs))
		}
		for i, rows := range outputs {
			r.precisions[i].Add(rows)
		}
		return
	}
	if r.scores == nil {
		r.scores = newScores(n)
	}
	k := 0
	for _, values := range outputs {
		for _, v := range values {
			if k < len(r.scores) {
				r.scores[k].sum += float64(v)
			}
			k++
		}
	}
}

func (v *Solver) onTest(net int) func(left int) {
	if v.opt.OnTest == nil {
		return nil
	}
	return v.opt.OnTest(net)
}

// test runs a test net and logs the scores, unless a signal requests a stop.
func (v *Solver) test(i int) (stop bool, err error) {
	v.log.Infof("Iteration %d, Testing net (#%d)", v.iter, i)
	v.logTime()
	n := v.testNets[i]
	if err := n.ShareWeights(v.net); err != nil {
		return false, err
	}
	var r results
	batches := int(v.param.TestIter[i])
	seen := func(int) {}
	if f := v.onTest(i); f != nil {
		seen = f
	}
	for b := 0; b < batches; {
		v.opt.Progress(true, b, batches)
		if stop, err = v.stopsTests(); err != nil {
			return false, err
		}
		if stop {
			v.log.Info("Test interrupted.")
			return true, nil
		}
		run, err := v.scorers[i].Next(batches-b, func(l float64, outputs [][]float32) { r.add(n, v.evaluation.Detection, l, outputs) })
		if err != nil {
			return false, err
		}
		b += run
		seen(batches - b)
	}
	v.logResults(n, &r, float64(batches))
	v.report.tested(i, &r, float64(batches))
	v.judge(i, &r, float64(batches))
	return false, nil
}

// logResults logs a test's results.
func (v *Solver) logResults(n *swnet.Net, r *results, batches float64) {
	if v.param.GetTestComputeLoss() {
		v.log.Infof("Test loss: %s", caffelog.Figure(r.loss/batches))
	}
	if v.evaluation.Detection {
		v.evaluation.Log(v.log, r.precisions, func(k int) string { return fmt.Sprintf("    Test net output #%d: %s", k, n.Outputs()[k].Name) })
	}
	for k, s := range r.scores {
		mean := s.sum / batches
		v.log.Infof("    Test net output #%d: %s = %s%s", k, s.name, caffelog.Figure(mean), caffelog.LossNote(s.weight, mean))
	}
}

// newScores returns a score for every value of a net's outputs.
func newScores(n *swnet.Net) []score {
	var scores []score
	for _, out := range n.Outputs() {
		for range out.Blob.Count() {
			scores = append(scores, score{name: out.Name, weight: out.LossWeight})
		}
	}
	return scores
}

// stopsTests performs a signal's request, and reports whether tests must end. Workers that test together agree on it.
func (v *Solver) stopsTests() (bool, error) {
	if err := v.act(); err != nil {
		return false, err
	}
	stop := v.stopped || v.pending == Stop
	if v.testers() == nil {
		return stop, nil
	}
	return v.anyWorker(stop)
}

// anyWorker reports whether a flag is set on any of the workers that test together. All of them call it.
func (v *Solver) anyWorker(set bool) (bool, error) {
	var flag [1]float32
	if set {
		flag[0] = 1
	}
	err := v.agree.Run(flag[:])
	return flag[0] > 0, err
}

// act performs a signal's request. In a team the request waits until all workers have agreed, after the next iteration.
func (v *Solver) act() error {
	a := v.opt.Action()
	switch {
	case a == None:
	case v.team != nil && v.pending == Stop: // a Stop is never replaced
	case v.team != nil:
		v.pending = a
	case a == Stop:
		v.stopped = true
	case a == Snapshot:
		return v.snapshotOrLater()
	}
	return nil
}

// pendingAction returns the signals' requests since the last call.
func (v *Solver) pendingAction() Action {
	a := v.opt.Action()
	if v.pending == Stop || a == None {
		a = v.pending
	}
	v.pending = None
	return a
}
