package net

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// bottleneck returns a residual block of 1x1, 3x3 and 1x1 convolutions from bottom to the blob n+"s".
func bottleneck(n, bottom string, inside, out int, stride int) string {
	return conv(n+"a", bottom, n+"a", fmt.Sprintf("num_output: %d kernel_size: 1", inside)) + reluIn(n+"a") +
		conv(n+"b", n+"a", n+"b", fmt.Sprintf("num_output: %d kernel_size: 3 pad: 1 stride: %d", inside, stride)) + reluIn(n+"b") +
		conv(n+"c", n+"b", n+"c", fmt.Sprintf("num_output: %d kernel_size: 1", out)) +
		conv(n+"d", bottom, n+"d", fmt.Sprintf("num_output: %d kernel_size: 1 stride: %d", out, stride)) + sumOf(n+"c", n+"d", n+"s") + reluIn(n+"s")
}

// bottlenecks has two of them. The sum of the first is read by two convolutions, and by the sum of a third block as it is.
var bottlenecks = `
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 16 dim: 13 dim: 11 } } }` +
	conv("stem", "x", "stem", "num_output: 64 kernel_size: 3 pad: 1") + bottleneck("p", "stem", 32, 64, 1) +
	conv("qa", "ps", "qa", "num_output: 32 kernel_size: 1") + reluIn("qa") + conv("qb", "qa", "qb", "num_output: 32 kernel_size: 1") + reluIn("qb") +
	conv("qc", "qb", "qc", "num_output: 64 kernel_size: 1") + sumOf("qc", "ps", "qs") + reluIn("qs") + bottleneck("r", "qs", 32, 96, 2) + `
	layer { name: "pool" type: "Pooling" bottom: "rs" top: "pool" pooling_param { pool: AVE global_pooling: true } }`

// rounds lists the blobs that a net stores in bfloat16.
func (n *Net) rounds() []string {
	for _, note := range n.Passes() {
		if names, is := strings.CutPrefix(note.Did, "stored in bfloat16: "); is && note.Pass == "rounded" {
			return strings.Split(names, ", ")
		}
	}
	return nil
}

// inPrecision builds a net for inference on some core groups.
func inPrecision(t *testing.T, text, precision string, groups int, change func(*Options)) *Net {
	t.Helper()
	spec, err := cpe.Load("host")
	if err == nil {
		spec, err = spec.WithPrecision(precision)
	}
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	return buildWith(t, text, func(o *Options) {
		o.Device, o.State, o.Economise, o.ForwardOnly = deviceOf(t, spec), MergeState(caffepb.Phase_TEST), true, true
		if change != nil {
			change(o)
		}
	})
}

func withoutRounded(o *Options) { o.Without = []string{"rounded"} }

// poolOf runs a net on images of some shape and returns what its pooling makes.
func poolOf(t *testing.T, n *Net, images ...int) []float32 {
	t.Helper()
	x := n.Blob("x")
	x.Reshape(images...)
	for i := range x.Data() {
		x.Data()[i] = float32((i*7919)%101)/50 - 1
	}
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(n.Blob("pool").Data())
}

// apart returns the largest difference of two lists, as a part of the largest value.
func apart(a, b []float32) float64 {
	far, most := 0., 0.
	for i, v := range b {
		far, most = max(far, math.Abs(float64(a[i]-v))), max(most, math.Abs(float64(v)))
	}
	return far / most
}

// TestRounded: in nets for inference in bf16, images that pointwise convolutions and sums alone read and write are stored rounded. Results are near those
// of whole images, with the same bits at every level and on any number of core groups, for images of other sizes too.
func TestRounded(t *testing.T) {
	sizes := [][]int{{3, 16, 13, 11}, {1, 16, 5, 21}, {7, 16, 13, 11}, {2, 16, 1, 1}, {3, 16, 30, 17}}
	var want [][]float32
	for i, level := range isa.Levels() {
		restore := isa.Use(level)
		for _, groups := range [][]int{{1, 2, 5}, {2}}[min(i, 1)] {
			n := inPrecision(t, bottlenecks, cpe.BF16, groups, nil)
			if got := n.rounds(); !slices.Equal(got, roundedBlobs) {
				t.Fatalf("%s, %d core groups: %q are stored in bfloat16, want %q", level, groups, got, roundedBlobs)
			}
			whole := inPrecision(t, bottlenecks, cpe.BF16, groups, withoutRounded)
			if got := whole.rounds(); got != nil {
				t.Fatalf("without the pass %q are stored in bfloat16", got)
			}
			for i, size := range sizes {
				got, near := poolOf(t, n, size...), poolOf(t, whole, size...)
				if d := apart(got, near); d > 0.02 || d == 0 {
					t.Errorf("%s, %d core groups, images of %v: results differ by %g of the largest", level, groups, size, d)
				}
				if len(want) == i {
					want = append(want, got)
				}
				if !slices.Equal(got, want[i]) {
					t.Errorf("%s, %d core groups, images of %v: other bits than at first", level, groups, size)
				}
			}
		}
		restore()
	}
}

