package solver

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
	"google.golang.org/protobuf/proto"
)

// TestGoesOnFromCaffesState: for every solver type, two iterations from a state written by another program in Caffe's layout give the
// weights of two iterations from our own state. Both formats are tested. Histories in another order or of another meaning would fail.
func TestGoesOnFromCaffesState(t *testing.T) {
	racing.SkipSequential(t)
	patterns := []string{"solver_sgd", "solver_sgd_momentum_l2"}
	for _, kind := range []string{"nesterov", "adagrad", "rmsprop", "adadelta", "adam"} {
		patterns = append(patterns, "solver_"+kind)
	}
	conformance.Each(t, patterns, 6, func(t *testing.T, dir string) {
		for _, format := range []caffepb.SolverParameter_SnapshotFormat{caffepb.SolverParameter_BINARYPROTO, caffepb.SolverParameter_HDF5} {
			t.Run(format.String(), func(t *testing.T) {
				t.Chdir(dir)
				own, at := caffeSolver(t, format, "own")
				if err := LoadWeights(own.Net(), "init.caffemodel", own.log); err != nil {
					t.Fatal(err)
				}
				step(t, own, at)
				if err := own.Snapshot(); err != nil {
					t.Fatal(err)
				}
				ownState := fmt.Sprintf("%s_iter_%d.solverstate", own.param.GetSnapshotPrefix(), at)
				if format == caffepb.SolverParameter_HDF5 {
					ownState += ".h5"
				}
				goneOn, _ := caffeSolver(t, format, "gone on")
				restoreStripped(t, goneOn, ownState)
				fromCaffe, _ := caffeSolver(t, format, "from Caffe")
				if err := fromCaffe.Restore(caffeState(t, format, at)); err != nil {
					t.Fatal(err)
				}
				if fromCaffe.Iter() != at {
					t.Errorf("the state is of iteration %d, want %d", fromCaffe.Iter(), at)
				}
				before := weights(fromCaffe)
				step(t, goneOn, 2)
				step(t, fromCaffe, 2)
				got, want := weights(fromCaffe), weights(goneOn)
				moved := 0.0
				for i := range got {
					moved = max(moved, math.Abs(float64(got[i]-before[i])))
					if d := math.Abs(float64(got[i] - want[i])); d > 1e-5+1e-3*math.Abs(float64(want[i])) {
						t.Fatalf("weight %d is %g, from the solver's own state %g", i, got[i], want[i])
					}
				}
				if moved == 0 {
					t.Error("the weights did not move")
				}
			})
		}
	})
}

// caffeSolver makes the solver of the case in the working directory, with snapshots elsewhere, and returns its max_iter.
func caffeSolver(t *testing.T, format caffepb.SolverParameter_SnapshotFormat, name string) (*Solver, int) {
	t.Helper()
	file, err := swproto.ReadSolver("solver.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	text := file.Param
	text.SnapshotPrefix = proto.String(filepath.Join(t.TempDir(), name))
	text.SnapshotFormat, text.SnapshotAfterTrain = format.Enum(), proto.Bool(false)
	v, err := newSolver(t, ".", string(swproto.MarshalText(text)))
	if err != nil {
		t.Fatal(err)
	}
	return v, int(text.GetMaxIter())
}

// restoreStripped restores one of our states without the parts that Caffe's lack, so that data layers start where Caffe's do.
func restoreStripped(t *testing.T, v *Solver, path string) {
	t.Helper()
	state, err := openState(path)
	if err != nil {
		t.Fatal(err)
	}
	if state.RunState == nil {
		t.Error("our state has no run state")
	}
	state.RunState = nil
	stripped := filepath.Join(t.TempDir(), "stripped.solverstate")
	if err := swproto.WriteBinary(stripped, state); err != nil {
		t.Fatal(err)
	}
	if err := v.Restore(stripped); err != nil {
		t.Fatal(err)
	}
}

// caffeState returns the file of Caffe's state in a format. The state names the weights that Caffe wrote.
func caffeState(t *testing.T, format caffepb.SolverParameter_SnapshotFormat, at int) string {
	t.Helper()
	state := &caffepb.SolverState{}
	if err := swproto.ReadBinary("expected.solverstate", state); err != nil {
		t.Fatal(err)
	}
	if state.RunState != nil || int(state.GetIter()) != at {
		t.Fatalf("not a state of Caffe's at iteration %d: %v", at, state.GetIter())
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	state.LearnedNet = proto.String(filepath.Join(here, "expected.caffemodel"))
	path := filepath.Join(t.TempDir(), "caffe.solverstate")
	if format == caffepb.SolverParameter_BINARYPROTO {
		err = swproto.WriteBinary(path, state)
	} else {
		path += ".h5"
		err = caffeh5.WriteState(path, state)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHDF5KeepsLongRuns: iteration numbers beyond float32 precision are restored exactly.
func TestHDF5KeepsLongRuns(t *testing.T) {
	dir := t.TempDir()
	v := train(t, dir, noisyNet+"snapshot_format: HDF5")
	v.iter, v.step = 1<<24+1, 1<<25+3
	if err := v.Snapshot(); err != nil {
		t.Fatal(err)
	}
	again := train(t, dir, noisyNet)
	if err := again.Restore(filepath.Join(dir, "s_iter_16777217.solverstate.h5")); err != nil {
		t.Fatal(err)
	}
	if again.iter != v.iter || again.step != v.step {
		t.Errorf("iteration %d and step %d, were %d and %d", again.iter, again.step, v.iter, v.step)
	}
}
