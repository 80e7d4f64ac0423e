package nets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
)

// TestRandomNets checks some nets, which also read what they write.
func TestRandomNets(t *testing.T) {
	for i := range 40 {
		p := Random(rand.New(rand.NewPCG(7, uint64(i))))
		text := p.String()
		again, err := Parse(text)
		if err != nil || again.String() != text {
			t.Fatalf("net %d: reading what was written: %v\n%s", i, err, text)
		}
		if err := again.Check(); err != nil {
			t.Errorf("net %d: %v\n%s", i, err, text)
		}
	}
}

// TestShapes: the blobs of nets have the shapes that the builder works out.
func TestShapes(t *testing.T) {
	m, err := machine(randomtest.Threads{1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		b := draw(rand.New(rand.NewPCG(9, uint64(i))), 3e4)
		p := &problem{net: b.net(), use: train}
		n, err := p.build(layers.MPE, m, false)
		if err != nil {
			t.Errorf("net %d: %v", i, err)
			continue
		}
		for _, tip := range b.tips {
			if got := n.Blob(tip.name).Shape(); !slices.Equal(got, tip.shape) {
				t.Errorf("net %d: blob %s has shape %v, not %v", i, tip.name, got, tip.shape)
			}
		}
		n.Close()
	}
}

// TestTypes: a thousand nets contain every layer type, except for types that read files and types that nets insert themselves.
func TestTypes(t *testing.T) {
	without := []string{"Data", "HDF5Data", "HDF5Output", "ImageData", "MemoryData", "WindowData", "IMAGENETData", // files
		"AnnotatedData", "DenseImageData", "ImageSegData",
		"Split", "LSTMUnit"} // which the net, and LSTM, make
	seen := map[string]bool{}
	for i := range 1000 {
		for _, l := range Random(rand.New(rand.NewPCG(8, uint64(i)))).(*problem).net.Layer {
			seen[l.GetType()] = true
		}
	}
	for _, entry := range layers.Types() {
		if !seen[entry.Name] && !slices.Contains(without, entry.Name) {
			t.Errorf("no net has a layer of type %s", entry.Name)
		}
	}
}

const checked = `# use: train
# seed: 5
# threads: 1
# threads: 1,0,2
layer { name: "x" type: "Input" top: "gauss_1" input_param { shape { dim: 6 dim: 3 dim: 5 dim: 5 } } }
layer { name: "conv" type: "Convolution" bottom: "gauss_1" top: "y" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "msra" } } }
layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }
layer { name: "label" type: "Input" top: "label4_2" input_param { shape { dim: 6 dim: 3 dim: 3 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label4_2" top: "loss" }`

// TestComparing: a value that is off by more than rounding is an error; a smaller difference is not.
func TestComparing(t *testing.T) {
	want := &run{}
	want.add("gradient", []float32{1, -2, 0.5, 0})
	for _, tt := range []struct {
		value   float32
		differs bool
	}{{0.5, false}, {0.5001, false}, {0.51, true}, {float32(nan()), true}} {
		got := &run{}
		got.add("gradient", []float32{1, -2, tt.value, 0})
		if err := near(got, want, newEnvelope(want), 1e-3, 0); (err != nil) != tt.differs {
			t.Errorf("%g for 0.5: %v", tt.value, err)
		}
		if err := sameBits(got, want); (err != nil) != (tt.value != 0.5) {
			t.Errorf("%g for 0.5, bit by bit: %v", tt.value, err)
		}
	}
}

func nan() float64 { x := 0.0; return x / x }

// TestSmaller: a net is shrunk to nets that can be built, and each is smaller.
func TestSmaller(t *testing.T) {
	p, err := Parse(checked)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	smaller := p.Smaller()
	fewer := slices.ContainsFunc(smaller, func(q randomtest.Problem) bool { return !strings.Contains(q.String(), "SoftmaxWithLoss") })
	threads := slices.ContainsFunc(smaller, func(q randomtest.Problem) bool { return !strings.Contains(q.String(), "1,0,2") })
	if !fewer || !threads {
		t.Errorf("%d smaller nets: one with fewer layers: %v, one on fewer threads: %v", len(smaller), fewer, threads)
	}
	for _, q := range smaller {
		if err := q.Check(); err != nil && !strings.HasPrefix(err.Error(), randomtest.Refused) {
			t.Errorf("%v\n%s", err, q)
		}
	}
}
