package train

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/hdf5"
	_ "github.com/swcaffe/swcaffe/layers/all"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/events"
)

// examined is a solver whose test net has eight items with known scores: six are right.
const examined = `net_param {
	layer { name: "x" type: "HDF5Data" top: "score" top: "label" hdf5_data_param { source: "LIST" batch_size: 4 } }
	layer { name: "p" type: "Power" bottom: "score" top: "y" }
	layer { name: "ip" type: "InnerProduct" bottom: "score" top: "z" inner_product_param { num_output: 2 } include { phase: TRAIN } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "z" bottom: "label" top: "l" include { phase: TRAIN } }
	layer { name: "accuracy" type: "Accuracy" bottom: "y" bottom: "label" top: "a" include { phase: TEST } }
}
base_lr: 0.1 lr_policy: "fixed" max_iter: 4 test_iter: 2 test_interval: 1 snapshot_after_train: false random_seed: 1`

// TestExaminer: a test is collected once for each question before it, with all of its batches; a run without questions keeps nothing.
func TestExaminer(t *testing.T) {
	dir := t.TempDir()
	scores := []float32{1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1} // classes 0, 1, 0, 1 ...
	labels := []float32{0, 1, 1, 1, 0, 1, 0, 0}
	err := hdf5.Write(filepath.Join(dir, "x.h5"), &hdf5.File{Floats: []hdf5.Dataset{{Path: "/score", Shape: []int{8, 2}, Data: scores}, {Path: "/label", Shape: []int{8}, Data: labels}}})
	if err != nil {
		t.Fatal(err)
	}
	list, path := filepath.Join(dir, "list"), filepath.Join(dir, "solver.prototxt")
	for name, text := range map[string]string{list: filepath.Join(dir, "x.h5"), path: strings.Replace(examined, "LIST", list, 1)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := swproto.ReadSolver(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := newExaminer()
	var s *solver.Solver
	s, err = solver.New(file, solver.Options{Machine: m, OnTest: func(net int) func(int) { return x.begin(s, net) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.TestNow(); err != nil || len(x.last) != 0 {
		t.Fatalf("%v; nobody asked, %d results are kept", err, len(x.last))
	}
	if got, err := x.Test(0); err != nil || got.Results != nil || got.Nets != 1 {
		t.Errorf("%+v, %v before a test", got, err)
	}
	if err := s.Step(2); err != nil { // tests before both iterations
		t.Fatal(err)
	}
	got, err := x.Test(0)
	if err != nil || got.Results == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	// The second item of label 1 taken for 0, the last one of label 0 taken for 1: 6 of 8.
	if r := got.Results; got.Iteration != 0 || r.Items != 8 || r.Batches != 2 || r.Wrong != 2 || r.Matrix[0].Cells[0].Text != "3" || r.Matrix[0].Cells[1].Text != "1" || r.Matrix[1].Cells[0].Text != "1" || r.Matrix[1].Cells[1].Text != "3" {
		t.Errorf("iteration %d, %+v", got.Iteration, r)
	}
	if _, err := x.Test(1); err == nil || !strings.Contains(err.Error(), "no test net #1; the run has 1") {
		t.Error(err)
	}
}

// disturbed has fused layers, dropout and running statistics in a training net and a test net that share memory.
const disturbed = `net_param {
	layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 6 dim: 3 dim: 8 dim: 8 } shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }
	layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "xavier" } } }
	layer { name: "bn" type: "BatchNorm" bottom: "c" top: "b" }
	layer { name: "relu" type: "ReLU" bottom: "b" top: "b" }
	layer { name: "pool" type: "Pooling" bottom: "b" top: "p" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
	layer { name: "drop" type: "Dropout" bottom: "p" top: "p" }
	layer { name: "ip" type: "InnerProduct" bottom: "p" top: "y" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "l" }
	layer { name: "accuracy" type: "Accuracy" bottom: "y" bottom: "t" top: "a" include { phase: TEST } }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" max_iter: 7 test_iter: 2 test_interval: 2 snapshot_after_train: false random_seed: 3`

// TestExaminerChangesNothing: the losses, the tests' results and the weights have the same bits with and without collection, which begins in the
// middle of the run.
func TestExaminerChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solver.prototxt")
	if err := os.WriteFile(path, []byte(disturbed), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(asks bool) (all []float64) {
		file, err := swproto.ReadSolver(path)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := cpe.Load("host")
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		stream := events.NewStream(nil)
		stream.Subscribe(func(e events.Event) {
			switch b := e.Body.(type) {
			case *events.Iteration:
				all = append(all, float64(b.Loss))
			case *events.Test:
				all = append(all, float64(b.Loss), float64(b.Outputs[0].Value), float64(b.Outputs[1].Value))
			}
		})
		x := newExaminer()
		var s *solver.Solver
		s, err = solver.New(file, solver.Options{Machine: m, Events: stream, OnTest: func(net int) func(int) {
			if asks && s.Iter() >= 2 {
				if _, err := x.Test(net); err != nil {
					t.Error(err)
				}
			}
			return x.begin(s, net)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Solve(); err != nil {
			t.Fatal(err)
		}
		if asks && x.last[0].Results.Items != 12 {
			t.Errorf("the last test has %d items, want 12", x.last[0].Results.Items)
		}
		for _, l := range s.Net().Learnable() {
			for _, v := range l.Blob.Data() {
				all = append(all, float64(v))
			}
		}
		return all
	}
	if a, b := run(false), run(true); len(a) < 7+4*3 || !slices.Equal(a, b) {
		t.Error("a page that asks for tests changes the training")
	}
}
