package nets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// inputNet is a net of layers behind an input of a shape, trained.
func inputNet(t *testing.T, shape string, rest ...string) *problem {
	t.Helper()
	text := "# use: train\n# seed: 3\n# threads: 1\nforce_backward: true\n" +
		`layer { name: "x" type: "Input" top: "gauss_1" input_param { shape { ` + shape + ` } } }` + "\n" + strings.Join(rest, "\n")
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*problem)
}

func (p *problem) reference(t *testing.T) *swnet.Net {
	t.Helper()
	m, err := machine(p.threads[0])
	if err != nil {
		t.Fatal(err)
	}
	n, err := p.build(layers.MPE, m, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// value returns the first array of a run whose name begins so.
func (r *run) value(t *testing.T, name string) []float32 {
	t.Helper()
	for i, n := range r.names {
		if strings.HasPrefix(n, name) {
			return r.values[i]
		}
	}
	t.Fatalf("no %q in %v", name, r.names)
	return nil
}

// movedBy is the root mean square of what rounding moves of an array of a run.
func (p *problem) movedBy(t *testing.T, n *swnet.Net, name string) float64 {
	t.Helper()
	want, err := p.iterate(n)
	if err != nil {
		t.Fatal(err)
	}
	var squares, count float64
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		got, err := p.iterateBy(p.reference(t), newRounder(r, p))
		if err != nil {
			t.Fatal(err)
		}
		w := want.value(t, name)
		for k, g := range got.value(t, name) {
			squares += math.Pow(float64(g-w[k]), 2)
			count++
		}
	}
	return math.Sqrt(squares / count)
}

const batchNorm = `layer { name: "norm" type: "BatchNorm" bottom: "gauss_1" top: "y" }`

// summed is a loss: the sum of a blob.
const summed = `layer { name: "loss" type: "Reduction" bottom: "%s" top: "loss" loss_weight: 1 }`

// TestRoundingOfOneValue: the gradient before a BatchNorm of one value is 0. Its rounding error is that of the subtracted value,
// 1000, divided by the root of epsilon. Noise in the inputs does not move it.
func TestRoundingOfOneValue(t *testing.T) {
	weighted := `layer { name: "ip" type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 1 weight_filler { value: 1000 } } }`
	p := inputNet(t, "dim: 1 dim: 9", batchNorm, weighted, fmt.Sprintf(summed, "z"))
	n := p.reference(t)
	want, err := p.iterate(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range want.value(t, "gradient of input") {
		if g != 0 {
			t.Fatalf("the gradient is %g, not 0", g)
		}
	}
	one := 0x1p-24 * 1000 / math.Sqrt(1e-5)
	if got := p.movedBy(t, n, "gradient of input"); got < one || got > 20*one {
		t.Errorf("rounding moves a gradient of 0 by %.3g, an operation's error is %.3g", got, one)
	}
}

// TestRoundingOfSums: a sum of results of a BatchNorm is 0, and rounded as the means that are subtracted from all: by the error of one,
// of inputs of deviation 1, for each of 5000 values, and by twice as much for four channels.
func TestRoundingOfSums(t *testing.T) {
	p := inputNet(t, "dim: 5000 dim: 4", batchNorm, fmt.Sprintf(summed, "y"))
	got := p.movedBy(t, p.reference(t), "the loss")
	if want := ulps * 5000 * 2; got < want/2 || got > 2*want {
		t.Errorf("rounding moves the sum by %.3g, the means' errors by %.3g", got, want)
	}
}

// TestFaultsAreNoRounding: results that are off by a thousandth, or a lost result, are not attributed to rounding.
func TestFaultsAreNoRounding(t *testing.T) {
	faults := map[string]func(x []float32){
		"a thousandth more": func(x []float32) {
			for k := range x {
				x[k] *= 1.001
			}
		},
		"a value lost": func(x []float32) { x[len(x)/2] = 0 },
	}
	conv := `layer { name: "conv" type: "Convolution" bottom: "y" top: "z" convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "msra" } } }`
	p := inputNet(t, "dim: 4 dim: 3 dim: 9 dim: 8", batchNorm, conv, `layer { name: "loss" type: "Reduction" bottom: "z" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`)
	for name, fault := range faults {
		n := p.reference(t)
		c := &layerwise{problem: p, want: n, before: make([][][]float32, n.NumLayers()), noise: rand.New(rand.NewPCG(1, 1))}
		for i := range n.NumLayers() {
			c.before[i] = datas(n.Bottoms(i))
			if _, err := n.ForwardLayer(i); err != nil {
				t.Fatal(err)
			}
			c.found(t, name, i, nil, fault)
		}
		for i := n.NumLayers() - 1; i > 0; i-- {
			tops := diffs(n.Tops(i))
			if n.LayerName(i) == "loss" {
				tops[0][0] = 1 // the loss weight
			}
			if err := n.BackwardLayer(i); err != nil {
				t.Fatal(err)
			}
			c.found(t, name, i, tops, fault)
		}
	}
}

// found checks that a layer's outcome differs after a fault, and does not without one.
func (c *layerwise) found(t *testing.T, name string, i int, tops [][]float32, fault func(x []float32)) {
	t.Helper()
	want := c.outcome(c.want, i, tops != nil)
	if len(want.values) == 0 || c.want.LayerType(i) == "Input" {
		return
	}
	if err := c.afterNoise(i, want, want, tops); err != nil {
		t.Errorf("layer %s without a fault: %v", c.want.LayerName(i), err)
	}
	got := c.outcome(c.want, i, tops != nil)
	for _, x := range got.values {
		fault(x)
	}
	if err := c.afterNoise(i, got, want, tops); err == nil {
		t.Errorf("layer %s, back %v: %s is not found", c.want.LayerName(i), tops != nil, name)
	}
}

// TestRoundingOfWeights: the error of a weight's gradient is a part of the root of its squared terms, which here are the inputs, however the
// sum cancels. Winograd's errors reach the taps that meet no pixel.
func TestRoundingOfWeights(t *testing.T) {
	const product = `layer { name: "l" type: "InnerProduct" bottom: "gauss_1" top: "y" inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }`
	const conv = `layer { name: "l" type: "Convolution" bottom: "gauss_1" top: "y" convolution_param { num_output: 1 kernel_size: 5 pad: 2 weight_filler { type: "xavier" } } }`
	loss := fmt.Sprintf(summed, "y")
	for _, tt := range []struct {
		layer    string
		strategy shape.Strategy
		part     float64
	}{{product, shape.Auto, 1e-6}, {conv, shape.Explicit, 1e-6 / 5}, {conv, shape.Winograd4, 2e-5 / 5}} {
		p := inputNet(t, "dim: 400 dim: 1 dim: 1 dim: 1", tt.layer, loss)
		p.strategy = tt.strategy
		n := p.reference(t)
		want := tt.part * math.Sqrt(400) * rms(n.Blob("gauss_1").Data())
		if moved := p.movedBy(t, n, "gradient 0 of layer l"); moved < 0.7*want || moved > 1.4*want {
			t.Errorf("%v: the gradient moves by %g, not by %g", tt.strategy, moved, want)
		}
	}
}
