package solver

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/layers"
)

// chain returns a solver for a sequence of InnerProduct layers with the given names.
func chain(names ...string) string {
	var s strings.Builder
	s.WriteString(`net_param { layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 2 dim: 2 } data_filler { value: 1 } } }` + "\n")
	bottom := "x"
	for i, name := range names {
		fmt.Fprintf(&s, "layer { name: %q type: \"InnerProduct\" bottom: %q top: \"y%d\" inner_product_param { num_output: 2 weight_filler { type: \"xavier\" } } }\n", name, bottom, i)
		bottom = fmt.Sprintf("y%d", i)
	}
	fmt.Fprintf(&s, "layer { name: \"l\" type: \"EuclideanLoss\" bottom: %q bottom: \"t\" top: \"l\" }\n}\n", bottom)
	return s.String() + `base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: 10 snapshot_format: HDF5 `
}

// TestHDF5OfDeepNets: a net of 400 layers with 800 weights and 800 histories continues from its HDF5 snapshot without a difference.
func TestHDF5OfDeepNets(t *testing.T) {
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprintf("layer%d", i))
	}
	dir := t.TempDir()
	whole := train(t, dir, chain(names...)+"snapshot_diff: true")
	step(t, whole, 1)
	if err := whole.Snapshot(); err != nil {
		t.Fatal(err)
	}
	resumed := train(t, dir, chain(names...))
	if err := resumed.Restore(filepath.Join(dir, "s_iter_1.solverstate.h5")); err != nil {
		t.Fatal(err)
	}
	step(t, whole, 2)
	step(t, resumed, 2)
	sameBits(t, "resumed", weights(resumed), weights(whole))
	h5ls, err := exec.LookPath("h5ls")
	if err != nil {
		t.Skip("h5ls is not installed (hdf5-tools)")
	}
	out, err := exec.Command(h5ls, "-r", filepath.Join(dir, "s_iter_1.caffemodel.h5")).CombinedOutput()
	if n := strings.Count(string(out), "Dataset {2"); err != nil || n != 1600 {
		t.Errorf("h5ls finds %d datasets, want 1600 (error %v)", n, err)
	}
}

// TestHDF5KeepsOddNames: layer names that libhdf5 changes are restored, also from files that libhdf5 writes.
func TestHDF5KeepsOddNames(t *testing.T) {
	for _, name := range []string{"/a", "a/", "a//b", "./a", "a/./b//", "inception_3a/1x1", "a b", "ä"} {
		dir := t.TempDir()
		first := train(t, dir, chain("before", name))
		step(t, first, 1)
		if err := first.Snapshot(); err != nil {
			t.Fatal(err)
		}
		second := train(t, dir, chain("before", name)+"random_seed: 7")
		if err := second.Restore(filepath.Join(dir, "s_iter_1.solverstate.h5")); err != nil {
			t.Fatal(err)
		}
		sameBits(t, fmt.Sprintf("layer %q", name), weights(second), weights(first))
		if sets, err := hdf5.Read(filepath.Join(dir, "s_iter_1.caffemodel.h5"), func(n string) bool { return n == "/data/"+hdf5.Clean(name)+"/0" }); err != nil || len(sets) != 1 {
			t.Errorf("layer %q: %d weights, error %v", name, len(sets), err)
		}
	}
}

// TestHDF5RefusesNames: layer names that a file cannot tell apart or hold are an error before training, and on reading such a file. The
// error names the layers.
func TestHDF5RefusesNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "a/"}, `layers "a" and "a/" have the same group /data/a`},
		{[]string{"/a//b", "a/b"}, `layers "/a//b" and "a/b" have the same group /data/a/b`},
		{[]string{"a", "a/0"}, "dataset /data/a/0: the file has /data/a/0 already"},
		{[]string{"a/0/1", "a"}, "the file has /data/a/0 already"},
		{[]string{"a", "/"}, `layer "/" has weights, but its name cannot be that of an HDF5 group`},
		{[]string{"a\x00b"}, "names in HDF5 files have no NUL"},
	} {
		_, err := newSolver(t, t.TempDir(), chain(c.names...))
		if err == nil || !strings.Contains(err.Error(), "snapshot_format: HDF5: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.names, err, c.want)
		}
		if _, err := newSolver(t, t.TempDir(), strings.Replace(chain(c.names...), "snapshot_format: HDF5", "", 1)); err != nil {
			t.Errorf("%q without HDF5: %v", c.names, err)
		}
	}
	path := filepath.Join(t.TempDir(), "w.h5")
	set := []hdf5.Dataset{{Path: "/data/a/0", Shape: []int{2, 2}, Data: make([]float32, 4)}, {Path: "/data/a/1", Shape: []int{2}, Data: make([]float32, 2)}}
	if err := hdf5.Write(path, &hdf5.File{Floats: set}); err != nil {
		t.Fatal(err)
	}
	v := train(t, t.TempDir(), strings.Replace(chain("a", "a/"), "snapshot_format: HDF5", "", 1))
	if err := LoadWeights(v.Net(), path, layers.NoLog()); err == nil || !strings.Contains(err.Error(), path+`: layers "a" and "a/"`) {
		t.Errorf("reading: error %v", err)
	}
}

// TestLayersOfOneName: a training of layers with one name, or none, continues from its snapshot without a difference, and its test net has the
// weights of each. An HDF5 file cannot hold them.
func TestLayersOfOneName(t *testing.T) {
	for _, names := range [][]string{{"ip", "ip"}, {"", "", ""}, {"a", "ip", "b", "ip"}} {
		text := strings.Replace(chain(names...), "snapshot_format: HDF5", `test_iter: 1 test_interval: 100 test_initialization: false`, 1)
		dir := t.TempDir()
		whole := train(t, dir, text)
		step(t, whole, 2)
		if err := whole.Snapshot(); err != nil {
			t.Fatal(err)
		}
		resumed := train(t, dir, text)
		if err := resumed.Restore(filepath.Join(dir, "s_iter_2.solverstate")); err != nil {
			t.Fatal(err)
		}
		sameBits(t, fmt.Sprintf("%q, read", names), weights(resumed), weights(whole))
		step(t, whole, 2)
		step(t, resumed, 2)
		sameBits(t, fmt.Sprintf("%q, resumed", names), weights(resumed), weights(whole))
		if err := whole.TestNow(); err != nil {
			t.Fatal(err)
		}
		for k := range whole.Net().NumLayers() {
			for i, b := range whole.Net().Layer(k).Params() {
				if test := whole.TestNets()[0].Layer(k).Params()[i]; !b.SharesData(test) {
					t.Errorf("%q: layer %d of the test net has another weight %d", names, k, i)
				}
			}
		}
		if _, err := newSolver(t, t.TempDir(), chain(names...)); err == nil || !strings.Contains(err.Error(), "snapshot_format: HDF5: ") {
			t.Errorf("%q as HDF5: error %v", names, err)
		}
	}
}
