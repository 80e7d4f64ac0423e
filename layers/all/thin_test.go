package all_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// atFront returns images in blocks with the pixels at multiples of the strides packed at the front of each plane, and NaN after them.
func atFront(b *blob.Blob, values []float32, strideH, strideW int) []float32 {
	h, w := b.Dim(2), b.Dim(3)
	thin := slices.Repeat([]float32{float32(math.NaN())}, len(values))
	for plane := 0; plane < len(values); plane += h * w * shape.BlockLanes {
		to := plane
		for y := 0; y < h; y += strideH {
			for x := 0; x < w; x += strideW {
				to += copy(thin[to:to+shape.BlockLanes], values[plane+(y*w+x)*shape.BlockLanes:])
			}
		}
	}
	return thin
}

// onlyStrided returns images in planes with zeros at all pixels except multiples of the strides.
func onlyStrided(b *blob.Blob, values []float32, strideH, strideW int) []float32 {
	values = slices.Clone(values)
	for i := range values {
		if y, x := i/b.Dim(3)%b.Dim(2), i%b.Dim(3); y%strideH > 0 || x%strideW > 0 {
			values[i] = 0
		}
	}
	return values
}

// TestThinSums: a rectified sum with a thin top computes the strided pixels. From their gradient it gives the results of separate layers
// for a gradient that is zero elsewhere, whatever follows the packed pixels. One core group and two give the same bits.
func TestThinSums(t *testing.T) {
	for _, relu := range []string{`type: "ReLU"`, `type: "ReLU" relu_param { negative_slope: 0.25 }`} {
		texts := []string{`type: "BatchNorm"`, `type: "Scale" scale_param { bias_term: true }`, `type: "Eltwise"`, relu}
		for _, problem := range [][]int{{2, 256, 19, 17}, {9, 272, 2, 2}, {1, 512, 1, 1}} {
			for _, stride := range [][2]int{{2, 2}, {1, 3}} {
				for _, apart := range []bool{false, true} {
					t.Run(fmt.Sprint(relu, problem, stride, apart), func(t *testing.T) {
						plain := newChain(t, coreDevice(t, 2), caffepb.Phase_TRAIN, texts, 2, problem...)
						dy := make([]float32, plain.tops[0].Count())
						for i := range dy {
							dy[i] = float32(math.Sin(float64(i) + 0.5))
						}
						dy = onlyStrided(plain.tops[0], dy, stride[0], stride[1])
						forward, backward := plain.run(t, dy)
						var first [][]float32
						for _, groups := range []int{2, 1} {
							c := newChain(t, coreDevice(t, groups), caffepb.Phase_TRAIN, texts, 2, problem...)
							gotForward, gotBackward := c.runThin(t, dy, stride, apart)
							convertImages(plain.tops[0], forward[0], shape.ToBlocks)
							wantY := atFront(plain.tops[0], forward[0], stride[0], stride[1])
							convertImages(plain.tops[0], forward[0], shape.FromBlocks)
							compareThin(t, gotForward[0], wantY)
							compareLists(t, "value", gotForward[1:], forward[1:], 2e-6)
							compareLists(t, "gradient", gotBackward, backward, 1e-5)
							if got := append(gotForward[1:], gotBackward...); first == nil {
								first = got
							} else {
								compareLists(t, "value on one core group", got, first, 0)
							}
						}
					})
				}
			}
		}
	}
}

// compareThin compares the values that are not NaN in want.
func compareThin(t *testing.T, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if w == w && !(math.Abs(float64(got[i]-w)) <= 2e-6*(1+math.Abs(float64(w)))) {
			t.Fatalf("value %d is %g, want %g", i, got[i], w)
		}
	}
}

// runThin runs the fused chain like runFusedInBlocks, but with a thin top, which it returns thin. The top's gradient shares the place of
// the second bottom's, unless apart is set.
func (c *chain) runThin(t *testing.T, dy []float32, stride [2]int, apart bool) (forward, backward [][]float32) {
	t.Helper()
	fused, top := c.fuse(t), []*blob.Blob{{}}
	if err := errors.Join(fused.Reshape(c.bottoms, top), layertest.LayOut(fused, true, true)); err != nil {
		t.Fatal(err)
	}
	if !layers.TraitsOf(fused).Thin.Makes {
		t.Fatal("tops cannot be thin")
	}
	blocks := layers.Arranged{In: layers.Layout{Blocks: true}, Out: layers.Layout{Blocks: true}}
	thin := blocks
	thin.Out.Thin = stride
	if err := layers.Arrange(fused, thin); err != nil {
		t.Fatal(err)
	}
	for _, x := range c.bottoms {
		convertImages(x, x.Data(), shape.ToBlocks)
	}
	dy = slices.Clone(dy)
	convertImages(top[0], dy, shape.ToBlocks)
	dy = atFront(top[0], dy, stride[0], stride[1])
	if !apart {
		top[0].ShareDiff(c.bottoms[1])
	}
	pass := func() {
		copy(top[0].Diff(), dy)
		err := errors.Join(fused.Reshape(c.bottoms, top), fused.Forward(c.bottoms, top), fused.Backward(top, c.propagate, c.bottoms))
		if err != nil {
			t.Fatal(err)
		}
	}
	pass()
	forward, backward = c.results(top[0])
	for _, list := range [][][]float32{forward, backward} {
		for i, v := range list {
			list[i] = slices.Clone(v)
		}
	}
	for i, x := range c.bottoms {
		convertImages(x, backward[i], shape.FromBlocks)
	}
	if n := alloctest.PerRun(2, pass); n > 0 {
		t.Errorf("an iteration allocates %d times", n)
	}
	if apart {
		return forward, backward
	}
	if err := errors.Join(layers.Arrange(fused, blocks), fused.Forward(c.bottoms, top)); err != nil {
		t.Fatal(err)
	}
	whole := slices.Clone(top[0].Data())
	compareThin(t, forward[0], atFront(top[0], whole, stride[0], stride[1]))
	for i, v := range whole {
		if v != v {
			t.Fatalf("value %d of whole images is %g", i, v)
		}
	}
	return forward, backward
}

// TestWhoWritesThin: tops stay whole for sums without ReLU, in planes, of few channels, or with stored statistics.
func TestWhoWritesThin(t *testing.T) {
	const norm, scale, sum, relu = `type: "BatchNorm"`, `type: "Scale"`, `type: "Eltwise"`, `type: "ReLU"`
	for _, tt := range []struct {
		texts    []string
		channels int
		phase    caffepb.Phase
		blocked  bool
		want     bool
	}{
		{[]string{norm, scale, sum, relu}, 256, caffepb.Phase_TRAIN, true, true},
		{[]string{norm, scale, sum, relu}, 256, caffepb.Phase_TRAIN, false, false},
		{[]string{norm, scale, sum, relu}, 240, caffepb.Phase_TRAIN, true, false},
		{[]string{norm, scale, sum, relu}, 256, caffepb.Phase_TEST, true, false},
		{[]string{norm, scale, sum}, 256, caffepb.Phase_TRAIN, true, false},
	} {
		c := newChain(t, coreDevice(t, 2), tt.phase, tt.texts, 2, 2, tt.channels, 5, 5)
		fused, top := c.fuse(t), []*blob.Blob{{}}
		if err := errors.Join(fused.Reshape(c.bottoms, top), layertest.LayOut(fused, tt.blocked, tt.blocked)); err != nil {
			t.Fatal(err)
		}
		if got := layers.TraitsOf(fused).Thin.Makes; got != tt.want {
			t.Errorf("%+v: thin: %t", tt, got)
		}
	}
}
