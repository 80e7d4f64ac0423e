package infer

import (
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/topology"
)

// score prints the outputs of every batch, and their means over all batches, as Caffe's test command does. The workers share the
// batches in round-robin order; the first worker prints all results.
func score(e *cli.Env, t trained, method evaluate.Method, o *testOptions, workers topology.Transport) error {
	e = &cli.Env{Log: cli.RankLog(e, workers.Rank()), Stdout: e.Stdout}
	batches, report := o.iterations, &o.report
	var err error
	if t.seed, err = solver.ShareSeed(workers, t.seed); err != nil {
		return err
	}
	t.share = layers.Share{Rank: workers.Rank(), Ranks: workers.Size()}
	return t.use(e, func(n *swnet.Net) error {
		if err := o.sameOnAll(n, workers); err != nil {
			return err
		}
		warnUnfed(e, n)
		e.Log.Infof("Running for %d iterations.", batches)
		if o.evalType == "" {
			method.Detection = evaluate.Detects(n)
		}
		if err := method.CheckOutputs(n); err != nil {
			return err
		}
		if err := report.begin(n); err != nil {
			return err
		}
		s, scorer := scores{report: report, log: e.Log, net: n, method: method, precisions: make([]evaluate.Precision, len(n.Outputs()))}, evaluate.NewScorer(n, workers)
		var repeated repeats
		if err := repeated.tell(e, n, "-iterations", batches); err != nil {
			return err
		}
		for b := 0; b < batches; {
			run, err := scorer.Next(batches-b, s.add)
			if err != nil {
				return fmt.Errorf("batch %d: %w", b+workers.Rank(), err)
			}
			b += run
		}
		if workers.Rank() > 0 {
			return nil
		}
		if err := repeated.tell(e, n, "-iterations", batches); err != nil {
			return err
		}
		s.print()
		return errors.Join(report.write(e, &s), e.WriteJSON(o.json, s.json(o)))
	})
}

// sameOnAll returns an error on all workers unless they score the same batches with the same net and weights.
func (o *testOptions) sameOnAll(n *swnet.Net, workers topology.Transport) error {
	if workers.Size() == 1 {
		return nil
	}
	return solver.SameTerms(workers, append([]string{fmt.Sprint("-iterations ", o.iterations)}, solver.NetTerms(n)...))
}

// scores accumulates the outputs of batches.
type scores struct {
	log        *logrus.Logger
	net        *swnet.Net
	report     *testReport
	method     evaluate.Method
	precisions []evaluate.Precision // of the outputs, if the method is detection
	batches    int
	loss       float64
	sums       []float64
}

// add prints a batch's outputs and adds them to the sums. Detections are not printed.
func (s *scores) add(loss float64, outputs [][]float32) {
	s.loss += loss
	k := 0
	for i, values := range outputs {
		if s.method.Detection {
			s.precisions[i].Add(values)
			continue
		}
		for _, v := range values {
			if k == len(s.sums) {
				s.sums = append(s.sums, 0)
			}
			s.sums[k] += float64(v)
			k++
			s.log.Infof("Batch %d, %s = %s", s.batches, s.net.Outputs()[i].Name, caffelog.Figure(float64(v)))
		}
	}
	s.report.add()
	s.batches++
}

// print prints the means over all batches, or the average precisions.
func (s *scores) print() {
	batches := float64(s.batches)
	s.log.Infof("Loss: %s", caffelog.Figure(s.loss/batches))
	if s.method.Detection {
		s.method.Log(s.log, s.precisions, func(k int) string { return s.net.Outputs()[k].Name })
		return
	}
	for _, m := range s.means() {
		s.log.Infof("%s = %s%s", m.name, caffelog.Figure(m.value), caffelog.LossNote(m.weight, m.value))
	}
}

// mean is the mean of one value of the net's outputs.
type mean struct {
	name   string
	weight float32
	value  float64
}

// means returns the means of all values.
func (s *scores) means() []mean {
	var all []mean
	for _, out := range s.net.Outputs() {
		for range out.Blob.Count() {
			all = append(all, mean{out.Name, out.LossWeight, s.sums[len(all)] / float64(s.batches)})
		}
	}
	return all
}

// figures returns the weighted loss and the means of the outputs with one value.
func (s *scores) figures() []testreport.Figure {
	all := []testreport.Figure{{Name: "total loss", Value: s.loss / float64(s.batches)}}
	if s.method.Detection {
		return all
	}
	k := 0
	for _, out := range s.net.Outputs() {
		if out.Blob.Count() == 1 {
			all = append(all, testreport.Figure{Name: out.Name, Value: s.sums[k] / float64(s.batches)})
		}
		k += out.Blob.Count()
	}
	return all
}
