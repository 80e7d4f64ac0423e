package hdf5

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sample has many groups and datasets of several shapes.
func sample() *File {
	f := &File{
		Groups:   []string{"/data/relu", "/data/empty/deep"},
		Integers: []Integers{{"/iter", []int32{-7}}, {"/bytes", []int32{0, 255, 3}}},
		Strings:  []String{{"/learned_net", "snap_iter_6.caffemodel.h5"}},
	}
	for i := range 70 {
		d := Dataset{Path: fmt.Sprintf("/data/layer%d/with/slashes/%d", i, i%2), Shape: []int{i + 1, 2, 3}}
		for k := range 6 * (i + 1) {
			d.Data = append(d.Data, float32(k)/7+float32(i))
		}
		f.Floats = append(f.Floats, d)
	}
	return f
}

func TestWriteReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.h5")
	f := sample()
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	sets, err := Read(path, func(name string) bool { return name != "/learned_net" })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Dataset{}
	for _, s := range sets {
		got[s.Path] = s
	}
	for _, want := range f.Floats {
		s := got[want.Path]
		if !slices.Equal(s.Shape, want.Shape) || !slices.Equal(s.Data, want.Data) {
			t.Fatalf("%s: got shape %v, want %v, or other values", want.Path, s.Shape, want.Shape)
		}
	}
	if s := got["/bytes"]; !slices.Equal(s.Data, []float32{0, 255, 3}) {
		t.Errorf("/bytes: %v", s.Data)
	}
	if s := got["/iter"]; !slices.Equal(s.Data, []float32{-7}) {
		t.Errorf("/iter: %v", s.Data)
	}
	text, err := ReadString(path, "/learned_net")
	if err != nil || text != f.Strings[0].Text {
		t.Errorf("learned_net %q, %v", text, err)
	}
}

// TestLibhdf5Reads has h5dump, of another implementation, read what was written.
func TestLibhdf5Reads(t *testing.T) {
	h5dump, err := exec.LookPath("h5dump")
	if err != nil {
		t.Skip("h5dump is not installed (hdf5-tools)")
	}
	path := filepath.Join(t.TempDir(), "x.h5")
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(h5dump, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{`GROUP "relu"`, `GROUP "deep"`, `(0): "snap_iter_6.caffemodel.h5"`, "(0): -7", "H5T_IEEE_F32LE", "( 70, 2, 3 )", "H5T_STD_I32LE"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("h5dump does not show %s", want)
		}
	}
}
