package predict

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// laterNet has 4 MB of weights.
const laterNet = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1024 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1024 weight_filler { type: "msra" } }
  quantization_param { input_scale: 0.02 input_zero_point: 128 } }`

// laterFolded has a convolution into whose 2 MB of weights those of the Scale layer are folded.
const laterFolded = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 256 dim: 2 dim: 2 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 512 kernel_size: 2 bias_term: false weight_filler { type: "msra" } }
  quantization_param { input_scale: 0.02 input_zero_point: 128 } }
layer { name: "s" type: "Scale" bottom: "y" top: "y" scale_param { filler { type: "gaussian" std: 2 } } }`

// TestWeightsWhenNeeded: a model's weights are read when a layer needs them, from the file that was there when the model was loaded. If that was written to, the
// errors of plans and of all runs name it.
func TestWeightsWhenNeeded(t *testing.T) {
	for name, net := range map[string]string{"inner product": laterNet, "folded convolution": laterFolded} {
		for _, precision := range []string{cpe.FP32, cpe.BF16} {
			t.Run(name+" in "+precision, func(t *testing.T) { weightsWhenNeeded(t, write(t, "later.prototxt", net), in(t, precision)) })
		}
	}
}

// in is this computer with a precision.
func in(t *testing.T, precision string) *cpe.Spec {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.WithPrecision(precision); err != nil {
		t.Fatal(err)
	}
	return &spec
}

func weightsWhenNeeded(t *testing.T, path string, machine *cpe.Spec) {
	for what, c := range map[string]struct {
		change func(file string) error
		fails  string
	}{
		"nothing": {func(string) error { return nil }, ""},
		"another file in its place": {func(file string) error {
			if err := os.WriteFile(file+".new", []byte("new"), 0o666); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		}, ""},
		"no file":       {os.Remove, ""},
		"a shorter one": {func(file string) error { return os.Truncate(file, 1<<12) }, "written to after it was opened: it had "},
		"a longer one":  {func(file string) error { return os.Truncate(file, 1<<23) }, "and has 8388608"},
	} {
		if runtime.GOOS == "windows" && what != "nothing" {
			continue // an open file stays as it is
		}
		file := save(t, plainNet(t, path, 5))
		want := run(t, session(t, load(t, Options{Net: path, Weights: file, Machine: machine}), 1), Array{Values: noise(1024, 1)})[0]
		fails := func(err error) bool {
			return err != nil && strings.Contains(err.Error(), file) && strings.Contains(err.Error(), c.fails) && !strings.Contains(err.Error(), "goroutine")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := load(t, Options{Net: path, Weights: file, Machine: machine})
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("loading takes %d bytes of memory", after.TotalAlloc-before.TotalAlloc)
		}
		if err := c.change(file); err != nil {
			t.Fatal(err)
		}
		s := session(t, m, 1)
		if err := s.Prepare(1); c.fails == "" && err != nil || c.fails != "" && !fails(err) {
			t.Errorf("%s: preparing a plan: %v", what, err)
		}
		for range 2 {
			got, err := s.Run(context.Background(), Array{Name: "x", Shape: m.Inputs()[0].Shape, Values: noise(1024, 1)})
			switch {
			case c.fails == "" && (err != nil || !slices.Equal(got[0].Values, want)):
				t.Errorf("%s: other results, or %v", what, err)
			case c.fails != "" && !fails(err):
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestWeightFilesAreClosed: of two files of weights the last one counts, and the other is closed at once.
func TestWeightFilesAreClosed(t *testing.T) {
	const files = "/proc/self/fd"
	if _, err := os.Stat(files); err != nil {
		t.Skip("open files are counted in ", files)
	}
	path := write(t, "later.prototxt", laterNet)
	first, last := save(t, plainNet(t, path, 5)), save(t, plainNet(t, path, 6))
	open := func() (n int) {
		list, err := os.ReadDir(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if to, _ := os.Readlink(files + "/" + f.Name()); to == first || to == last {
				n++
			}
		}
		return n
	}
	m := load(t, Options{Net: path, Weights: first + "," + last})
	if n := open(); n != 1 {
		t.Errorf("%d files are open after loading, want 1", n)
	}
	got := run(t, session(t, m, 1), Array{Values: noise(1024, 1)})[0]
	if n := open(); n != 1 {
		t.Errorf("%d files are open after a run, want 1", n)
	}
	if want := run(t, session(t, load(t, Options{Net: path, Weights: last}), 1), Array{Values: noise(1024, 1)})[0]; !slices.Equal(got, want) {
		t.Error("the weights are not those of the last file")
	}
}

// TestWeightsComeBack: of a model whose layers read packed weights, rounded ones too, its own are not in memory; they are those of the file when somebody looks.
func TestWeightsComeBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the files of weights are not kept open")
	}
	for name, text := range map[string]string{"inner product": laterNet, "folded convolution": laterFolded} {
		path := write(t, "later.prototxt", text)
		of := plainNet(t, path, 5)
		given := of.ToProto(false)
		file := save(t, of)
		for _, layer := range given.Layer {
			for _, b := range layer.Blobs[:min(1, len(layer.Blobs))] {
				b.Int8Data = &caffepb.Int8Values{Scale: []float32{0.01, 0.02}}
				for i := range b.Data {
					b.Int8Data.Data = append(b.Int8Data.Data, byte(i%251))
				}
				b.Data = nil
			}
		}
		bytes := filepath.Join(t.TempDir(), "bytes.caffemodel")
		if err := swproto.WriteBinary(bytes, given); err != nil {
			t.Fatal(err)
		}
		kinds := []struct{ precision, file string }{{cpe.FP32, file}, {cpe.BF16, file}, {cpe.INT8, file}, {cpe.INT8, bytes}, {cpe.BF16, bytes}}
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("%s, %s, %s", name, kind.precision, filepath.Base(kind.file)), func(t *testing.T) {
				values := of.Learnable()[0].Blob.Values()
				if kind.file == bytes {
					values = slices.Clone(values)
					for i := range values {
						scale := []float32{0.01, 0.02}[2*i/len(values)]
						values[i] = float32(int8(byte(i%251))) * scale
					}
				}
				m := load(t, Options{Net: path, Weights: kind.file, Machine: in(t, kind.precision)})
				s := session(t, m, 1)
				x := Array{Values: noise(1024, 1)}
				want := run(t, s, x)[0]
				weights := m.weights.Learnable()[0].Blob
				for range 2 {
					if inPlace := name == "inner product" && kind.precision == cpe.FP32; !inPlace && !weights.Stowed() {
						t.Error("the weights are in memory after a run")
					}
					if !slices.Equal(weights.Values(), values) {
						t.Error("the weights are not those of the file")
					}
					if got := run(t, session(t, m, 1), x)[0]; !slices.Equal(got, want) {
						t.Error("another session has other results")
					}
				}
			})
		}
	}
}
