package main

import (
	"flag"
	"fmt"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// stateFlags are the parts of a net's state that Caffe's commands take.
type stateFlags struct {
	level     int
	stageList string
}

func (s *stateFlags) register(fs *flag.FlagSet) {
	fs.IntVar(&s.level, "level", 0, "the net state's level")
	fs.StringVar(&s.stageList, "stage", "", "the net state's stages, separated by commas")
}

func (s *stateFlags) stages() []string {
	if s.stageList == "" {
		return nil
	}
	return strings.Split(s.stageList, ",")
}

// of is the state of a phase with the flags' level and stages.
func (s *stateFlags) of(phase caffepb.Phase) *caffepb.NetState {
	return &caffepb.NetState{Phase: phase.Enum(), Level: proto.Int32(int32(s.level)), Stage: s.stages()}
}

// over is that state over a net's own.
func (s *stateFlags) over(file *swproto.Net, phase caffepb.Phase) *caffepb.NetState {
	return swnet.MergeState(phase, file.Param.State, s.of(phase))
}

// readNet reads the net of a -model flag.
func readNet(e *env, path string) (*swproto.Net, error) {
	file, err := swproto.ReadNet(path)
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		e.log.Warn(w)
	}
	return file, nil
}

// buildFile builds a net for a phase, with the level and stages of the flags over those of the file.
func buildFile(file *swproto.Net, phase caffepb.Phase, s *stateFlags, opt swnet.Options) (*swnet.Net, error) {
	opt.State, opt.Pos = s.over(file, phase), file.LayerPos
	return swnet.New(file.Param, opt)
}

func parsePhase(s string) (caffepb.Phase, error) {
	switch s {
	case "TRAIN":
		return caffepb.Phase_TRAIN, nil
	case "TEST":
		return caffepb.Phase_TEST, nil
	}
	return 0, fmt.Errorf("-phase %q: must be TRAIN or TEST", s)
}
