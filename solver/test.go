package solver

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
)

// testAll runs every test net, until a signal asks to stop.
func (v *Solver) testAll() error { return v.strategy.shown(v.testNetworks) }

func (v *Solver) testNetworks() error {
	for i := range v.testNets {
		if v.interrupted() {
			return nil
		}
		if err := v.test(i); err != nil {
			return fmt.Errorf("test net #%d at iteration %d: %w", i, v.iter, err)
		}
	}
	return nil
}

// score is the mean of one value of a test net's outputs.
type score struct {
	name   string
	weight float32
	sum    float64
}

func (v *Solver) test(i int) error {
	v.log.Infof("Iteration %d, Testing net (#%d)", v.iter, i)
	v.logTime()
	n := v.testNets[i]
	if err := n.ShareWeights(v.net); err != nil {
		return err
	}
	var scores []score
	var loss float64
	batches := int(v.param.TestIter[i])
	for b := range batches {
		if err := v.act(); err != nil {
			return err
		}
		if v.interrupted() {
			v.log.Info("Test interrupted.")
			return nil
		}
		l, err := n.Forward()
		if err != nil {
			return err
		}
		loss += l
		scores = addScores(scores, n, b == 0)
	}
	if v.param.GetTestComputeLoss() {
		v.log.Infof("Test loss: %s", caffelog.Figure(loss/float64(batches)))
	}
	for k, s := range scores {
		mean := s.sum / float64(batches)
		v.log.Infof("    Test net output #%d: %s = %s%s", k, s.name, caffelog.Figure(mean), caffelog.LossNote(s.weight, mean))
	}
	return nil
}

// addScores adds the outputs of one batch, value by value.
func addScores(scores []score, n *swnet.Net, first bool) []score {
	k := 0
	for _, out := range n.Outputs() {
		for _, value := range out.Blob.Data() {
			if first {
				scores = append(scores, score{name: out.Name, weight: out.LossWeight})
			}
			if k < len(scores) {
				scores[k].sum += float64(value)
			}
			k++
		}
	}
	return scores
}

// act does what a signal asked for. One of several workers does it when all have agreed, after the next iteration.
func (v *Solver) act() error {
	a := v.opt.Action()
	switch {
	case a == None:
	case v.team != nil:
		v.pending = a
	case a == Stop:
		v.stopped = true
	case a == Snapshot:
		return v.Snapshot()
	}
	return nil
}

// interrupted reports whether a signal has come that ends a test.
func (v *Solver) interrupted() bool { return v.stopped || v.pending == Stop }

// pendingAction returns, once, what signals have asked for since it was last called.
func (v *Solver) pendingAction() Action {
	a := v.opt.Action()
	if v.pending == Stop || a == None {
		a = v.pending
	}
	v.pending = None
	return a
}
