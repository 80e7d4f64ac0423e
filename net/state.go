package net

import (
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Asked is what a command line or a call asks of a net's state, by the rule of Caffe's flags -level and -stage: the level replaces that of the
// files, also where it is 0 because none was given, and the stages are added to theirs. The zero value is what a call without them asks.
type Asked struct {
	Level  int32
	Stages []string
}

// Over merges what is asked into the states of the files, each of which is over the one before.
func (a Asked) Over(phase caffepb.Phase, states ...*caffepb.NetState) *caffepb.NetState {
	s := MergeState(phase, states...)
	s.Level = proto.Int32(a.Level)
	s.Stage = append(s.Stage, a.Stages...)
	return s
}

// Replaces returns the warning that the level of a file's field, state or train_state, does not count, "" if it is the one that is asked.
func (a Asked) Replaces(field string, state *caffepb.NetState) string {
	if state == nil || state.Level == nil || state.GetLevel() == a.Level {
		return ""
	}
	return fmt.Sprintf("%s has level %d, but level %d counts, as in Caffe: that of -level, 0 if it is not given. Give -level %[2]d (in Python level=%[2]d)",
		field, state.GetLevel(), a.Level)
}
