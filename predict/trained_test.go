package predict

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// plainNet opens a net layer by layer on the reference path, with weights from seed and statistics that differ from channel to channel.
func plainNet(t *testing.T, path string, seed uint64) *swnet.Net {
	t.Helper()
	m, err := cpe.NewHost(1)
	if err != nil {
		t.Fatal(err)
	}
	file, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &layers.Device{Engine: layers.MPE, Machine: m, Random: layers.NewRandom(seed)}
	n, err := swnet.New(file.Param, swnet.Options{State: swnet.MergeState(caffepb.Phase_TEST), Device: d})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n.NumLayers() {
		if n.LayerType(i) != "BatchNorm" {
			continue
		}
		for c, v := range n.Layer(i).Params()[1].Data() {
			n.Layer(i).Params()[0].Data()[c] = float32(c%5)/10 - 0.2
			n.Layer(i).Params()[1].Data()[c] = v + 0.6 + float32(c%7)/8
		}
		n.Layer(i).Params()[2].Data()[0] = 1
	}
	return n
}

// save writes a net's weights to a file.
func save(t *testing.T, n *swnet.Net) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.caffemodel")
	if err := swproto.WriteBinary(path, n.ToProto(false)); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, opt Options) *Model {
	t.Helper()
	m, err := Load(opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func session(t *testing.T, m *Model, cores int) *Session {
	t.Helper()
	s, err := m.NewSession(cores)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// write writes a file of a test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// noise returns n values between -1 and 1.
func noise(n int, seed uint64) []float32 {
	r, values := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range values {
		values[i] = 2*r.Float32() - 1
	}
	return values
}

// run returns copies of the outputs of a run.
func run(t testing.TB, s *Session, inputs ...Array) [][]float32 {
	t.Helper()
	outs, err := s.Run(context.Background(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float32
	for _, o := range outs {
		all = append(all, append([]float32(nil), o.Values...))
	}
	return all
}

// near reports whether values differ by at most a part of the largest one.
func near(got, want []float32, tolerance float64) bool {
	most := 0.0
	for _, v := range want {
		most = max(most, math.Abs(float64(v)))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-float64(v)) <= tolerance*most) {
			return false
		}
	}
	return len(got) == len(want) && most > 0
}

// picture returns a PNG of random pixels, and the image.
func picture(t *testing.T, height, width int, seed uint64) (file []byte, im image.Image) {
	t.Helper()
	r, of := rand.New(rand.NewPCG(seed, 2)), image.NewNRGBA(image.Rect(3, 4, 3+width, 4+height))
	for y := range height {
		for x := range width {
			of.SetNRGBA(3+x, 4+y, color.NRGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, of); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), of
}

// TestFillers: layers that a file of weights has get these and no filler's values; the others get their fillers'.
func TestFillers(t *testing.T) {
	const input = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 2 weight_filler { type: "xavier" } bias_filler { value: 3 } } }`
	of := plainNet(t, write(t, "a.prototxt", input), 5)
	m := load(t, Options{Weights: save(t, of), Net: write(t, "b.prototxt", input+`
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 2 weight_filler { value: 0.5 } bias_filler { value: 7 } } }`)})
	want := [][]float32{of.Learnable()[0].Blob.Values(), {3, 3}, {0.5, 0.5, 0.5, 0.5}, {7, 7}}
	for i, w := range m.weights.Learnable() {
		if !slices.Equal(w.Blob.Values(), want[i]) {
			t.Errorf("weight %d of layer %s is %v, want %v", w.Index, w.Layer, w.Blob.Values(), want[i])
		}
	}
	if n := len(m.weights.Learnable()); n != len(want) {
		t.Errorf("%d weights, want %d", n, len(want))
	}
}
