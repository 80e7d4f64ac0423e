package net

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
	"github.com/swcaffe/swcaffe/layers"
)

// firstConv returns a convolution of images with few channels.
func firstConv(more string) string {
	return `
	layer { name: "conv" type: "Convolution" bottom: "x" top: "a" convolution_param {
		` + more + ` weight_filler { type: "msra" } bias_filler { value: 0.1 } } }`
}

const poolA = `
	layer { name: "pool" type: "Pooling" bottom: "a" top: "s" pooling_param { kernel_size: 3 stride: 2 } }`

const reluS = `
	layer { name: "relu2" type: "ReLU" bottom: "s" top: "s" }`

// planesPooled reports whether pooling has vector kernels for planes. Without them, convolutions in planes are not fused with pooling.
func planesPooled() bool {
	return vpool.NewPlanes(vpool.Shape{H: 4, W: 4, OH: 2, OW: 2, K: 2, S: 2}) != nil
}

// together returns the number of layers in the first convolution's task.
func (n *Net) together() int {
	for i, d := range n.nodes {
		if d.Name == "conv" {
			return len(n.plan.Tasks[i].Nodes)
		}
	}
	return 0
}

// TestConvolutionAndPoolingTogether: fused layers give the losses and gradients of separate layers bit by bit, for any fusion, any number
// of threads and gradients summed over iterations. In planes the weight gradients are only close, since they are summed over the selected
// maxima.
func TestConvolutionAndPoolingTogether(t *testing.T) {
	const blocks, planes, strided = `num_output: 16 kernel_size: 5 pad: 2`, `num_output: 20 kernel_size: 3`, `num_output: 48 kernel_size: 4 stride: 2 bias_term: false`
	for _, tt := range []struct {
		text string
		want int
	}{
		{firstConv(blocks) + poolA, 2},
		{firstConv(blocks) + reluA + poolA, 3},
		{firstConv(blocks) + poolA + reluS, 3},
		{firstConv(blocks) + reluA + poolA + reluS, 3},
		{firstConv(planes) + poolA, 2},
		{firstConv(planes) + reluA + poolA, 3},
		{firstConv(planes) + poolA + reluS, 3},
		{firstConv(strided) + reluA + poolA, 3},
	} {
		for _, procs := range []int{1, 2, 3} {
			t.Run(fmt.Sprint(tt.text, procs), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				text := images + tt.text + classifier
				plain := buildWith(t, text, func(o *Options) { o.Device.Force.Family = shape.Implicit })
				n := buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Implicit, true })
				if got := n.together(); got != tt.want && (planesPooled() || !strings.Contains(tt.text, planes)) {
					t.Fatalf("%d layers are computed together, want %d", got, tt.want)
				}
				if strings.Contains(tt.text, planes) {
					runsAre(t, n, plain, near)
				} else {
					sameRuns(t, n, plain)
				}
			})
		}
	}
}

// sameRuns compares iterations bit by bit. Two successive ones add up their gradients.
func sameRuns(t *testing.T, n, plain *Net) {
	t.Helper()
	runsAre(t, n, plain, sameBits)
}

func runsAre(t *testing.T, n, plain *Net, same func(t *testing.T, what string, got, want []float32)) {
	t.Helper()
	for i := range 4 {
		for k := range n.arena.memory {
			n.arena.memory[k] = nan
		}
		want, err := plain.ForwardBackward()
		if err != nil {
			t.Fatal(err)
		}
		if loss, err := n.ForwardBackward(); err != nil || loss != want {
			t.Fatalf("loss %g, error %v; one by one %g", loss, err, want)
		}
		for k, l := range plain.Learnable() {
			same(t, l.Layer, n.Learnable()[k].Blob.Diff(), l.Blob.Diff())
		}
		if i%2 == 1 {
			plain.ClearParamDiffs()
			n.ClearParamDiffs()
		}
	}
}

// TestPooledInBlocks: pooled tops have channels in blocks if the next layer is faster with them.
func TestPooledInBlocks(t *testing.T) {
	text := strings.ReplaceAll(images, "dim: 11 dim: 9", "dim: 40 dim: 36") + firstConv(`num_output: 32 kernel_size: 5 pad: 2`) + reluA + `
	layer { name: "pool" type: "Pooling" bottom: "a" top: "p" pooling_param { kernel_size: 2 stride: 2 } }` + conv3x3("p", "s", "32", "") + classifier
	apart := buildWith(t, text, func(o *Options) { o.Economise = true })
	apart.Blob("a")
	n := buildWith(t, text, func(o *Options) { o.Economise = true })
	if got := n.Layouts(); n.together() != 3 || len(got.Blocked) != 1 || got.Blocked[0] != "p" || got.Turns >= got.TurnsOfPlanes {
		t.Fatalf("%d layers are computed together, layouts %+v", n.together(), got)
	}
	sameRuns(t, n, apart)
}

