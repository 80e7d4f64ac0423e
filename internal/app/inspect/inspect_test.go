package inspect

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func TestHistogram(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	h := NewHistogram([]float32{-1, 0, 0, 3, nan, inf})
	if h.Count != 6 || h.NonFinite != 2 || h.Zeros != 2 || h.Min != -1 || h.Max != 3 || h.Mean != 0.5 || math.Abs(float64(h.Deviation)-1.5) > 1e-12 || math.Abs(float64(h.RMS)-math.Sqrt(2.5)) > 1e-12 {
		t.Errorf("%+v", h)
	}
	want := make([]int, buckets)
	want[0], want[10], want[buckets-1] = 1, 2, 1 // 0 is a quarter of the way from -1 to 3
	if !slices.Equal(h.Counts, want) {
		t.Errorf("counts %v, want %v", h.Counts, want)
	}
	if l := h.Limits(); l[0] != -0.9 || l[buckets-1] != 3 {
		t.Errorf("limits %v", l)
	}
	for _, values := range [][]float32{nil, {nan}, {inf, -inf}} {
		if h := NewHistogram(values); h.NonFinite != len(values) || h.Min != 0 || h.Max != 0 || h.Mean != 0 {
			t.Errorf("%v: %+v", values, h)
		}
	}
	if h := NewHistogram([]float32{2, 2}); h.Counts[buckets/2] != 2 || h.Deviation != 0 {
		t.Errorf("equal values: %+v", h)
	}
}

// small has a source, a batch norm with running statistics, dropout, an in-place ReLU of which one channel of two is dead, and a layer whose
// gradient vanishes.
const small = `name: "small"
layer { name: "d" type: "DummyData" top: "data" top: "label" dummy_data_param { shape { dim: 4 dim: 1 dim: 3 dim: 3 } shape { dim: 4 } data_filler { type: "gaussian" std: 1 } data_filler { type: "constant" value: 1 } } include { phase: TRAIN } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "bn" }
layer { name: "shift" type: "Bias" bottom: "bn" top: "shift" bias_param { filler { type: "constant" } } }
layer { name: "relu" type: "ReLU" bottom: "shift" top: "shift" }
layer { name: "drop" type: "Dropout" bottom: "shift" top: "shift" }
layer { name: "ip" type: "InnerProduct" bottom: "shift" top: "ip" inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 1 } } }
layer { name: "far" type: "Scale" bottom: "ip" top: "far" scale_param { filler { type: "constant" value: 1 } } param { lr_mult: 0 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "far" bottom: "label" top: "loss" }
`

func device(t *testing.T, seed uint64) *layers.Device {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.Native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &layers.Device{Machine: m, Random: layers.NewRandom(seed)}
}

