package all_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// convertImages converts the images in values between planes and blocks of channels. b has their shape.
func convertImages(b *blob.Blob, values []float32, convert func(dst, src []float32, planes, size int)) {
	converted := make([]float32, len(values))
	convert(converted, values, b.CountRange(0, 2), b.CountFrom(2))
	copy(values, converted)
}

// runFusedInBlocks runs the fused chain with channels in blocks and returns its results in planes. Iterations after the first must allocate
// nothing.
func (c *chain) runFusedInBlocks(t *testing.T, dy []float32) (forward, backward [][]float32) {
	t.Helper()
	fused := c.fuse(t)
	top := []*blob.Blob{{}}
	if err := fused.Reshape(c.bottoms, top); err != nil {
		t.Fatal(err)
	}
	if layers.TraitsOf(fused).Layout != (layers.Blocking{Bottoms: true, Tops: true, Alike: true}) {
		t.Fatalf("%T does not take blocks of channels", fused)
	}
	if err := layertest.LayOut(fused, true, true); err != nil {
		t.Fatal(err)
	}
	for _, x := range c.bottoms {
		convertImages(x, x.Data(), shape.ToBlocks)
	}
	copy(top[0].Diff(), dy)
	convertImages(top[0], top[0].Diff(), shape.ToBlocks)
	iterate := func() error {
		return errors.Join(fused.Reshape(c.bottoms, top), fused.Forward(c.bottoms, top), fused.Backward(top, c.propagate, c.bottoms))
	}
	if err := errors.Join(fused.Reshape(c.bottoms, top), fused.Forward(c.bottoms, top)); err != nil {
		t.Fatal(err)
	}
	y := slices.Clone(top[0].Data())
	layertest.Forget(fused, c.bottoms, top)
	if err := fused.Backward(top, c.propagate, c.bottoms); err != nil {
		t.Fatal(err)
	}
	forward, backward = c.results(top[0])
	forward[0] = y
	for _, list := range [][][]float32{forward, backward} {
		for i, v := range list {
			list[i] = append([]float32(nil), v...)
		}
	}
	convertImages(top[0], forward[0], shape.FromBlocks)
	for i, x := range c.bottoms {
		convertImages(x, backward[i], shape.FromBlocks)
	}
	var err error
	if n := alloctest.PerRun(2, func() { err = errors.Join(err, iterate()) }); n > 0 || err != nil {
		t.Errorf("an iteration allocates %d times: %v", n, err)
	}
	return forward, backward
}

// coreDevice returns a device of this computer with the given number of core groups.
func coreDevice(t *testing.T, groups int) *layers.Device {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return &layers.Device{Machine: m, Random: layers.NewRandom(1)}
}

// TestFusedLayersInBlocks: fused layers in blocks give the results of separate layers in planes, and the same bits on one core group and on
// two.
func TestFusedLayersInBlocks(t *testing.T) {
	const norm, scale, relu = `type: "BatchNorm"`, `type: "Scale" scale_param { bias_term: true }`, `type: "ReLU"`
	chains := []struct {
		layers  []string
		bottoms int
		phase   caffepb.Phase
	}{
		{[]string{norm, scale, relu}, 1, caffepb.Phase_TRAIN},
		{[]string{norm, scale}, 1, caffepb.Phase_TRAIN},
		{[]string{norm, `type: "Scale"`, `type: "ReLU" relu_param { negative_slope: 0.25 }`}, 1, caffepb.Phase_TRAIN},
		{[]string{norm, scale, relu}, 1, caffepb.Phase_TEST},
		{[]string{norm, `type: "Scale"`}, 1, caffepb.Phase_TEST},
		{[]string{norm, scale, `type: "Eltwise"`}, 2, caffepb.Phase_TRAIN},
		{[]string{norm, scale, `type: "Eltwise"`, relu}, 2, caffepb.Phase_TRAIN},
		{[]string{norm, `type: "Scale"`, `type: "Eltwise"`, relu}, 2, caffepb.Phase_TEST},
	}
	shapes := [][]int{{1, 16, 7, 5}, {3, 48, 7, 5}, {3, 16, 1, 1}, {2, 64, 19, 17}, {5, 64, 3, 1}, {9, 16, 40, 31}, {2, 256, 3, 3}}
	for _, tt := range chains {
		for _, shape := range shapes {
			t.Run(fmt.Sprint(tt.layers, tt.phase, shape), func(t *testing.T) {
				one := newChain(t, coreDevice(t, 2), tt.phase, tt.layers, tt.bottoms, shape...)
				dy := make([]float32, one.tops[0].Count())
				for i := range dy {
					dy[i] = float32(math.Sin(float64(i) + 0.5))
				}
				forward, backward := one.run(t, dy)
				var first [][]float32
				for _, groups := range []int{2, 1} {
					all := newChain(t, coreDevice(t, groups), tt.phase, tt.layers, tt.bottoms, shape...)
					blockForward, blockBackward := all.runFusedInBlocks(t, dy)
					compareLists(t, "value", blockForward, forward, 2e-6)
					compareLists(t, "gradient", blockBackward, backward, 1e-5)
					got := append(blockForward, blockBackward...)
					if first == nil {
						first = got
					}
					compareLists(t, "value on one core group", got, first, 0)
				}
			})
		}
	}
}

// TestFirstRunningSums: the result does not depend on the number of core groups that first use BatchNorm's running sums.
func TestFirstRunningSums(t *testing.T) {
	sums := func(groups int) (list []float32) {
		c := newChain(t, coreDevice(t, groups), caffepb.Phase_TRAIN, []string{`type: "BatchNorm"`, `type: "Scale"`}, 1, 4, 64, 30, 30)
		for _, w := range c.layers[0].Params() {
			*w = *blob.New(w.Shape()...)
		}
		c.runFusedInBlocks(t, make([]float32, c.tops[0].Count()))
		for _, w := range c.layers[0].Params() {
			list = append(list, w.Data()...)
		}
		return list
	}
	want := sums(1)
	for range 20 {
		layertest.Equal(t, "running sum", sums(4), want, 0)
	}
}

func compareLists(t *testing.T, what string, got, want [][]float32, tolerance float64) {
	t.Helper()
	for i := range want {
		layertest.Equal(t, fmt.Sprint(what, " ", i), got[i], want[i], tolerance)
	}
}
