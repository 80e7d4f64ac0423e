package onnxtest

import (
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Device returns a device on this computer, closed when the test ends.
func Device(t testing.TB) *layers.Device {
	d, err := swcaffe.NewDevice(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Machine.Close() })
	return d
}

// Parse reads a prototxt.
func Parse(t testing.TB, text string) *caffepb.NetParameter {
	p := &caffepb.NetParameter{}
	if _, err := swproto.UnmarshalText("test.prototxt", []byte(text), p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// Build makes a net for phase TEST. It closes when the test ends.
func Build(t testing.TB, p *caffepb.NetParameter) *swnet.Net {
	n, err := swnet.New(p, swnet.Options{Device: Device(t), State: &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// FillWeights gives all weights values between 0.25 and 1.25, with signs for matrices. Variances and factors must be positive.
func FillWeights(n *swnet.Net, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range n.NumLayers() {
		for k, w := range n.Layer(i).Params() {
			if n.Shares(i, k) {
				continue
			}
			for j := range w.Data() {
				w.Data()[j] = 0.25 + r.Float32()
				if n.LayerType(i) != "BatchNorm" && n.LayerType(i) != "BN" && r.IntN(2) == 0 {
					w.Data()[j] *= -1
				}
			}
		}
	}
}

// FillInputs draws the values of the net's Input layers, and returns them.
func FillInputs(n *swnet.Net, c *Case, seed uint64) map[string]*Tensor {
	r := rand.New(rand.NewPCG(seed, 3))
	inputs := map[string]*Tensor{}
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for k, name := range n.LayerParam(i).GetTop() {
			b := n.Tops(i)[k]
			for j := range b.Data() {
				v := float32(r.NormFloat64())
				switch {
				case c.Indices[name] > 0:
					v = float32(r.IntN(c.Indices[name]))
				case c.Positive[name]:
					v = 0.1 + r.Float32()
				case c.Regions[name] > 0 && j%5 == 0:
					v = float32(r.IntN(c.Regions[name]))
				case c.Regions[name] > 0: // some regions reach beyond the image, or end before they begin
					v = 16*r.Float32() - 3
				}
				b.Data()[j] = v
			}
			inputs[name] = FromBlob(b.Shape(), b.Data())
		}
	}
	return inputs
}

// FromBlob copies values.
func FromBlob(shape []int, data []float32) *Tensor {
	t := New(append([]int(nil), shape...)...)
	for i, v := range data {
		t.Data[i] = float64(v)
	}
	return t
}

// Resize gives the inputs with the first input's batch size another one.
func Resize(t testing.TB, n *swnet.Net, size int) {
	old := -1
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for _, b := range n.Tops(i) {
			if old < 0 {
				old = b.Dim(0)
			}
			if b.Dim(0) == old {
				b.Reshape(append([]int{size}, b.Shape()[1:]...)...)
			}
		}
	}
	if err := n.Reshape(); err != nil {
		t.Fatal(err)
	}
}
