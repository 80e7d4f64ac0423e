package cli

import (
	"flag"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// StateFlags are Caffe's flags for a net's state: its level and stages.
type StateFlags struct {
	Level     int
	stageList string
}

func (s *StateFlags) Register(fs *flag.FlagSet) {
	fs.IntVar(&s.Level, "level", 0, "the net state's level")
	fs.StringVar(&s.stageList, "stage", "", "the net state's stages, separated by commas")
}

func (s *StateFlags) Stages() []string {
	if s.stageList == "" {
		return nil
	}
	return strings.Split(s.stageList, ",")
}

// State returns the net state of a phase with the flags' level and stages.
func (s *StateFlags) State(phase caffepb.Phase) *caffepb.NetState {
	return &caffepb.NetState{Phase: phase.Enum(), Level: proto.Int32(int32(s.Level)), Stage: s.Stages()}
}

// StateOver merges the flags' state into the state set in the net's file.
func (s *StateFlags) StateOver(file *swproto.Net, phase caffepb.Phase) *caffepb.NetState {
	return swnet.MergeState(phase, file.Param.State, s.State(phase))
}

// ReadNet reads the net named by a -model flag.
func ReadNet(e *Env, path string) (*swproto.Net, error) {
	file, err := swproto.ReadNet(path)
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		e.Log.Warn(w)
	}
	return file, nil
}

// BuildNet builds a net for a phase. The flags' level and stages are merged into the file's.
func BuildNet(file *swproto.Net, phase caffepb.Phase, s *StateFlags, opt swnet.Options) (*swnet.Net, error) {
	opt.State, opt.Pos = s.StateOver(file, phase), file.LayerPos
	return swnet.New(file.Param, opt)
}

func ParsePhase(s string) (caffepb.Phase, error) {
	switch s {
	case "TRAIN":
		return caffepb.Phase_TRAIN, nil
	case "TEST":
		return caffepb.Phase_TEST, nil
	}
	return 0, Usagef("-phase %q: must be TRAIN or TEST", s)
}
