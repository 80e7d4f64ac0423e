package solver

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/hdf5"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// sharingNet has two layers that share w. The second also has a bias of its own.
const sharingNet = `net_param {
	layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { value: 1 } } }
	layer { name: "a" type: "InnerProduct" bottom: "x" top: "y" param { name: "w" } inner_product_param { num_output: 3 bias_term: false weight_filler { type: "xavier" } } }
	layer { name: "b" type: "InnerProduct" bottom: "y" top: "z" param { name: "w" } inner_product_param { num_output: 3 } }
	layer { name: "c" type: "InnerProduct" bottom: "z" top: "o" param { name: "w" } inner_product_param { num_output: 3 bias_term: false } }
	layer { name: "l" type: "EuclideanLoss" bottom: "o" bottom: "t" top: "l" }
} base_lr: 0.1 lr_policy: "fixed" max_iter: 10 snapshot_format: HDF5 `

// TestHDF5HasSharedWeightsOnce: as in Caffe's files, a shared weight is stored under its first layer, gradients under every layer. Reading
// the file restores both layers.
func TestHDF5HasSharedWeightsOnce(t *testing.T) {
	dir := t.TempDir()
	s := train(t, dir, sharingNet+"snapshot_diff: true")
	step(t, s, 2)
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s_iter_2.caffemodel.h5")
	var names []string
	sets, err := hdf5.Read(path, func(name string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		names = append(names, set.Path)
	}
	slices.Sort(names)
	if want := []string{"/data/a/0", "/data/b/1", "/diff/a/0", "/diff/b/0", "/diff/b/1", "/diff/c/0"}; !slices.Equal(names, want) {
		t.Errorf("the file has %v, want %v", names, want)
	}
	other := train(t, dir, sharingNet)
	if err := other.Restore(filepath.Join(dir, "s_iter_2.solverstate.h5")); err != nil {
		t.Fatal(err)
	}
	sameBits(t, "read", weights(other), weights(s))
	for i, b := range other.Net().Params("c") {
		sameBits(t, "shared", b.Data(), s.Net().Params("a")[i].Data())
	}
}

// TestHDF5MissesAWeight: a missing weight is an error unless another layer owns it.
func TestHDF5MissesAWeight(t *testing.T) {
	for name, sets := range map[string][]hdf5.Dataset{
		"the first": {{Path: "/data/b/1", Shape: []int{3}, Data: make([]float32, 3)}},
		"the last":  {{Path: "/data/b/0", Shape: []int{3, 3}, Data: make([]float32, 9)}},
	} {
		path := filepath.Join(t.TempDir(), "w.h5")
		if err := hdf5.Write(path, &hdf5.File{Floats: sets}); err != nil {
			t.Fatal(err)
		}
		s := train(t, t.TempDir(), `net_param {
			layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
			layer { name: "b" type: "InnerProduct" bottom: "x" top: "z" inner_product_param { num_output: 3 } } } base_lr: 0.1 lr_policy: "fixed" `)
		err := LoadWeights(s.Net(), path, s.log)
		if err == nil || !strings.Contains(err.Error(), `layer "b"`) || !strings.Contains(err.Error(), "number of blobs") {
			t.Errorf("%s is missing: %v", name, err)
		}
	}
}

// TestWeightsWithoutLayers: a file of weights without any layer leaves the fillers' values, with a warning. A file of something else is an error, and so
// is a snapshot's file without layers.
func TestWeightsWithoutLayers(t *testing.T) {
	dir := t.TempDir()
	binary, group, other := filepath.Join(dir, "w.caffemodel"), filepath.Join(dir, "w.h5"), filepath.Join(dir, "other.h5")
	if err := swproto.WriteBinary(binary, &caffepb.NetParameter{Name: proto.String("empty")}); err != nil {
		t.Fatal(err)
	}
	if err := hdf5.Write(group, &hdf5.File{Groups: []string{"/data"}}); err != nil {
		t.Fatal(err)
	}
	if err := hdf5.Write(other, &hdf5.File{Floats: []hdf5.Dataset{{Path: "/labels", Shape: []int{1}, Data: []float32{1}}}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{binary, group} {
		s := train(t, t.TempDir(), sharingNet)
		before := slices.Clone(weights(s))
		var log bytes.Buffer
		showLog(s.log, &log)
		if err := LoadWeights(s.Net(), path, s.log); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		sameBits(t, path, weights(s), before)
		if want := "No weights were copied: the file has no layers, so that all keep their present weights (a, b)"; strings.Count(log.String(), want) != 1 {
			t.Errorf("%s: the log is %q, want %q", path, log.String(), want)
		}
	}
	for _, prefix := range []string{"s", "a,b"} { // a comma separates files in a list, but is part of a snapshot's name
		dir := t.TempDir()
		s := train(t, dir, strings.Replace(sharingNet, "snapshot_format: HDF5", "", 1)+fmt.Sprintf("snapshot_prefix: %q", filepath.Join(dir, prefix)))
		if err := s.Snapshot(); err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(dir, prefix+"_iter_0.solverstate")
		if err := s.Restore(state); err != nil {
			t.Errorf("%s: %v", prefix, err)
		}
		if err := swproto.WriteBinary(filepath.Join(dir, prefix+"_iter_0.caffemodel"), &caffepb.NetParameter{Name: proto.String("empty")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Restore(state); err == nil || !strings.Contains(err.Error(), "no weights: the file has no layers, so that the training") {
			t.Errorf("%s: a snapshot without layers: %v", prefix, err)
		}
	}
	s := train(t, t.TempDir(), sharingNet)
	if err := LoadWeights(s.Net(), other, s.log); err == nil || !strings.Contains(err.Error(), other+": no weights: the file has no group /data") {
		t.Errorf("a file of data: %v", err)
	}
}