func build(t *testing.T) *swnet.Net {
	t.Helper()
	var p caffepb.NetParameter
	if _, err := swproto.UnmarshalText("small", []byte(small), &p); err != nil {
		t.Fatal(err)
	}
	n, err := swnet.New(&p, swnet.Options{State: &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum()}, Device: device(t, 7), Economise: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// state copies all values of a net that training depends on.
func state(n *swnet.Net) (all []float32) {
	for i := range n.NumLayers() {
		for _, b := range n.Layer(i).Params() {
			all = append(append(all, b.Data()...), b.Diff()...)
		}
		if len(n.Bottoms(i)) == 0 {
			for _, b := range n.Tops(i) {
				all = append(all, b.Data()...)
			}
		}
	}
	return all
}

// TestProbeDisturbsNothing: a net that is looked into after every pass computes the same bits as one that is not.
func TestProbeDisturbsNothing(t *testing.T) {
	run := func(looks bool) (all []float32) {
		n := build(t)
		var p *Probe
		for range 4 {
			n.ClearParamDiffs()
			loss, err := n.ForwardBackward()
			if err != nil {
				t.Fatal(err)
			}
			if looks {
				if p == nil {
					if p, err = NewProbe(n, device(t, 9)); err != nil {
						t.Fatal(err)
					}
					defer p.Close()
				}
				if _, err := p.Layer("conv"); err != nil {
					t.Fatal(err)
				}
				if _, err := NewBatch(n); err != nil {
					t.Fatal(err)
				}
			}
			all = append(append(all, float32(loss)), state(n)...)
		}
		return all
	}
	if a, b := run(false), run(true); !slices.Equal(a, b) {
		t.Error("looking changed the training")
	}
}

// TestProbe: the probe has the training net's weights, batch and gradients.
func TestProbe(t *testing.T) {
	n := build(t)
	shift := n.Params("shift")[0].Data()
	shift[0], shift[1] = 100, -100 // the second channel is dead
	for _, w := range n.Params("conv") {
		_ = w.Data()
	}
	if _, err := n.ForwardBackward(); err != nil {
		t.Fatal(err)
	}
	p, err := NewProbe(n, device(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	l, err := p.Layer("relu")
	if err != nil || l.Dead == nil || *l.Dead != 0.5 || l.Blobs[0].Values.Zeros != 4 || l.Blobs[0].Values.Max < 98 {
		t.Errorf("%v: relu is %+v", err, l)
	}
	l, err = p.Layer("conv")
	if err != nil || len(l.Blobs) != 3 || l.Type != "Convolution" || !strings.Contains(l.Text, "num_output: 2") || l.Forward <= 0 || l.Bytes != 2*4*(18+2+8) {
		t.Fatalf("%v: conv is %+v", err, l)
	}
	w := l.Blobs[0]
	want := NewHistogram(n.Params("conv")[0].Data())
	if w.Shape != n.Params("conv")[0].ShapeString() || w.Values.Mean != want.Mean || !slices.Equal(w.Values.Counts, want.Counts) || w.Gradients == nil || w.Shown != 2 || len(w.Picture) == 0 {
		t.Errorf("weights are %+v, want %+v", w, want)
	}
	if len(l.Algorithms) == 0 || !strings.Contains(l.Algorithms[0], "forward: ") {
		t.Errorf("algorithms %q", l.Algorithms)
	}
	if _, err := p.Layer("none"); err == nil || !strings.Contains(err.Error(), `no layer "none"`) {
		t.Error(err)
	}
	o, err := p.Overview(12)
	if err != nil || len(o.Layers) != n.NumLayers() || o.Iteration != 12 {
		t.Fatalf("%v: %+v, want %d layers", err, o, n.NumLayers())
	}
	for i, s := range o.Layers {
		if s.Name != n.LayerName(i) || s.Type != n.LayerType(i) {
			t.Errorf("layer %d is %+v", i, s)
		}
	}
	b, err := NewBatch(n)
	if err != nil || b.Size != 4 || len(b.Items) != 4 || len(b.Tops) != 2 || len(b.Items[3].Pictures) != 1 || b.Items[3].Labels[0].Top != "label" || b.Items[3].Labels[0].Values[0] != 1 {
		t.Errorf("%v: batch is %+v", err, b)
	}
}

// TestMarks: gradients that are zero, tiny, huge or not finite are marked, those of layers that are not trained are not.
func TestMarks(t *testing.T) {
	n := build(t)
	p, err := NewProbe(n, device(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Look(nil); err != nil {
		t.Fatal(err)
	}
	set := func(layer string, v float32) {
		for _, b := range p.own.Params(layer) {
			for i := range b.Diff() {
				b.Diff()[i] = v
			}
		}
	}
	marks := func() string {
		var list []string
		for _, s := range p.summaries() {
			if s.Mark != "" {
				list = append(list, s.Name+": "+s.Mark)
			}
		}
		return strings.Join(list, ", ")
	}
	for _, c := range []struct {
		v    float32
		want string
	}{
		{1, ""}, {0, "conv: no gradient"}, {1e-6, "conv: gradient vanishes"}, {1e6, "conv: gradient explodes"}, {float32(math.NaN()), "conv: gradient is not finite"},
	} {
		for _, layer := range []string{"shift", "ip"} {
			set(layer, 1)
		}
		set("far", 1e9)
		set("conv", c.v)
		if got := marks(); got != c.want {
			t.Errorf("gradient %g: marks %q, want %q", c.v, got, c.want)
		}
	}
}
