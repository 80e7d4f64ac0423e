package solver

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/hdf5"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// runStateDataset holds the bytes of a RunState, one a number. Caffe reads the datasets it knows and no others.
const runStateDataset = "/swcaffe_run_state"

// weightsFile is a net in Caffe's HDF5 layout: a group /data/LAYER for every layer, in it a dataset a weight, unless an earlier layer has
// it, and the like under /diff, of all weights, if there are gradients.
func weightsFile(n *swnet.Net, withDiff bool) *hdf5.File {
	f := &hdf5.File{}
	for k, l := range n.ToProto(withDiff).Layer {
		group := hdf5Group(l.GetName())
		f.Groups = append(f.Groups, group)
		for i, b := range l.Blobs {
			shape := blob.ProtoShape(b)
			if !n.Shares(k, i) {
				f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("%s/%d", group, i), Shape: shape, Data: b.Data})
			}
			if len(b.Diff) > 0 {
				f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("/diff/%s/%d", l.GetName(), i), Shape: shape, Data: b.Diff})
			}
		}
	}
	return f
}

// stateFile is a solver's state in Caffe's HDF5 layout: iter, learned_net, current_step and history/N.
func stateFile(s *caffepb.SolverState) (*hdf5.File, error) {
	run, err := proto.Marshal(s.RunState)
	if err != nil {
		return nil, err
	}
	bytes := make([]int32, len(run))
	for i, b := range run {
		bytes[i] = int32(b)
	}
	f := &hdf5.File{
		Groups: []string{"/history"},
		Integers: []hdf5.Integers{
			{Path: "/iter", Data: []int32{s.GetIter()}}, {Path: "/current_step", Data: []int32{s.GetCurrentStep()}},
			{Path: runStateDataset, Data: bytes},
		},
		Strings: []hdf5.String{{Path: "/learned_net", Text: s.GetLearnedNet()}},
	}
	for i, b := range s.History {
		f.Floats = append(f.Floats, hdf5.Dataset{Path: fmt.Sprintf("/history/%d", i), Shape: blob.ProtoShape(b), Data: b.Data})
	}
	return f, nil
}

// readState reads a .solverstate of either format.
func readState(path string) (*swproto.State, error) {
	if !hdf5.Is(path) {
		return swproto.OpenState(path)
	}
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
			err = fmt.Errorf("%s: dataset %s: %d is no count of iterations or steps", path, n.dataset, v)
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

// addToState puts a dataset where it belongs: into the history, or the run state.
func addToState(s *caffepb.SolverState, history map[int]*caffepb.BlobProto, set *hdf5.Dataset) error {
	if name, ok := strings.CutPrefix(set.Path, "/history/"); ok {
		i, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("dataset %s: its name should be /history/NUMBER", set.Path)
		}
		history[i] = weightProto(*set)
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

// writeHDF5 writes a file whole or not at all.
func writeHDF5(path string, f *hdf5.File) error {
	return swproto.WriteFileAtomic(path, func(temporary *os.File) error { return hdf5.Write(temporary.Name(), f) })
}
