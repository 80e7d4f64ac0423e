package models_test

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestFoldedNets: nets for inference, whose convolutions have weights with normalisation folded in, give the values of nets that compute layer
// by layer, within 1e-4 of the largest one: roundings add up over as many as 53 layers.
func TestFoldedNets(t *testing.T) {
	for model, blob := range map[string]string{
		"cifar10_resnet8": "prob", "cifar10_mobilenet_v2": "prob", "cifar10_shufflenet": "prob", "resnet18": "prob", "mobilenet_ssd": "mbox_conf_flatten",
	} {
		t.Run(model, func(t *testing.T) {
			plain, n := openWaves(t, model, false), openWaves(t, model, true)
			normalised := fillWeights(plain)
			if err := n.ShareWeights(plain); err != nil {
				t.Fatal(err)
			}
			got, want := output(t, n, blob), output(t, plain, blob)
			most := float64(slices.Max(want))
			for i, v := range want {
				if !(math.Abs(float64(got[i])-float64(v)) <= 1e-4*most) {
					t.Fatalf("value %d of %s is %g, layer by layer %g", i, blob, got[i], v)
				}
			}
			folded := 0
			for _, note := range n.Passes() {
				if note.Pass == "fold" {
					folded++
				}
			}
			if folded != normalised || folded == 0 {
				t.Errorf("%d convolutions are folded with the layers behind, want %d", folded, normalised)
			}
		})
	}
}

// openWaves opens a net for Forward alone, or one that keeps all blobs. The first has no weights of its own.
func openWaves(t *testing.T, model string, inference bool) *swnet.Net {
	t.Helper()
	d, err := swcaffe.NewDevice(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Machine.Close)
	p := readNet(t, model, deploy).Param
	for _, l := range p.Layer {
		if l.ConvolutionParam != nil && inference {
			l.ConvolutionParam.WeightFiller = nil
		}
	}
	n, err := swnet.New(p, swnet.Options{State: swnet.MergeState(caffepb.Phase_TEST), Device: d, Economise: inference, ForwardOnly: inference})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// fillWeights gives BatchNorm layers statistics, and Scale layers factors, which differ from channel to channel. It returns the number of
// BatchNorm layers.
func fillWeights(n *swnet.Net) (normalised int) {
	for i := range n.NumLayers() {
		if n.LayerType(i) == "BatchNorm" {
			normalised++
		}
		for k, b := range n.Layer(i).Params() {
			values := b.Data()
			for c := range values {
				switch kind := n.LayerType(i); {
				case kind == "BatchNorm" && k == 2:
					values[c] = 1
				case kind == "BatchNorm" && k == 1 || kind == "Scale" && k == 0:
					values[c] = 0.6 + float32(c%7)/8
				case kind == "BatchNorm" || kind == "Scale":
					values[c] = float32(c%5)/10 - 0.2
				}
			}
		}
	}
	return normalised
}

// output runs a net on an image of waves, and returns a blob.
func output(t *testing.T, n *swnet.Net, blob string) []float32 {
	t.Helper()
	out, x := n.Blob(blob), n.Blob("data").Data()
	for i := range x {
		x[i] = float32(math.Sin(float64(i) / 17))
	}
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	return out.Data()
}
