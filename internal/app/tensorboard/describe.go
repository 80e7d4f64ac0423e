package tensorboard

import (
	"fmt"
	"slices"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/events"
)

// description is what the start of a run says about its net and its solver.
type description struct {
	train      []*caffepb.LayerParameter
	parameters []parameter
	metrics    []metric
}

// newDescription reads the prototxts of a run's start.
func newDescription(s *events.Started) (*description, error) {
	var net caffepb.NetParameter
	var solver caffepb.SolverParameter
	if _, err := swproto.UnmarshalText("the run's net", []byte(s.NetText), &net); err != nil {
		return nil, err
	}
	if _, err := swproto.UnmarshalText("the run's solver", []byte(s.SolverText), &solver); err != nil {
		return nil, err
	}
	d := &description{parameters: parametersOf(s, &solver)}
	train, _, err := swnet.Filter(&net, swnet.MergeState(caffepb.Phase_TRAIN, net.State, solver.TrainState))
	if err != nil {
		return nil, err
	}
	d.train = train.Layer
	d.metrics = metricsOf("train", train.Layer)
	for k := range testNets(&solver) {
		var own *caffepb.NetState
		if k < len(solver.TestState) {
			own = solver.TestState[k]
		}
		test, _, err := swnet.Filter(&net, swnet.MergeState(caffepb.Phase_TEST, net.State, own))
		if err != nil {
			return nil, err
		}
		d.metrics = append(d.metrics, metricsOf(fmt.Sprintf("test_%d", k), test.Layer)...)
	}
	return d, nil
}

// testNets returns the number of test nets that are made of the training net's file. Others have files of their own.
func testNets(s *caffepb.SolverParameter) int {
	if s.GetTestInterval() == 0 || len(s.TestNet)+len(s.TestNetParam) > 0 {
		return 0
	}
	return len(s.TestIter)
}

// metricsOf lists the loss and the outputs of a net: the tops that no layer reads.
func metricsOf(group string, layers []*caffepb.LayerParameter) []metric {
	list := []metric{{group, "loss"}}
	for i, l := range layers {
		for _, t := range l.GetTop() {
			read := slices.ContainsFunc(layers[i+1:], func(o *caffepb.LayerParameter) bool { return slices.Contains(o.GetBottom(), t) })
			if !read && len(l.GetBottom()) > 0 {
				list = append(list, metric{group, "output/" + t})
			}
		}
	}
	return list
}