// roundedBlobs lists what is stored in bfloat16: not "stem" and "pb", which convolutions of 3x3 write, "pa", which one reads, and "rs", which a pooling reads.
var roundedBlobs = []string{"pc", "pd", "ps", "ps_relu_ps_0_split_0", "ps_relu_ps_0_split_1", "qa", "qb", "qc", "qs", "qs_relu_qs_0_split_0", "qs_relu_qs_0_split_1", "rc"}

// TestRoundedBlobs: a blob that is asked for by name has its values in the next run, and is not stored in bfloat16 from then on.
func TestRoundedBlobs(t *testing.T) {
	for _, name := range append([]string{"stem", "rb", "rs"}, roundedBlobs...) {
		n, exact := inPrecision(t, bottlenecks, cpe.BF16, 2, nil), inPrecision(t, bottlenecks, cpe.FP32, 2, nil)
		for _, n := range []*Net{n, exact} {
			poolOf(t, n, 3, 16, 13, 11)
			n.Blob(name)
			poolOf(t, n, 3, 16, 13, 11)
		}
		if d := apart(n.Blob(name).Data(), exact.Blob(name).Data()); d > 0.03 || d == 0 {
			t.Errorf("%q, asked for by name, differs by %g of the largest value", name, d)
		}
		if slices.Contains(n.rounds(), name) {
			t.Errorf("%q is stored in bfloat16, though asked for", name)
		}
	}
}

// TestWidened: the values that a blob has when it is asked for are those that were stored.
func TestWidened(t *testing.T) {
	n := inPrecision(t, bottlenecks, cpe.BF16, 2, func(o *Options) { o.Without = []string{"memory"} })
	whole := inPrecision(t, bottlenecks, cpe.BF16, 2, func(o *Options) { o.Without = []string{"rounded", "memory"} })
	poolOf(t, n, 3, 16, 13, 11)
	poolOf(t, whole, 3, 16, 13, 11)
	for _, name := range []string{"pc", "rc"} {
		want := slices.Clone(whole.Blob(name).Data())
		if d := apart(n.Blob(name).Data(), want); d > 0.03 {
			t.Errorf("%q differs by %g of the largest value", name, d)
		}
	}
}

// TestNotRounded: nets in fp32, nets that run Backward and nets whose weights change store float32.
func TestNotRounded(t *testing.T) {
	for name, n := range map[string]*Net{
		"fp32":           inPrecision(t, bottlenecks, cpe.FP32, 2, nil),
		"runs Backward":  inPrecision(t, bottlenecks, cpe.BF16, 2, func(o *Options) { o.ForwardOnly = false }),
		"trains":         inPrecision(t, bottlenecks, cpe.BF16, 2, func(o *Options) { o.State, o.ForwardOnly = MergeState(caffepb.Phase_TRAIN), false }),
		"weights change": inPrecision(t, bottlenecks, cpe.BF16, 2, func(o *Options) { o.Changing = true }),
		"one by one":     inPrecision(t, "debug_info: true "+bottlenecks, cpe.BF16, 2, nil),
	} {
		if got := n.rounds(); got != nil {
			t.Errorf("%s: %q are stored in bfloat16", name, got)
		}
	}
}

// TestRoundedNonFinite: FirstNonFinite finds a NaN in rounded images, and none in places that they do not use.
func TestRoundedNonFinite(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		n := inPrecision(t, bottlenecks, cpe.BF16, 2, nil)
		poolOf(t, n, 3, 16, 13, 11)
		b := n.graph.Blobs[n.ids["ps"]]
		values := b.Data()
		if factors.Pairs() {
			unused := values[len(values)/2:]
			for i := range unused {
				unused[i] = nan
			}
			values = values[:len(values)/2]
		}
		for i := range values {
			values[i] = vec.Pair(1, 2)
		}
		if at, v := n.nonFiniteTop(b); at >= 0 {
			t.Errorf("%g is found at %d", v, at)
		}
		values[len(values)-1] = vec.Pair(nan, nan)
		if at, v := n.nonFiniteTop(b); at < b.Count()-2 || v == v {
			t.Errorf("%g is found at %d of %d", v, at, b.Count())
		}
	})
}

// TestRoundedModes: a net that keeps all blobs for a while, or shows them, stores float32 then, with its results.
func TestRoundedModes(t *testing.T) {
	n := inPrecision(t, bottlenecks, cpe.BF16, 2, nil)
	want := poolOf(t, n, 3, 16, 13, 11)
	for range 2 {
		for _, on := range []bool{false, true} {
			if err := n.Economise(on); err != nil {
				t.Fatal(err)
			}
			if got := n.rounds(); (got != nil) != on {
				t.Errorf("economises %t: %q are stored in bfloat16", on, got)
			}
			if got := poolOf(t, n, 3, 16, 13, 11); slices.Equal(got, want) != on || apart(got, want) > 0.02 {
				t.Errorf("economises %t: other results", on)
			}
		}
	}
	if n.SetDebugInfo(true); n.rounds() != nil {
		t.Errorf("with debug_info %q are stored in bfloat16", n.rounds())
	}
	if got := poolOf(t, n, 3, 16, 13, 11); apart(got, want) > 0.02 {
		t.Error("other results with debug_info")
	}
}

