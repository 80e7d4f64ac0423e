package net

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const foldInput = `
	layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 16 dim: 9 dim: 7 } data_filler { type: "gaussian" } } }`

// foldNet builds a net for Forward alone, or one that keeps all blobs.
func foldNet(t *testing.T, text string, change func(*Options)) *Net {
	n := buildWith(t, foldInput+text, func(o *Options) {
		o.State, o.Economise, o.ForwardOnly = MergeState(caffepb.Phase_TEST), true, true
		if change != nil {
			change(o)
		}
	})
	n.fillStatistics()
	return n
}

func plainly(o *Options) { o.Economise, o.ForwardOnly = false, false }

func conv(name, bottom, top, more string) string {
	return fmt.Sprintf(`
	layer { name: %q type: "Convolution" bottom: %q top: %q convolution_param { %s weight_filler { type: "msra" } bias_filler { type: "gaussian" } } }`, name, bottom, top, more)
}

// folded lists the layers that other layers compute with folded weights.
func (n *Net) folded() (names []string) {
	for _, note := range n.Passes() {
		if note.Pass == "fold" {
			names = append(names, note.Layers...)
		}
	}
	return names
}

// closeTo fails the test unless two blobs are equal within 1e-5 of the largest value: folded weights are rounded, and sums of about a hundred
// products of them differ by some of these roundings.
func closeTo(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	most := 0.0
	for _, v := range want {
		most = max(most, math.Abs(float64(v)))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-float64(v)) <= 1e-5*most) || most == 0 {
			t.Fatalf("%s: value %d is %g, without folding %g", what, i, got[i], v)
		}
	}
}

// foldsLike runs a net and one that computes layer by layer, and compares their outputs.
func foldsLike(t *testing.T, what string, n, plain *Net) {
	t.Helper()
	for _, m := range []*Net{n, plain} {
		if _, err := m.Forward(); err != nil {
			t.Fatal(err)
		}
	}
	for k, o := range plain.Outputs() {
		closeTo(t, what+": "+o.Name, n.Outputs()[k].Blob.Data(), o.Blob.Data())
	}
}

const reluApart = `
	layer { name: "relu" type: "ReLU" bottom: "s" top: "r" }`

// TestFolded: layers with folded weights give the results of separate layers, also when weights have changed in any of the ways in which they
// can. The weights themselves stay as they are, and a blob that is asked for holds what its layer alone makes.
func TestFolded(t *testing.T) {
	const pointwise, three, narrow = "num_output: 32 kernel_size: 1", "num_output: 32 kernel_size: 3 pad: 1", "num_output: 20 kernel_size: 3"
	for _, tt := range []struct {
		name, net string
		folded    string
	}{
		{"in place", conv("c", "x", "s", pointwise) + normOf("s", "s") + reluIn("s"), "c bn_s scale_s"},
		{"tops of their own", conv("c", "x", "c", pointwise) + normOf("c", "s") + reluApart, "c bn_s scale_s"},
		{"without biases", conv("c", "x", "c", three+" bias_term: false") + normOf("c", "s") + reluIn("s"), "c bn_s scale_s"},
		{"depthwise", conv("c", "x", "c", "num_output: 16 kernel_size: 3 group: 16") + normOf("c", "s") + reluIn("s"), "c bn_s scale_s"},
		{"groups", conv("c", "x", "c", narrow+" group: 4") + normOf("c", "s"), "c bn_s scale_s"},
		{"by planes", conv("c", "x", "c", narrow) + normOf("c", "s") + reluIn("s"), "c bn_s scale_s"},
		{"pooled", conv("c", "x", "c", three) + normOf("c", "s") + reluIn("s") + `layer { name: "p" type: "Pooling" bottom: "s" top: "p" pooling_param { kernel_size: 3 stride: 2 } }`, "c bn_s scale_s"},
		{"BN", conv("c", "x", "c", pointwise) + `layer { name: "n" type: "BN" bottom: "c" top: "n" bn_param { slope_filler { type: "gaussian" } bias_filler { type: "gaussian" } } }`, "c n"},
		{"a Bias layer", conv("c", "x", "c", pointwise) + `layer { name: "b" type: "Bias" bottom: "c" top: "c" bias_param { filler { type: "gaussian" } } }`, "c b"},
		{"inner product", `layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 9 weight_filler { type: "msra" } } }` + normOf("ip", "s") + reluApart, "ip bn_s scale_s"},
		{"sum", conv("a", "x", "a", three) + normOf("a", "an") + conv("b", "x", "b", pointwise) + normOf("b", "bn") + sumOf("an", "bn", "s") + reluIn("s"), "a bn_an scale_an b bn_bn scale_bn"},
		{"sum, swapped", conv("a", "x", "a", three) + normOf("a", "an") + conv("b", "x", "b", pointwise) + normOf("b", "bn") + sumOf("bn", "an", "s"), "a bn_an scale_an b bn_bn scale_bn"},
		{"the batch's statistics", conv("c", "x", "c", pointwise) + strings.Replace(normOf("c", "s"), `bottom: "c"`, `batch_norm_param { use_global_stats: false } bottom: "c"`, 1), ""},
		{"alone", conv("c", "x", "c", pointwise) + conv("d", "x", "d", three), ""},
		{"values of both axes", conv("c", "x", "c", pointwise) + `layer { name: "s" type: "Scale" bottom: "c" top: "s" scale_param { num_axes: 2 } }`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, plain := foldNet(t, tt.net, nil), foldNet(t, tt.net, plainly)
			if got := strings.Join(n.folded(), " "); got != tt.folded {
				t.Fatalf("folded are %q, want %q", got, tt.folded)
			}
			foldsLike(t, "at first", n, plain)
			for i, w := range n.params {
				if !slices.Equal(w.blob.Values(), plain.params[i].blob.Values()) {
					t.Errorf("weight %d of layer %q has changed", w.index, w.node.Name)
				}
			}
			changeWeights(t, n, plain)
			if tt.folded == "" {
				return
			}
			name := n.graph.Names[n.nodes[1].TopIDs[0]]
			kept, want := n.Blob(name), plain.Blob(name)
			foldsLike(t, "with a blob kept", n, plain)
			closeTo(t, name, kept.Data(), want.Data())
		})
	}
}