// TestConvolutionAndPoolingApart: layers are not fused if the blob between is requested, if the convolution must compute a bottom gradient,
// or if another strategy is forced or not tuned yet.
func TestConvolutionAndPoolingApart(t *testing.T) {
	conv := firstConv(`num_output: 16 kernel_size: 5 pad: 2`)
	text := images + conv + reluA + poolA + classifier
	for _, tt := range []struct {
		why, text string
		change    func(*Options)
		then      func(*Net)
	}{
		{"a blob is asked for", text, nil, func(n *Net) { n.Blob("a") }},
		{"debug_info", text, nil, func(n *Net) { n.SetDebugInfo(true) }},
		{"no economy", text, func(o *Options) { o.Economise = false }, nil},
		{"the MPE path", text, func(o *Options) { o.Device.Engine = layers.MPE }, nil},
		{"the explicit strategy", text, func(o *Options) { o.Device.Force.Family = shape.Explicit }, nil},
		{"the bottom's gradient", "force_backward: true" + text, nil, nil},
		{"a reader more", text + `layer { name: "silence" type: "Silence" bottom: "a" }`, nil, nil},
		{"a second top", images + conv + `
	layer { name: "pool" type: "Pooling" bottom: "a" top: "s" top: "places" pooling_param { kernel_size: 3 stride: 2 } }` + classifier, nil, nil},
		{"means", images + conv + `
	layer { name: "pool" type: "Pooling" bottom: "a" top: "s" pooling_param { kernel_size: 3 stride: 2 pool: AVE } }` + classifier, nil, nil},
		{"more channels", images + conv3x3("x", "y", "16", "") + `
	layer { name: "conv" type: "Convolution" bottom: "y" top: "a" convolution_param { num_output: 16 kernel_size: 5 weight_filler { type: "msra" } } }` + poolA + classifier, nil, nil},
	} {
		n := buildWith(t, tt.text, func(o *Options) {
			if o.Economise = true; tt.change != nil {
				tt.change(o)
			}
		})
		if tt.then != nil {
			if got := n.together(); got != 3 {
				t.Errorf("%s: %d layers are computed together before", tt.why, got)
			}
			tt.then(n)
		}
		if got := n.together(); got != 1 {
			t.Errorf("%s: %d layers are computed together", tt.why, got)
		}
	}
}

