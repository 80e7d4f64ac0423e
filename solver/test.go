package solver

import (
	"fmt"

	swnet "github.com/swcaffe/swcaffe/net"
)

// testAll runs every test net, until a signal asks to stop.
func (v *Solver) testAll() error {
	for i := range v.testNets {
		if v.stopped {
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
		if v.stopped {
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
		v.log.Infof("Test loss: %s", format(loss/float64(batches)))
	}
	for k, s := range scores {
		mean := s.sum / float64(batches)
		v.log.Infof("    Test net output #%d: %s = %s%s", k, s.name, format(mean), lossNote(s.weight, mean))
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

// act does what a signal asked for.
func (v *Solver) act() error {
	switch v.opt.Action() {
	case Stop:
		v.stopped = true
	case Snapshot:
		return v.Snapshot()
	}
	return nil
}
