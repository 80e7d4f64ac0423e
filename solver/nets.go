package solver

import (
	"errors"
	"fmt"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// netSource is one net that a solver asks for: a file, or a field of the solver's own file, and its state.
type netSource struct {
	what  string // for the log; of a net in the solver's file its field
	path  string
	in    *swproto.Solver       // nil for a file
	param *caffepb.NetParameter // the field's value
	phase caffepb.Phase
	state *caffepb.NetState
}

// atPath is the net of a file that a field of the solver names, inside one that stands in a field.
func atPath(field, path string) netSource {
	return netSource{what: field + " file: " + path, path: path}
}

func inside(file *swproto.Solver, field string, p *caffepb.NetParameter) netSource {
	return netSource{what: field, in: file, param: p}
}

// read reads the net, in its current form.
func (s netSource) read() (*swproto.Net, error) {
	if s.in == nil {
		return swproto.ReadNet(s.path)
	}
	return s.in.NetIn(s.what, s.param)
}

// build reads the net and builds it with options that need no state and pos.
func (s netSource) build(opt swnet.Options) (*swnet.Net, error) {
	file, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		opt.Device.Log.Warn(w)
	}
	opt.State, opt.Pos = swnet.MergeState(s.phase, file.Param.State, s.state), file.LayerPos
	return swnet.New(file.Param, opt)
}

// TrainNet reads the net that a solver trains, wherever it stands.
func TrainNet(file *swproto.Solver) (*swproto.Net, error) {
	source, err := trainNet(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	return source.read()
}

// trainNet finds the one net to train on among net, net_param, train_net and train_net_param.
func trainNet(file *swproto.Solver) (netSource, error) {
	p := file.Param
	const fields = "train_net_param, train_net, net_param, net"
	var found []netSource
	if p.TrainNetParam != nil {
		found = append(found, inside(file, "train_net_param", p.TrainNetParam))
	}
	if p.TrainNet != nil {
		found = append(found, atPath("train_net", p.GetTrainNet()))
	}
	if p.NetParam != nil {
		found = append(found, inside(file, "net_param", p.NetParam))
	}
	if p.Net != nil {
		found = append(found, atPath("net", p.GetNet()))
	}
	switch len(found) {
	case 0:
		return netSource{}, errors.New("the solver must specify a train net using one of these fields: " + fields)
	case 1:
	default:
		return netSource{}, errors.New("the solver must not contain more than one of these fields specifying a train net: " + fields)
	}
	found[0].phase, found[0].state = caffepb.Phase_TRAIN, p.TrainState
	return found[0], nil
}

// testNets lists the nets to test on, one for every test_iter: those of test_net_param and test_net first, then
// the net that is trained on as often as test_iter values are left.
func testNets(file *swproto.Solver) ([]netSource, error) {
	p := file.Param
	var nets []netSource
	for i, n := range p.TestNetParam {
		nets = append(nets, inside(file, fmt.Sprintf("test_net_param[%d]", i), n))
	}
	for _, path := range p.TestNet {
		nets = append(nets, atPath("test_net", path))
	}
	generic := p.Net != nil || p.NetParam != nil
	own, iters := len(nets), len(p.TestIter)
	if iters < own || !generic && iters != own {
		return nil, fmt.Errorf("test_iter must be specified for each test network: %d values for %d networks", iters, own)
	}
	for len(nets) < iters {
		if p.NetParam != nil {
			nets = append(nets, inside(file, "net_param", p.NetParam))
		} else {
			nets = append(nets, atPath("net", p.GetNet()))
		}
	}
	if len(p.TestState) > 0 && len(p.TestState) != len(nets) {
		return nil, fmt.Errorf("test_state must be unspecified or specified once per test net: %d values for %d nets", len(p.TestState), len(nets))
	}
	for i := range nets {
		nets[i].phase = caffepb.Phase_TEST
		if len(p.TestState) > 0 {
			nets[i].state = p.TestState[i]
		}
	}
	if len(nets) > 0 && p.GetTestInterval() <= 0 {
		return nil, fmt.Errorf("test_interval must be positive where there are test nets: it is %d", p.GetTestInterval())
	}
	return nets, nil
}