// changeWeights changes the weights of two nets by reading them from messages, by sharing, and by writing to them once and again.
func changeWeights(t *testing.T, n, plain *Net) {
	t.Helper()
	stored := plain.ToProto(false)
	for _, l := range stored.Layer {
		for _, b := range l.Blobs {
			b.Data = slices.Clone(b.Data)
			for i := range b.Data {
				b.Data[i] *= 1.5
			}
		}
	}
	for _, m := range []*Net{n, plain} {
		if err := m.CopyWeights(stored); err != nil {
			t.Fatal(err)
		}
	}
	foldsLike(t, "with weights of a file", n, plain)
	for what, all := range map[string][]param{"the first layer's weights": plain.params[:1], "the last layer's": plain.params[len(plain.params)-1:]} {
		for _, p := range all {
			values := p.blob.Data()
			other := n.params[slices.IndexFunc(plain.params, func(o param) bool { return o.blob == p.blob })].blob.Data()
			for range 2 { // the slices are kept
				for i := range values {
					values[i] += 0.25
					other[i] += 0.25
				}
				foldsLike(t, "after writing to "+what, n, plain)
			}
		}
	}
	for _, p := range plain.params {
		for i := range p.blob.Data() {
			p.blob.Data()[i] *= 0.75
		}
	}
	if err := n.ShareWeights(plain); err != nil {
		t.Fatal(err)
	}
	foldsLike(t, "with shared weights", n, plain)
}

// TestFoldedOnce: while weights do not change, they are folded once.
func TestFoldedOnce(t *testing.T) {
	x := `layer { name: "y" type: "DummyData" top: "y" dummy_data_param { shape { dim: 2 dim: 16 dim: 3 dim: 3 } data_filler { value: 0.5 } } }
	layer { name: "silence" type: "Silence" bottom: "x" }`
	n := foldNet(t, x+conv("c", "y", "c", "num_output: 32 kernel_size: 1")+normOf("c", "s"), nil)
	for i := range n.params {
		n.params[i].blob.Seal()
	}
	run := func() []float32 {
		t.Helper()
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(n.Outputs()[0].Blob.Data())
	}
	before := run()
	w := n.params[0].blob.Values()
	was := slices.Clone(w)
	for i := range w {
		w[i] = 0 // unseen, as nobody may do
	}
	if !slices.Equal(run(), before) {
		t.Error("weights that have not changed were folded again")
	}
	copy(w, was)
	if n.params[0].blob.Data(); !slices.Equal(run(), before) {
		t.Error("the same weights gave other results")
	}
}

// TestNotFolded: layers stay apart on the MPE path, in nets that can run Backward, without the pass, and where a blob between them is seen.
func TestNotFolded(t *testing.T) {
	text := conv("c", "x", "c", "num_output: 32 kernel_size: 1") + normOf("c", "s")
	for what, n := range map[string]*Net{
		"the MPE path":  foldNet(t, text, func(o *Options) { o.Device.Engine = layers.MPE }),
		"Backward":      foldNet(t, text, func(o *Options) { o.ForwardOnly = false }),
		"no economy":    foldNet(t, text, func(o *Options) { o.Economise = false }),
		"left out":      foldNet(t, text, func(o *Options) { o.Without = []string{"fold"} }),
		"a second user": foldNet(t, text+`layer { name: "silence" type: "Silence" bottom: "c" }`, nil),
		"a loss weight": foldNet(t, strings.Replace(text, `top: "c"`, `top: "c" loss_weight: 1`, 1), nil),
	} {
		if got := n.folded(); len(got) > 0 {
			t.Errorf("%s: folded are %q", what, got)
		}
	}
}
