package cli

import (
	"errors"
	"flag"
	"strconv"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// StateFlags are Caffe's flags for a net's state: its level and stages.
type StateFlags struct {
	level     int32Value
	stageList string
}

func (s *StateFlags) Register(fs *flag.FlagSet) {
	fs.Var(&s.level, "level", "the net state's level, `N`; it replaces the file's, also where it is 0")
	fs.StringVar(&s.stageList, "stage", "", "the net state's stages, separated by commas; they are added to the file's")
}

// int32Value is a flag's value of the type that messages have.
type int32Value int32

func (v *int32Value) String() string { return strconv.Itoa(int(*v)) }

func (v *int32Value) Get() any { return int(*v) }

func (v *int32Value) Set(s string) error {
	n, err := strconv.ParseInt(s, 0, 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("value out of range") // as the flag package says
	case err != nil:
		return errors.New("parse error")
	}
	*v = int32Value(n)
	return nil
}

// Asked returns what the flags ask of a state.
func (s *StateFlags) Asked() swnet.Asked {
	a := swnet.Asked{Level: int32(s.level)}
	if s.stageList != "" {
		a.Stages = strings.Split(s.stageList, ",")
	}
	return a
}

// StateOver merges the flags' state into the state set in the net's file.
func (s *StateFlags) StateOver(file *swproto.Net, phase caffepb.Phase) *caffepb.NetState {
	return s.Asked().Over(phase, file.Param.State)
}

// ReadNet reads the net named by a -model flag. It warns if the flags replace a level of the file.
func ReadNet(e *Env, path string, s *StateFlags) (*swproto.Net, error) {
	file, err := swproto.ReadNet(path)
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		e.Log.Warn(w)
	}
	if w := s.Asked().Replaces(path+": state", file.Param.State); w != "" {
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
