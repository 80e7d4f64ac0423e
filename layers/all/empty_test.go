package all_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestEmptyBatches: every layer accepts a batch without items, which a Filter layer may produce, and adds nothing to its weights'
// gradients; or it returns an error.
func TestEmptyBatches(t *testing.T) {
	b := layertest.NewBench(t)
	for _, c := range cases {
		if len(c.Bottoms) == 0 || len(c.Bottoms[0].Shape) == 0 || c.Feed != nil {
			continue
		}
		axis := 0
		if strings.HasSuffix(c.Type, "LSTM") || c.Type == "RNN" || c.Type == "LSTMUnit" {
			axis = 1 // axis 0 is time
		}
		items := c.Bottoms[0].Shape[axis]
		c.Bottoms = slices.Clone(c.Bottoms)
		for i, bottom := range c.Bottoms {
			bottom.Shape, bottom.Fill = slices.Clone(bottom.Shape), nil
			for k, extent := range bottom.Shape {
				if extent == items && k <= axis && (k == axis || i > 1) {
					bottom.Shape[k] = 0
				}
			}
			c.Bottoms[i] = bottom
		}
		for _, engine := range layertest.Engines() {
			t.Run(c.String()+"/"+engine.String(), func(t *testing.T) {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("panic: %v\n%s", r, debug.Stack())
					}
				}()
				f, err := layertest.New(b.Device(engine), &c)
				if err != nil {
					t.Log("refused:", err)
					return
				}
				if err := f.Layer.Forward(f.Bottom, f.Top); err != nil {
					t.Log("refused:", err)
					return
				}
				propagate := make([]bool, len(f.Bottom))
				for i, bottom := range c.Bottoms {
					propagate[i] = !bottom.NoGradient && !f.Type.NoGradient && !slices.Contains(f.Type.NoForceBackward, i)
				}
				if err := f.Layer.Backward(f.Top, propagate, f.Bottom); err != nil {
					t.Log("refused:", err)
					return
				}
				for i, w := range f.Layer.Params() {
					if d := w.Diff(); slices.ContainsFunc(d, func(v float32) bool { return v != 0 }) && f.Bottom[0].Count() == 0 {
						t.Errorf("the gradient of weight %d is %v", i, d)
					}
				}
			})
		}
	}
}

// TestEmptyAxes: a layer accepts a bottom with any axis empty, or returns an error.
func TestEmptyAxes(t *testing.T) {
	b := layertest.NewBench(t)
	for _, c := range cases {
		if c.Feed != nil {
			continue
		}
		bottoms := c.Bottoms
		for i := range bottoms {
			for axis := range bottoms[i].Shape {
				c.Bottoms = slices.Clone(bottoms)
				c.Bottoms[i].Shape, c.Bottoms[i].Fill = slices.Clone(bottoms[i].Shape), nil
				c.Bottoms[i].Shape[axis] = 0
				for _, engine := range layertest.Engines() {
					goes(t, b, engine, &c, c.Bottoms[i].Shape)
				}
			}
		}
	}
}

// goes fails the test if a case with a bottom of the given shape panics.
func goes(t *testing.T, b *layertest.Bench, engine layers.Engine, c *layertest.Case, shape []int) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s on %v, shape %v: panic: %v", c, engine, shape, r)
		}
	}()
	f, err := layertest.New(b.Device(engine), c)
	if err != nil || f.Layer.Forward(f.Bottom, f.Top) != nil || f.Type.NoGradient {
		return
	}
	propagate := make([]bool, len(f.Bottom))
	for i, bottom := range c.Bottoms {
		propagate[i] = !bottom.NoGradient && !slices.Contains(f.Type.NoForceBackward, i)
	}
	_ = f.Layer.Backward(f.Top, propagate, f.Bottom)
}
