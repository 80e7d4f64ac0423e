package solver

import (
	"errors"
	"fmt"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// netSource is one net of a solver: a file, or a field of the solver's own file, and its state.
type netSource struct {
	in    *swproto.Solver
	field string                // the field of the solver's file
	path  string                // the file that the field names,
	param *caffepb.NetParameter // or the net that the field contains
	phase caffepb.Phase
	state *caffepb.NetState
}

// String returns the description for the log.
func (s netSource) String() string {
	if s.param != nil {
		return s.field
	}
	return s.field + " file: " + s.path
}

// read reads the net and upgrades it to the current format.
func (s netSource) read() (*swproto.Net, error) {
	if s.param != nil {
		return s.in.NetIn(s.field, s.param)
	}
	n, err := swproto.ReadNet(s.path)
	return n, ofNamed(s.in, s.field, err)
}

// build reads and builds the net. It sets the state and positions in opt.
func (s netSource) build(opt swnet.Options) (*swnet.Net, error) {
	file, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		opt.Device.Log.Warn(w)
	}
	opt.State, opt.Pos = swnet.MergeState(s.phase, file.Param.State, s.state), file.LayerPos
	if asked := (swnet.Asked{Level: opt.State.GetLevel()}); s.phase == caffepb.Phase_TRAIN {
		if w := asked.Replaces(fmt.Sprintf("%v: state", s), file.Param.State); w != "" {
			opt.Device.Log.Warn(w)
		}
	}
	return swnet.New(file.Param, opt)
}

// TrainNet reads a solver's training net from any of its fields.
func TrainNet(file *swproto.Solver) (*swproto.Net, error) {
	source, err := trainNet(file)
	if err != nil {
		return nil, inFile(file, err)
	}
	return source.read()
}

// trainNet returns the one training net among net, net_param, train_net and train_net_param.
func trainNet(file *swproto.Solver) (netSource, error) {
	p := file.Param
	const fields = "train_net_param, train_net, net_param, net"
	var found []netSource
	if p.TrainNetParam != nil {
		found = append(found, netSource{in: file, field: "train_net_param", param: p.TrainNetParam})
	}
	if p.TrainNet != nil {
		found = append(found, netSource{in: file, field: "train_net", path: p.GetTrainNet()})
	}
	if p.NetParam != nil {
		found = append(found, netSource{in: file, field: "net_param", param: p.NetParam})
	}
	if p.Net != nil {
		found = append(found, netSource{in: file, field: "net", path: p.GetNet()})
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

// testNets lists the test nets, one for each test_iter: those of test_net_param and test_net first. The training net's definition is used
// for the remaining test_iter values.
func testNets(file *swproto.Solver) ([]netSource, error) {
	p := file.Param
	var nets []netSource
	for i, n := range p.TestNetParam {
		nets = append(nets, netSource{in: file, field: fmt.Sprintf("test_net_param[%d]", i), param: n})
	}
	for _, path := range p.TestNet {
		nets = append(nets, netSource{in: file, field: "test_net", path: path})
	}
	generic := p.Net != nil || p.NetParam != nil
	own, iters := len(nets), len(p.TestIter)
	if iters < own || !generic && iters != own {
		return nil, wrong("test_iter", "test_iter must be specified for each test network: %d values for %d networks", iters, own)
	}
	for len(nets) < iters {
		if p.NetParam != nil {
			nets = append(nets, netSource{in: file, field: "net_param", param: p.NetParam})
		} else {
			nets = append(nets, netSource{in: file, field: "net", path: p.GetNet()})
		}
	}
	if len(p.TestState) > 0 && len(p.TestState) != len(nets) {
		return nil, wrong("test_state[0]", "test_state must be unspecified or specified once per test net: %d values for %d nets", len(p.TestState), len(nets))
	}
	for i := range nets {
		nets[i].phase = caffepb.Phase_TEST
		if len(p.TestState) > 0 {
			nets[i].state = p.TestState[i]
		}
	}
	if len(nets) > 0 && p.GetTestInterval() <= 0 {
		field := "test_interval"
		if p.TestInterval == nil {
			field = "test_iter"
		}
		return nil, wrong(field, "test_interval must be positive where there are test nets: it is %d", p.GetTestInterval())
	}
	return nets, nil
}
