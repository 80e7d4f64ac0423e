package net

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestBlobsOfPrototxt: weights given as blobs in the prototxt, as in a printed trained net, are the layer's initial weights.
func TestBlobsOfPrototxt(t *testing.T) {
	const layer = `layer { name: "a" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1 bias_term: false } `
	n, err := build(t, head+layer+`blobs { shape { dim: 1 dim: 3 } data: 2 data: 3 data: 4 } }`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	if got := n.Blob("y").Data()[0]; got != 9 {
		t.Errorf("y is %g, want 2 + 3 + 4", got)
	}
	for blobs, want := range map[string]string{
		`blobs { shape { dim: 1 } data: 2 } }`: `net.prototxt:2: layer "a" (InnerProduct): cannot copy param 0: shape mismatch`,
		`blobs { } blobs { } }`:                `net.prototxt:2: layer "a" (InnerProduct): incompatible number of blobs: the weights have 2, the layer has 1`,
	} {
		if _, err := build(t, head+layer+blobs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", blobs, err, want)
		}
	}
}

// TestNamesakes: two layers of one name cause a warning if either has weights, since Caffe cannot tell them apart in a file.
func TestNamesakes(t *testing.T) {
	for _, tt := range []struct {
		names  [4]string // of layers of which the first and the last have weights
		warned bool
	}{
		{[4]string{"a", "b", "c", "d"}, false},
		{[4]string{"a", "b", "b", "d"}, false},
		{[4]string{"a", "b", "c", "a"}, true},
		{[4]string{"a", "a", "c", "d"}, true},
		{[4]string{"a", "b", "b", "b"}, true},
	} {
		var log strings.Builder
		d := device(t)
		d.Log.SetOutput(&log)
		n, err := New(parse(t, fmt.Sprintf(head+`
			layer { name: %q type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
			layer { name: %q type: "ReLU" bottom: "y" top: "y" }
			layer { name: %q type: "ReLU" bottom: "y" top: "y" }
			layer { name: %q type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 2 } }`,
			tt.names[0], tt.names[1], tt.names[2], tt.names[3])), Options{State: MergeState(caffepb.Phase_TRAIN), Device: d})
		if err != nil {
			t.Fatal(err)
		}
		n.Close()
		if got := strings.Contains(log.String(), "Two layers are named"); got != tt.warned {
			t.Errorf("%q: warned %v, want %v:\n%s", tt.names, got, tt.warned, log.String())
		}
	}
}

// TestSharedNamesakes: layers of one name that share their weights cause no warning.
func TestSharedNamesakes(t *testing.T) {
	for second, warned := range map[string]bool{`param { name: "w" } param { name: "b" }`: false, `param { name: "w" }`: true, ``: true} {
		var log strings.Builder
		d := device(t)
		d.Log.SetOutput(&log)
		n, err := New(parse(t, head+`
			layer { name: "a" type: "InnerProduct" bottom: "x" top: "y" param { name: "w" } param { name: "b" } inner_product_param { num_output: 3 } }
			layer { name: "a" type: "InnerProduct" bottom: "y" top: "z" `+second+` inner_product_param { num_output: 3 } }`),
			Options{State: MergeState(caffepb.Phase_TRAIN), Device: d})
		if err != nil {
			t.Fatal(err)
		}
		n.Close()
		if got := strings.Contains(log.String(), "Two layers are named"); got != warned {
			t.Errorf("%q: warned %v, want %v:\n%s", second, got, warned, log.String())
		}
	}
}

// TestPairing: the weights of layers of one name go to those of that name in order, past layers without weights. Surplus ones go to the last.
func TestPairing(t *testing.T) {
	n, err := build(t, head+`
		layer { type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 bias_term: false } }
		layer { type: "ReLU" bottom: "y" top: "y" }
		layer { type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 3 bias_term: false } }
		layer { name: "b" type: "InnerProduct" bottom: "z" top: "u" inner_product_param { num_output: 3 bias_term: false } }`)
	if err != nil {
		t.Fatal(err)
	}
	for count, want := range map[int][3]float32{1: {1, 0, 7}, 2: {1, 2, 7}, 3: {1, 3, 7}} {
		for _, layer := range n.Learnable() {
			clear(layer.Blob.Data())
		}
		p := &caffepb.NetParameter{Layer: []*caffepb.LayerParameter{{Name: proto.String("b")}, {}}}
		fill := func(v float32) []*caffepb.BlobProto {
			return []*caffepb.BlobProto{{Shape: &caffepb.BlobShape{Dim: []int64{3, 3}}, Data: slices.Repeat([]float32{v}, 9)}}
		}
		p.Layer[0].Blobs = fill(7)
		for k := range count {
			p.Layer = append(p.Layer, &caffepb.LayerParameter{Blobs: fill(float32(k + 1))})
		}
		if err := n.CopyWeights(p); err != nil {
			t.Fatal(err)
		}
		for i, layer := range n.Learnable() {
			if got := layer.Blob.Data()[4]; got != want[i] {
				t.Errorf("%d layers without a name: weight %d is %g, want %g", count, i, got, want[i])
			}
		}
	}
}
