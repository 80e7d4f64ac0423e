package net

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// ownSquares is half the sum of w*x*x over the items, by their number. Backward takes no notice of the top's gradient.
type ownSquares struct {
	layers.Base
	perItem bool // the top has a value for each item
}

func init() {
	for _, perItem := range []bool{false, true} {
		name := map[bool]string{false: "OwnSquares", true: "OwnSquaresEach"}[perItem]
		layers.Register(layers.Type{Name: name, Doc: "of this test", Foreign: true, Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &ownSquares{layers.Base{Param: p, Device: d}, perItem}
		}})
	}
}

func (l *ownSquares) SetUp(_, _ []*blob.Blob) error {
	return l.AddWeight(&caffepb.FillerParameter{Value: new(float32(3))}, 1)
}

func (l *ownSquares) Reshape(bottom, top []*blob.Blob) error {
	n := 1
	if l.perItem {
		n = bottom[0].Dim(0)
	}
	top[0].Reshape(n)
	return nil
}

func (l *ownSquares) Forward(bottom, top []*blob.Blob) error {
	w, n, each := l.Weights[0].Data()[0], float32(bottom[0].Dim(0)), bottom[0].CountFrom(1)
	clear(top[0].Data())
	for i, x := range bottom[0].Data() {
		k := 0
		if l.perItem {
			k = i / each
		}
		top[0].Data()[k] += w * x * x / 2 / n
	}
	return nil
}

func (l *ownSquares) Backward(_ []*blob.Blob, _ []bool, bottom []*blob.Blob) error {
	w, n := l.Weights[0].Data()[0], float32(bottom[0].Dim(0))
	for i, x := range bottom[0].Data() {
		bottom[0].Diff()[i] = w * x / n
		l.Weights[0].Diff()[0] += x * x / 2 / n
	}
	return nil
}

// TestForeignLoss: the gradients of a loss whose Backward does not read its top's gradient are those of a worker's fraction of a batch, on every weight, and add up. A
// layer behind it takes that over.
func TestForeignLoss(t *testing.T) {
	const beforeOf = `
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: %d dim: 3 } data_filler { type: "gaussian" } } }
		layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 weight_filler { type: "gaussian" } } }`
	for name, test := range map[string]struct {
		text   string
		own    bool // the layer takes no notice of the fraction
		coupls int
	}{
		"a loss":           {`layer { name: "l" type: "OwnSquares" bottom: "y" top: "l" loss_weight: 1 }`, false, 0},
		"a loss of items":  {`layer { name: "l" type: "OwnSquaresEach" bottom: "y" top: "l" loss_weight: 1 }`, false, 1},
		"a reader behind":  {`layer { name: "l" type: "OwnSquares" bottom: "y" top: "l" } layer { name: "r" type: "Reduction" bottom: "l" top: "r" loss_weight: 1 }`, true, 0},
		"Caffe's own loss": {`layer { name: "l" type: "Reduction" bottom: "y" top: "l" loss_weight: 1 reduction_param { operation: SUMSQ } }`, false, 1},
	} {
		gradients := func(items int, fraction float32) (list []float32) {
			n := buildWith(t, fmt.Sprintf(beforeOf, items)+test.text, func(*Options) {})
			want := test.coupls
			if items == 1 && want > 0 && strings.Contains(test.text, "Each") {
				want = 0 // of one item the sum is the mean
			}
			if got := len(n.Couplings()); got != want {
				t.Errorf("%s of %d items: %d couplings, want %d", name, items, got, want)
			}
			n.ScaleLoss(fraction)
			n.ClearParamDiffs()
			for range 2 {
				if _, err := n.ForwardBackward(); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range n.Learnable() {
				list = append(list, w.Blob.Diff()...)
			}
			return list
		}
		whole, part := gradients(4, 1), gradients(4, 0.25)
		gradients(1, 1)
		for i := range whole {
			want := 0.25 * whole[i]
			if test.own {
				want = whole[i]
			}
			if math.Abs(float64(part[i]-want)) > 1e-6*math.Abs(float64(whole[i])) || whole[i] == 0 {
				t.Errorf("%s: gradient %d is %g for a quarter, %g for all", name, i, part[i], whole[i])
			}
		}
	}
}
