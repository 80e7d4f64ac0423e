package caffeh5

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/hdf5"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// runStateDataset holds the bytes of a RunState, one byte per number. Caffe ignores unknown datasets.
const runStateDataset = "/swcaffe_run_state"

// WriteState writes a solver's state. It omits the dataset of a RunState that is nil.
func WriteState(path string, s *caffepb.SolverState) error {
	f := &hdf5.File{
		Groups: []string{"/history"},
		Integers: []hdf5.Integers{
			{Path: "/iter", Data: []int32{s.GetIter()}}, {Path: "/current_step", Data: []int32{s.GetCurrentStep()}},
		},
		Strings: []hdf5.String{{Path: "/learned_net", Text: s.GetLearnedNet()}},
	}
	if s.RunState != nil {
		run, err := proto.Marshal(s.RunState)
		if err != nil {
			return err
		}
		numbers := make([]int32, len(run))
		for i, b := range run {
			numbers[i] = int32(b)
		}
		f.Integers = append(f.Integers, hdf5.Integers{Path: runStateDataset, Data: numbers})
	}
	for i, b := range s.History {
		f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("/history/%d", i), Shape: blob.ProtoShape(b), Data: b.Data})
	}
	return write(path, f)
}

// ReadState reads a solver's state. RunState is nil if the file has none.
func ReadState(path string) (*swproto.State, error) {
	s := &caffepb.SolverState{}
	text, err := hdf5.ReadString(path, "/learned_net")
	if err != nil {
		return nil, err
	}
	s.LearnedNet = &text
	for _, n := range []struct {
		dataset string
		to      **int32
	}{{"/iter", &s.Iter}, {"/current_step", &s.CurrentStep}} {
		v, err := hdf5.ReadInteger(path, n.dataset)
		if err == nil && (v < 0 || v > math.MaxInt32) {
			err = fmt.Errorf("%s: dataset %s: %d is not a valid number of iterations or steps", path, n.dataset, v)
		}
		if err != nil {
			return nil, err
		}
		*n.to = proto.Int32(int32(v))
	}
	sets, err := hdf5.Read(path, func(name string) bool {
		return name == runStateDataset || strings.HasPrefix(name, "/history/")
	})
	if err != nil {
		return nil, err
	}
	history := map[int]*caffepb.BlobProto{}
	for i := range sets {
		if err := addToState(s, history, &sets[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for i := range len(history) {
		if history[i] == nil {
			return nil, fmt.Errorf("%s: there is no dataset /history/%d, but %d others", path, i, len(history))
		}
		s.History = append(s.History, history[i])
	}
	return &swproto.State{SolverState: s}, nil
}

// addToState adds a dataset to the histories or to the run state.
func addToState(s *caffepb.SolverState, history map[int]*caffepb.BlobProto, set *hdf5.Dataset) error {
	if name, ok := strings.CutPrefix(set.Path, "/history/"); ok {
		i, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("dataset %s: its name should be /history/NUMBER", set.Path)
		}
		history[i] = blobProto(*set)
		return nil
	}
	run := make([]byte, len(set.Data))
	for i, v := range set.Data {
		run[i] = byte(v)
	}
	s.RunState = &caffepb.RunState{}
	if err := proto.Unmarshal(run, s.RunState); err != nil {
		return fmt.Errorf("dataset %s: %w", set.Path, err)
	}
	return nil
}
