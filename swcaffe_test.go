package swcaffe_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// TestErrorsNameTheFile: what a user's file has wrong is an error with its name, and where it can the line and the layer.
func TestErrorsNameTheFile(t *testing.T) {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Machine.Close()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "x.prototxt")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	openNet := func(path string, weights ...string) error {
		n, err := swcaffe.OpenNet(device, path, swcaffe.Test, weights...)
		if err == nil {
			n.Close()
		}
		return err
	}
	openSolver := func(path string) error {
		s, err := swcaffe.OpenSolver(device, path)
		if err == nil {
			s.Close()
		}
		return err
	}
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{openNet("no/such.prototxt"), []string{"no/such.prototxt"}},
		{openNet(write("\nlayer { name: 'a' type: 'Rellu' }")), []string{"x.prototxt:2", `layer "a"`, `"ReLU"?`}},
		{openNet(write("layer { name: 'a' type: 'Python' }")), []string{"layers.Register", "example_test.go"}},
		{openNet("testdata/classifier.prototxt", "no/such.caffemodel"), []string{"no/such.caffemodel"}},
		{openSolver("no/such.prototxt"), []string{"no/such.prototxt"}},
		{openSolver(write("lr_policy: 'fixed' net: 'no/such/net.prototxt'")), []string{"no/such/net.prototxt"}},
		{openSolver(write("lr_policy: 'fixed' net: 'x' type: 'Sgd'")), []string{"x.prototxt", `"SGD"?`}},
	} {
		if tt.err == nil {
			t.Errorf("no error, want one with %q", tt.want)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(tt.err.Error(), want) {
				t.Errorf("error %q lacks %q", tt.err, want)
			}
		}
	}
}

// TestInferenceGivesTheSame: what a net that is opened for inference gives, and keeps of what it was asked for, is up to rounding what one
// that keeps everything does, for images of two shapes.
func TestInferenceGivesTheSame(t *testing.T) {
	device, err := swcaffe.NewDevice(1)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Machine.Close()
	const path = "models/cifar10_resnet8/deploy.prototxt"
	whole, err := swcaffe.OpenNet(device, path, swcaffe.Test)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for i := range whole.NumLayers() {
		for k, b := range whole.Layer(i).Params() {
			statistics := whole.LayerType(i) == "BatchNorm"
			for j := range b.Data() {
				b.Data()[j] = float32((j*7919+13*i+k)%101)/101 - 0.45
				if statistics {
					b.Data()[j] = []float32{b.Data()[j], b.Data()[j] + 1, 1}[k] // mean, variance, factor
				}
			}
		}
	}
	quick, err := swcaffe.OpenInference(device, path)
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	if err := quick.ShareWeights(whole); err != nil {
		t.Fatal(err)
	}
	inner := whole.Tops(whole.NumLayers() / 2)[0]
	var name string
	for _, n := range whole.BlobNames() {
		if whole.Blob(n) == inner {
			name = n
		}
	}
	for _, shape := range [][]int{{1, 3, 32, 32}, {5, 3, 32, 32}} {
		for _, n := range []*swnet.Net{whole, quick} {
			n.Blob("data").Reshape(shape...)
			if err := n.Reshape(); err != nil {
				t.Fatal(err)
			}
			n.Blob(name)
			for i := range n.Blob("data").Data() {
				n.Blob("data").Data()[i] = float32(i*i%97)/97 - 0.5
			}
			if _, err := n.Forward(); err != nil {
				t.Fatal(err)
			}
		}
		for _, blob := range []string{whole.Outputs()[0].Name, name} {
			want, got := whole.Blob(blob).Data(), quick.Blob(blob).Data()
			if slices.Max(want) == slices.Min(want) {
				t.Fatalf("%s has one value, %g", blob, want[0])
			}
			if len(got) != len(want) {
				t.Fatalf("%s has %d values, want %d", blob, len(got), len(want))
			}
			for i, v := range got {
				if d := math.Abs(float64(v - want[i])); !(d <= 1e-5+1e-4*math.Abs(float64(want[i]))) {
					t.Fatalf("%s[%d] is %g, want %g", blob, i, v, want[i])
				}
			}
		}
	}
}

// TestSolverConvolvesAsTheDeviceSays: a strategy that is forced on a device is that of a solver's nets.
func TestSolverConvolvesAsTheDeviceSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solver.prototxt")
	text := `lr_policy: "fixed" max_iter: 1 snapshot_after_train: false net_param {
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 16 dim: 8 dim: 8 } } }
		layer { name: "conv" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 16 kernel_size: 3 } } }`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []shape.Strategy{shape.Explicit, shape.Winograd4} {
		device, err := swcaffe.NewDevice(1)
		if err != nil {
			t.Fatal(err)
		}
		defer device.Machine.Close()
		device.Force.Family = want
		s, err := swcaffe.OpenSolver(device, path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.Net().Layer(1).(layers.Strategist).Strategy(shape.Forward); got != want {
			t.Errorf("the convolution's strategy is %v, want %v", got, want)
		}
	}
}
