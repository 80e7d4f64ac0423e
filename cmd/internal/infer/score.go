package infer

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/caffelog"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// score prints the outputs of every batch, and their means over all batches, as Caffe's test command does. The workers share the
// batches in round-robin order; the first worker prints all results.
func score(e *cli.Env, t trained, batches int, workers topology.Transport) error {
	e = &cli.Env{Log: cli.RankLog(e, workers.Rank())}
	var err error
	if t.seed, err = solver.ShareSeed(workers, t.seed); err != nil {
		return err
	}
	t.share = layers.Share{Rank: workers.Rank(), Ranks: workers.Size()}
	return t.use(e, func(n *swnet.Net) error {
		e.Log.Infof("Running for %d iterations.", batches)
		s, scorer := scores{log: e.Log, net: n}, solver.NewScorer(n, workers)
		for b := 0; b < batches; {
			run, err := scorer.Next(batches-b, s.add)
			if err != nil {
				return fmt.Errorf("batch %d: %w", b+workers.Rank(), err)
			}
			b += run
		}
		if workers.Rank() == 0 {
			s.print()
		}
		return nil
	})
}

// scores accumulates the outputs of batches.
type scores struct {
	log     *logrus.Logger
	net     *swnet.Net
	batches int
	loss    float64
	sums    []float64
}

// add prints a batch's outputs and adds them to the sums.
func (s *scores) add(loss float64, values []float32) {
	s.loss += loss
	if more := len(values) - len(s.sums); more > 0 {
		s.sums = append(s.sums, make([]float64, more)...)
	}
	s.each(func(k int, out swnet.Output) {
		s.sums[k] += float64(values[k])
		s.log.Infof("Batch %d, %s = %s", s.batches, out.Name, caffelog.Figure(float64(values[k])))
	})
	s.batches++
}

// print prints the means over all batches.
func (s *scores) print() {
	batches := float64(s.batches)
	s.log.Infof("Loss: %s", caffelog.Figure(s.loss/batches))
	s.each(func(k int, out swnet.Output) {
		mean := s.sums[k] / batches
		s.log.Infof("%s = %s%s", out.Name, caffelog.Figure(mean), caffelog.LossNote(out.LossWeight, mean))
	})
}

// each calls do for every output value; k numbers the values of all outputs.
func (s *scores) each(do func(k int, out swnet.Output)) {
	k := 0
	for _, out := range s.net.Outputs() {
		for range out.Blob.Count() {
			do(k, out)
			k++
		}
	}
}
