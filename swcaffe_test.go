package swcaffe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/layers"
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

// TestSolverConvolvesAsTheDeviceSays: a strategy that is forced on a device is that of a solver's nets.
func TestSolverConvolvesAsTheDeviceSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solver.prototxt")
	text := `lr_policy: "fixed" max_iter: 1 snapshot_after_train: false net_param {
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 16 dim: 8 dim: 8 } } }
		layer { name: "conv" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 16 kernel_size: 3 } } }`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []kernel.Strategy{kernel.Explicit, kernel.Winograd4} {
		device, err := swcaffe.NewDevice(1)
		if err != nil {
			t.Fatal(err)
		}
		defer device.Machine.Close()
		device.Strategy = want
		s, err := swcaffe.OpenSolver(device, path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.Net().Layer(1).(layers.Strategist).Strategy(kernel.Forward); got != want {
			t.Errorf("the convolution's strategy is %v, want %v", got, want)
		}
	}
}