// TestPooledBatches: other batch sizes and extents, some without a fused kernel, give the results of separate layers.
func TestPooledBatches(t *testing.T) {
	const data = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 dim: 30 dim: 30 } } }`
	const loss = `layer { name: "loss" type: "Reduction" bottom: "c" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`
	for _, outputs := range []string{"32", "20"} {
		text := data + firstConv("num_output: "+outputs+" kernel_size: 5") + reluA + poolA + conv3x3("s", "c", outputs, "") + loss
		apart := buildWith(t, text, func(o *Options) { o.Economise = true })
		apart.Blob("a")
		n := buildWith(t, text, func(o *Options) { o.Economise = true })
		if got := n.together(); got != 3 && (planesPooled() || outputs != "20") {
			t.Fatalf("%d layers are computed together", got)
		}
		for k, extents := range [][]int{{4, 3, 30, 30}, {7, 3, 30, 30}, {1, 3, 61, 33}, {2, 3, 7, 7}, {1, 3, 12, 9000}, {3, 3, 30, 30}, {1, 3, 12, 9000}, {4, 3, 30, 30}} {
			var got [2][]float32
			for i, n := range []*Net{n, apart} {
				x := n.Blob("x")
				x.Reshape(extents...)
				for j := range x.Data() {
					x.Data()[j] = float32(j*j%37)/18 - 1
				}
				if n.ClearParamDiffs(); k%2 == 0 {
					if err := n.Reshape(); err != nil {
						t.Fatal(err)
					}
				}
				loss, err := n.ForwardBackward()
				if err != nil {
					t.Fatal(err)
				}
				got[i] = []float32{float32(loss)}
				for _, l := range n.Learnable() {
					got[i] = append(got[i], l.Blob.Diff()...)
				}
			}
			same := sameBits
			if outputs == "20" { // see TestConvolutionAndPoolingTogether
				same = near
				for _, list := range got {
					vec.Scale(list, list, 1/slices.Max(got[1][1:]))
				}
			}
			same(t, fmt.Sprint("gradients of ", extents), got[0], got[1])
		}
	}
}

// TestNormalisationAndPoolingTogether: LRN fused with pooling gives losses and gradients close to those of separate layers, and the same
// bits for any number of threads. It works in blocks and, if LRN's bottom is requested by name, in planes. It includes the Backward of the
// ReLU layer before.
func TestNormalisationAndPoolingTogether(t *testing.T) {
	text := strings.ReplaceAll(images, "dim: 11 dim: 9", "dim: 40 dim: 36") + firstConv(`num_output: 32 kernel_size: 5 pad: 2`) + reluA + `
	layer { name: "norm" type: "LRN" bottom: "a" top: "n" lrn_param { alpha: 0.5 } }
	layer { name: "pool" type: "Pooling" bottom: "n" top: "p" pooling_param { kernel_size: 3 stride: 2 } }` + conv3x3("p", "s", "32", "") + classifier
	for _, tt := range []struct {
		kept    string
		blocked []string
	}{{"", []string{"a", "p"}}, {"a", []string{"p"}}, {"p", []string{"a"}}} {
		build := func() *Net {
			n := buildWith(t, text, func(o *Options) { o.Economise = true })
			if tt.kept != "" {
				n.Blob(tt.kept)
			}
			return n
		}
		n, one := build(), build()
		for i, d := range n.nodes {
			if got := len(n.plan.Tasks[i].Nodes); d.Name == "norm" && got != 2 {
				t.Fatalf("%d layers are computed together, want 2", got)
			}
		}
		if n.joined() != 2 {
			t.Errorf("the ReLU layer is computed with others in %d directions", n.joined())
		}
		if got := n.Layouts().Blocked; !slices.Equal(got, tt.blocked) {
			t.Errorf("with %q kept %v lie in blocks, want %v", tt.kept, got, tt.blocked)
		}
		runsAre(t, n, buildWith(t, text, func(*Options) {}), near)
		n = build()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		sameRuns(t, n, one)
	}
}

// TestNormalisationPoolingAndReLUTogether: LRN fused with pooling and the ReLU layer behind gives the losses and gradients of separate layers,
// also where all maxima of a window are negative.
func TestNormalisationPoolingAndReLUTogether(t *testing.T) {
	text := images + firstConv(`num_output: 16 kernel_size: 3`) + `
	layer { name: "norm" type: "LRN" bottom: "a" top: "n" lrn_param { alpha: 0.5 } }
	layer { name: "pool" type: "Pooling" bottom: "n" top: "s" pooling_param { kernel_size: 2 stride: 2 } }` + reluS + classifier
	n := buildWith(t, text, func(o *Options) { o.Economise = true })
	for i, d := range n.nodes {
		if got := len(n.plan.Tasks[i].Nodes); d.Name == "norm" && got != 3 {
			t.Fatalf("%d layers are computed together, want 3", got)
		}
	}
	runsAre(t, n, buildWith(t, text, func(*Options) {}), near)
}

// TestChainsBehindEachOther: a fused chain in place works correctly after another chain, whatever layers start the first one.
func TestChainsBehindEachOther(t *testing.T) {
	text := images + firstConv(`num_output: 16 kernel_size: 3`) + `
	layer { name: "bn1" type: "BatchNorm" bottom: "a" top: "a" }
	layer { name: "scale1" type: "Scale" bottom: "a" top: "s" scale_param { bias_term: true filler { value: 0.7 } bias_filler { value: 0.3 } } }
	layer { name: "bn2" type: "BatchNorm" bottom: "s" top: "s" }
	layer { name: "scale2" type: "Scale" bottom: "s" top: "s" scale_param { filler { value: 1.5 } } }` + classifier
	apart := buildWith(t, text, func(*Options) {})
	n := buildWith(t, text, func(o *Options) { o.Economise = true })
	chains := 0
	for _, t := range n.plan.Tasks {
		if len(t.Nodes) == 2 {
			chains++
		}
	}
	if chains != 2 {
		t.Fatalf("%d chains of two layers are computed together, want 2", chains)
	}
	runsAre(t, n, apart, near)
}
