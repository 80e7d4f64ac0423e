package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
)

var testCommand = command{
	name:    "test",
	summary: "score a model",
	args:    "-model FILE -weights FILES [-iterations N]",
	example: "swcaffe test -model models/lenet/train_val.prototxt -weights lenet_iter_2000.caffemodel -iterations 40",
	long:    "Runs the net's TEST phase for a number of batches and prints each batch's outputs, their means and the loss.",
	setup: func(fs *flag.FlagSet) func(*env) error {
		var o testOptions
		fs.StringVar(&o.model, "model", "", "the net definition `FILE` (prototxt)")
		fs.StringVar(&o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas")
		fs.IntVar(&o.iterations, "iterations", 50, "the number of batches")
		o.device.register(fs)
		o.state.register(fs)
		return func(e *env) error { return test(e, &o) }
	},
}

type testOptions struct {
	model, weights string
	iterations     int
	device         deviceFlags
	state          stateFlags
}

func test(e *env, o *testOptions) error {
	if o.model == "" {
		return errors.New("need a model definition to score: -model FILE")
	}
	if o.weights == "" {
		return errors.New("need model weights to score: -weights FILE")
	}
	if o.iterations < 1 {
		return fmt.Errorf("-iterations %d: at least one batch is needed", o.iterations)
	}
	return withTrained(e, &o.device, &o.state, o.model, o.weights, func(n *swnet.Net) error {
		e.log.Infof("Running for %d iterations.", o.iterations)
		return score(e, n, o.iterations)
	})
}

// score prints every batch's outputs, and the means over all batches as Caffe's test command does.
func score(e *env, n *swnet.Net, batches int) error {
	var sums []float64
	var loss float64
	for b := range batches {
		l, err := n.Forward()
		if err != nil {
			return fmt.Errorf("batch %d: %w", b, err)
		}
		loss += l
		k := 0
		for _, out := range n.Outputs() {
			for _, value := range out.Blob.Data() {
				if k == len(sums) {
					sums = append(sums, 0)
				}
				sums[k] += float64(value)
				k++
				e.log.Infof("Batch %d, %s = %s", b, out.Name, caffelog.Figure(float64(value)))
			}
		}
	}
	e.log.Infof("Loss: %s", caffelog.Figure(loss/float64(batches)))
	k := 0
	for _, out := range n.Outputs() {
		for range out.Blob.Count() {
			mean := sums[k] / float64(batches)
			e.log.Infof("%s = %s%s", out.Name, caffelog.Figure(mean), caffelog.LossNote(out.LossWeight, mean))
			k++
		}
	}
	return nil
}
