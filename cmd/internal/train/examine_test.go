package train

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data/hdf5"
	_ "github.com/swcaffe/swcaffe/layers/all"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver"

	"os"
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
