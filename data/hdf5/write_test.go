package hdf5

import (
	"fmt"
	"os"
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

// TestGroupsOfAllSizes: groups around the sizes at which symbol tables, B-tree nodes and levels fill are read back, and h5ls finds as many.
func TestGroupsOfAllSizes(t *testing.T) {
	h5ls, _ := exec.LookPath("h5ls")
	dir := t.TempDir()
	for _, n := range []int{0, 1, 7, 8, 9, 255, 256, 257, 258, 1000, 8192, 8193} {
		f := &File{Groups: []string{"/data"}}
		for i := range n {
			f.Floats = append(f.Floats, Dataset{Path: fmt.Sprintf("/data/layer%d", i*7%10007), Shape: []int{1}, Data: []float32{float32(i)}})
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.h5", n))
		if err := Write(path, f); err != nil {
			t.Fatal(err)
		}
		sets, err := Read(path, nil)
		if err != nil || len(sets) != n {
			t.Fatalf("%d datasets of %d, error %v", len(sets), n, err)
		}
		got := map[string]float32{}
		for _, s := range sets {
			got[s.Path] = s.Data[0]
		}
		for i, d := range f.Floats {
			if got[d.Path] != float32(i) {
				t.Errorf("%d datasets: %s is %g, want %d", n, d.Path, got[d.Path], i)
			}
		}
		if h5ls == "" {
			continue
		}
		// Opening one by its name, libhdf5 goes down the B-tree by its keys.
		out, err := exec.Command(h5ls, path+"/data").CombinedOutput()
		if lines := strings.Count(string(out), "Dataset {1}"); err != nil || lines != n {
			t.Errorf("h5ls finds %d datasets of %d: %v", lines, n, err)
		}
	}
}

// TestLibhdf5ReadsDeepNets: h5dump opens layers by name, the first, the last and some between, of a file with 1,000, and shows their values.
func TestLibhdf5ReadsDeepNets(t *testing.T) {
	h5dump, err := exec.LookPath("h5dump")
	if err != nil {
		t.Skip("h5dump is not installed (hdf5-tools)")
	}
	f := &File{Strings: []String{{"/learned_net", ""}}, Integers: []Integers{{"/none", nil}}}
	for i := range 1000 {
		group := fmt.Sprintf("/data/layer%d", i)
		f.Groups = append(f.Groups, group, fmt.Sprintf("/data/relu%d", i))
		f.Floats = append(f.Floats, Dataset{Path: group + "/0", Shape: []int{2, 1}, Data: []float32{float32(i), 0.5}}, Dataset{Path: group + "/1", Data: []float32{-float32(i)}})
	}
	path := filepath.Join(t.TempDir(), "deep.h5")
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 1000; i += 499 {
		out, err := exec.Command(h5dump, "-g", fmt.Sprintf("/data/layer%d", i), path).CombinedOutput()
		for _, want := range []string{"{ ( 2, 1 ) / ( 2, 1 ) }", fmt.Sprintf("(0,0): %d,", i), "(1,0): 0.5", "DATASPACE  SCALAR", fmt.Sprintf("(0): %d\n", -i)} {
			if err != nil || !strings.Contains(string(out), want) {
				t.Fatalf("layer %d: h5dump does not show %q (%v): %s", i, want, err, out)
			}
		}
	}
	if out, err := exec.Command(h5dump, path).CombinedOutput(); err != nil {
		t.Errorf("the whole: %v: %.300s", err, out)
	}
	sets, err := Read(path, func(name string) bool { return name == "/none" || name == "/data/layer7/1" })
	if err != nil || len(sets) != 2 || sets[0].Shape != nil || sets[0].Data[0] != -7 || len(sets[1].Data) != 0 {
		t.Errorf("read %v, %v", sets, err)
	}
}

// TestPathsThatCannotBe: Check, and Write before it makes a file, refuse what HDF5 has no place for.
func TestPathsThatCannotBe(t *testing.T) {
	one := func(path string) Dataset { return Dataset{Path: path, Shape: []int{1}, Data: []float32{1}} }
	for want, f := range map[string]*File{
		"dataset /a//b: the file has /a/b already":         {Floats: []Dataset{one("/a/b"), one("/a//b")}},
		"dataset /a/./: the file has /a already":           {Groups: []string{"/a"}, Floats: []Dataset{one("/a/./")}},
		"dataset /a/b/c: a dataset lies on its way":        {Floats: []Dataset{one("/a/b"), one("/a/b/c")}},
		"dataset /a: the file has /a already":              {Floats: []Dataset{one("/a/b"), one("/a")}},
		`dataset "/./" has no name`:                        {Floats: []Dataset{one("/./")}},
		`group "/a\x00b": names in HDF5 files have no NUL`: {Groups: []string{"/a\x00b"}},
		"dataset /a: it has 33 axes, HDF5 has at most 32":  {Floats: []Dataset{{Path: "/a", Shape: make([]int, 33)}}},
	} {
		path := filepath.Join(t.TempDir(), "x.h5")
		if err := f.Check(); err == nil || err.Error() != want {
			t.Errorf("Check: %v, want %s", err, want)
		}
		if err := Write(path, f); err == nil || err.Error() != path+": "+want {
			t.Errorf("Write: %v, want %s", err, want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("there is a file")
		}
	}
}
