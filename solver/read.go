package solver

import (
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Start is what a command line or a call adds to a solver's file. docs/solver.md has the rule for each field.
type Start struct {
	State    swnet.Asked // of the training net; test nets have their test_state alone
	Weights  string      // in place of the file's weights, if not ""
	Snapshot string      // the state to resume from: the file's weights do not count
}

// Read reads a solver's file and applies what was given with it. It is the one reading for train and its workers, lr_find, check, the Python
// module and Go programs, so that all of them make the same nets with the same weights. New makes the nets; Restore reads the snapshot.
func Read(path string, given Start) (*swproto.Solver, error) {
	file, err := swproto.ReadSolver(path)
	if err != nil {
		return nil, err
	}
	p := file.Param
	if w := given.State.Replaces("train_state", p.TrainState); w != "" {
		file.Warnings = append(file.Warnings, inFile(file, wrong("train_state", "%s", w)).Error())
	}
	if p.TrainState == nil {
		p.TrainState = &caffepb.NetState{}
	}
	p.TrainState.Level = proto.Int32(given.State.Level)
	p.TrainState.Stage = append(p.TrainState.Stage, given.State.Stages...)
	switch {
	case given.Snapshot != "":
		p.Weights = nil
	case given.Weights != "":
		p.Weights = []string{given.Weights}
	}
	return file, nil
}
