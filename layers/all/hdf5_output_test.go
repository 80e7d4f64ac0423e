package all_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/hdf5"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	output := func(t testing.TB) string {
		return fmt.Sprintf("hdf5_output_param { file_name: %q }", filepath.Join(t.TempDir(), "o.h5"))
	}
	addCases("HDF5Output", layertest.Case{
		Files: output, Tops: -1, Bottoms: []layertest.Bottom{layertest.In(3, 2, 2), layertest.In(3)}, Allocates: "what it will write grows",
	})
}

// TestHDF5OutputAppends: after five batches and Close the file has every row in order, with four axes.
func TestHDF5OutputAppends(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		path := filepath.Join(t.TempDir(), "o.h5")
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "HDF5Output", Tops: -1, Param: fmt.Sprintf("hdf5_output_param { file_name: %q }", path),
			Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(2)},
		})
		var data, labels []float32
		for batch := range 5 {
			x := float32(10 * batch)
			f.SetInput(0, x, x+1, x+2, x+3, x+4, x+5)
			f.SetInput(1, x, -x)
			f.Forward(t)
			data, labels = append(data, x, x+1, x+2, x+3, x+4, x+5), append(labels, x, -x)
		}
		if err := f.Layer.(layers.Closer).Close(); err != nil {
			t.Fatal(err)
		}
		sets, err := hdf5.Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(sets) != 2 {
			t.Fatalf("%v: %d datasets, want data and label", engine, len(sets))
		}
		for _, set := range sets {
			want, shape := data, []int{10, 3, 1, 1}
			if set.Path == "/label" {
				want, shape = labels, []int{10, 1, 1, 1}
			}
			if !slices.Equal(set.Shape, shape) {
				t.Errorf("%v: %s is %v, want %v", engine, set.Path, set.Shape, shape)
			}
			layertest.Equal(t, set.Path, set.Data, want, 0)
		}
	}
}

// TestHDF5OutputOfALoss: blobs without axes are rows of 1x1x1, as Caffe writes them.
func TestHDF5OutputOfALoss(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		path := filepath.Join(t.TempDir(), "o.h5")
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "HDF5Output", Tops: -1, Param: fmt.Sprintf("hdf5_output_param { file_name: %q }", path),
			Bottoms: []layertest.Bottom{layertest.In(), layertest.In(1)},
		})
		for _, loss := range []float32{0.5, 0.25} {
			f.SetInput(0, loss)
			f.SetInput(1, 10*loss)
			f.Forward(t)
		}
		if err := f.Layer.(layers.Closer).Close(); err != nil {
			t.Fatal(err)
		}
		sets, err := hdf5.Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]float32{{0.5, 0.25}, {5, 2.5}} {
			if !slices.Equal(sets[i].Shape, []int{2, 1, 1, 1}) || !slices.Equal(sets[i].Data, want) {
				t.Errorf("%v: %s is %v %v, want %v", engine, sets[i].Path, sets[i].Shape, sets[i].Data, want)
			}
		}
	}
}

func TestHDF5OutputErrors(t *testing.T) {
	b := layertest.NewBench(t)
	file := fmt.Sprintf("hdf5_output_param { file_name: %q }", filepath.Join(t.TempDir(), "o.h5"))
	for _, test := range []struct {
		param   string
		bottoms []layertest.Bottom
		want    string
	}{
		{"", []layertest.Bottom{layertest.In(2, 3), layertest.In(2)}, "file_name is not set"},
		{file, []layertest.Bottom{layertest.In(2, 3), layertest.In(3)}, "the same number of rows: 2 3 (6) and 3 (3)"},
		{file, []layertest.Bottom{layertest.In(2, 1, 1, 1, 3), layertest.In(2)}, "has 5 axes"},
	} {
		c := layertest.Case{Type: "HDF5Output", Tops: -1, Param: test.param, Bottoms: test.bottoms}
		_, err := layertest.New(b.Device(layers.CPE), &c)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.param, err, test.want)
		}
	}
}