// TestRoundedOthers: convolutions of any kind add rounded images to their results.
func TestRoundedOthers(t *testing.T) {
	const end = `layer { name: "pool" type: "Pooling" bottom: "s" top: "pool" pooling_param { pool: AVE global_pooling: true } }`
	start := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 16 dim: 13 dim: 11 } } }` +
		conv("stem", "x", "stem", "num_output: 64 kernel_size: 3 pad: 1") + conv("t", "stem", "t", "num_output: 64 kernel_size: 1")
	for _, kind := range []string{"kernel_size: 1", "kernel_size: 3 pad: 1", "kernel_size: 5 pad: 2", "kernel_h: 3 kernel_w: 1 pad_h: 1 pad_w: 0", "kernel_size: 3 pad: 2 dilation: 2", "kernel_size: 3 pad: 1 group: 64", "kernel_size: 3 pad: 1 group: 4"} {
		for _, act := range []string{"", reluIn("s"), actOf("PReLU", "s", "s")} {
			text := start + conv("c", "stem", "c", "num_output: 64 "+kind) + sumOf("c", "t", "s") + act + end
			n, whole := inPrecision(t, text, cpe.BF16, 2, nil), inPrecision(t, text, cpe.BF16, 2, withoutRounded)
			if !slices.Contains(n.rounds(), "t") {
				t.Errorf("%s: %q are stored in bfloat16", kind, n.rounds())
			}
			for _, size := range [][]int{{3, 16, 13, 11}, {2, 16, 40, 41}, {1, 16, 3, 2}} {
				got, want := poolOf(t, n, size...), poolOf(t, whole, size...)
				if d := apart(got, want); d > 0.02 || (d == 0) == (n.rounds() != nil) {
					t.Errorf("%s, images of %v: results differ by %g of the largest", kind, size, d)
				}
			}
		}
	}
}

// TestRoundedLoss: a top that adds to the loss has float32 values, since the net sums them up.
func TestRoundedLoss(t *testing.T) {
	text := strings.ReplaceAll(bottlenecks, `"ReLU" bottom: "qb" top: "qb"`, `"ReLU" bottom: "qb" top: "qb" loss_weight: 0.5`)
	var losses [2]float64
	for i, change := range []func(*Options){nil, withoutRounded} {
		n := inPrecision(t, text, cpe.BF16, 2, change)
		if got := n.rounds(); slices.Contains(got, "qb") || (got == nil) != (i == 1) {
			t.Errorf("%q are stored in bfloat16", got)
		}
		poolOf(t, n, 3, 16, 13, 11)
		loss, err := n.Forward()
		if err != nil {
			t.Fatal(err)
		}
		losses[i] = loss
	}
	if math.Abs(losses[0]-losses[1]) > 0.02*math.Abs(losses[1]) || losses[0] == 0 {
		t.Errorf("the loss is %g, without rounded images %g", losses[0], losses[1])
	}
}

// TestRoundedBatches: a net computes no images, and then some again. Images of other axes are refused.
func TestRoundedBatches(t *testing.T) {
	n := inPrecision(t, bottlenecks, cpe.BF16, 2, nil)
	want := poolOf(t, n, 3, 16, 13, 11)
	reshape := func() {
		if err := n.Reshape(); err != nil {
			t.Fatal(err)
		}
	}
	for _, planned := range []bool{false, true} { // for no images
		if got := poolOf(t, n, 0, 16, 13, 11); len(got) > 0 {
			t.Errorf("no images have %d results", len(got))
		}
		if planned {
			reshape()
		}
		if got := poolOf(t, n, 3, 16, 13, 11); !planned && !slices.Equal(got, want) || apart(got, want) > 0.02 {
			t.Error("other results than before")
		}
	}
	if reshape(); !slices.Equal(poolOf(t, n, 3, 16, 13, 11), want) {
		t.Error("other results once it is planned for images")
	}
	x := n.Blob("x")
	for _, images := range [][]int{{3, 16, 13}, {3, 17, 13, 11}, {3, 16, 0, 11}} {
		x.Reshape(images...)
		if _, err := n.Forward(); err == nil || !strings.Contains(err.Error(), "stem") {
			t.Errorf("images of %v: error %v", images, err)
		}
	}
	if got := poolOf(t, n, 3, 16, 13, 11); !slices.Equal(got, want) {
		t.Error("other results than before errors")
	}
}
