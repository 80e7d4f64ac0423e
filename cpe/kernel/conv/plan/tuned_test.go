package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// TestTunedConv: results are right in every run, before, while and after the candidates are measured, however images lie; the
// strategy is the cost model's for two runs and the tuner's from then on, as is what it can do on the way; the cost model's is the first
// candidate, and all can work on images as they lie; and gradients of weights are added once.
func TestTunedConv(t *testing.T) {
	planes, blocked := [2]bool{}, [2]bool{true, true}
	for name, c := range map[string]struct {
		shape      shape.Conv
		lie        [2]bool
		fastest    shape.Strategy
		candidates [3]int
		does       [4]bool // Rectifies, SetsWeightGrad, RectifiesInputGrad, AddsInputGrad in the end
	}{
		"3x3":                 {convtest.Shape2D(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), planes, shape.Winograd2, [3]int{5, 5, 5}, [4]bool{true, true, false, false}},
		"strided":             {convtest.Shape2D(2, 4, 6, 2, 9, 10, 3, 3, 2, 1, 1), planes, shape.Explicit, [3]int{2, 2, 2}, [4]bool{}},
		"folded":              {convtest.Shape2D(2, 3, 32, 1, 23, 24, 11, 11, 4, 2, 1), planes, shape.Explicit, [3]int{5, 5, 2}, [4]bool{}},
		"pointwise, strided":  {convtest.Shape2D(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), planes, shape.Explicit, [3]int{2, 2, 2}, [4]bool{}},
		"pointwise, implicit": {convtest.Shape2D(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), planes, shape.Implicit, [3]int{2, 2, 2}, [4]bool{3: true}},
		"3x3 in blocks":       {convtest.Shape2D(2, 32, 64, 1, 16, 16, 3, 3, 1, 1, 1), blocked, shape.Winograd2, [3]int{3, 3, 3}, [4]bool{true, true, true, false}},
		"pointwise in blocks": {convtest.Shape2D(3, 16, 32, 1, 9, 10, 1, 1, 1, 0, 1), blocked, shape.Implicit, [3]int{1, 1, 1}, [4]bool{true, true, false, true}},
		"depthwise":           {convtest.Shape2D(2, 16, 16, 16, 9, 10, 3, 3, 1, 1, 1), planes, shape.Explicit, [3]int{5, 5, 5}, [4]bool{}},
		"depthwise in blocks": {convtest.Shape2D(2, 16, 16, 16, 9, 10, 3, 3, 1, 1, 1), blocked, shape.Implicit, [3]int{1, 1, 1}, [4]bool{true, true, false, false}},
		"results in blocks":   {convtest.Shape2D(2, 3, 32, 1, 9, 10, 3, 3, 1, 1, 1), [2]bool{false, true}, shape.Winograd4, [3]int{4, 4, 5}, [4]bool{true, true, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			m, u, check := kerneltest.HostMachine(t, 2), convtest.NewScripted(t, c.fastest), kerneltest.Near
			if spec := m.Spec(); convtest.Has(&spec, c.shape, shape.Winograd2, shape.Forward) { // forms with larger tiles are measured too
				check = convtest.NearWinograd
			}
			layer, err := plan.NewTuned(m, c.shape, op.Types{}, u)
			if err != nil {
				t.Fatal(err)
			}
			auto, err := plan.New(m, c.shape, shape.Auto)
			if err != nil {
				t.Fatal(err)
			}
			for _, layer := range []*plan.Conv{layer, auto} {
				if in, out := layer.Blocks(); c.lie != planes && [2]bool{in, out} != c.lie {
					t.Fatalf("images and results in blocks: %v %v, want %v", in, out, c.lie)
				}
				if err := layer.SetLayouts(shape.InBlocks(c.lie[0]), shape.InBlocks(c.lie[1])); err != nil {
					t.Fatal(err)
				}
			}
			for run := range 4 {
				want := convtest.NewCase(c.shape, kerneltest.Values)
				lying := want.LaidOut(c.shape, c.lie)
				y, dx := lying.Run(t, layer)
				if c.lie[0] {
					shape.FromBlocks(dx, slices.Clone(dx), c.shape.N*c.shape.C, convtest.Volume(c.shape.In))
				}
				if c.lie[1] {
					shape.FromBlocks(y, slices.Clone(y), c.shape.N*c.shape.Out, convtest.Volume(c.shape.OutSize()))
				}
				check(t, "y", y, want.WantY, 4*len(want.W)/c.shape.Out)
				check(t, "dx", dx, want.WantDX, 4*len(want.W)/c.shape.C)
				if err := layer.Run(shape.WeightGradient, conv.Arrays{X: lying.X, DY: lying.DY, DW: want.DW, Add: true}); err != nil {
					t.Fatal(err)
				}
				check(t, "dw", want.DW, want.WantDW, 4*len(want.WantY)/c.shape.Out)
				wanted := convtest.StrategiesOf(auto)
				if run >= 2 {
					wanted = [3]shape.Strategy{c.fastest, c.fastest, c.fastest}
				}
				if got := convtest.StrategiesOf(layer); got != wanted {
					t.Errorf("run %d: strategies %v, want %v", run, got, wanted)
				}
			}
			if does := [4]bool{layer.Does(shape.Forward, op.Floor), layer.Does(shape.WeightGradient, op.Overwrite), layer.Does(shape.InputGradient, op.Mask), layer.Does(shape.InputGradient, op.Add)}; does != c.does {
				t.Errorf("on the way it does %v, want %v", does, c.does)
			}
			for d, n := range c.candidates {
				var st []shape.Strategy
				for _, one := range u.Took[shape.Direction(d)] {
					if !slices.Contains(st, one) {
						st = append(st, one)
					}
				}
				if len(st) != n || len(u.Took[shape.Direction(d)]) != n || st[0] != convtest.StrategiesOf(auto)[d] {
					t.Errorf("%v: measured %v, want %d candidates, %v the first", shape.Direction(d), u.Took[shape.Direction(d)], n, convtest.StrategiesOf(auto)[d])
				}
			}
		})
	}
}

// TestTunedConvTakesWhatIsKnown: a second convolution of the shape measures nothing and gives the same bits, as does a
// convolution whose strategy is forced.
func TestTunedConvTakesWhatIsKnown(t *testing.T) {
	m, u := kerneltest.HostMachine(t, 2), convtest.NewScripted(t, shape.Winograd4)
	s := convtest.Shape2D(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1)
	for d := range shape.Direction(3) {
		u.Known[conv.Key{Shape: s}.String()+d.String()] = shape.Winograd4
	}
	tuned, err := plan.NewTuned(m, s, op.Types{}, u)
	if err != nil {
		t.Fatal(err)
	}
	forced, err := plan.New(m, s, shape.Winograd4)
	if err != nil {
		t.Fatal(err)
	}
	y, dx := convtest.NewCase(s, kerneltest.Values).Run(t, tuned)
	wantY, wantDX := convtest.NewCase(s, kerneltest.Values).Run(t, forced)
	if !slices.Equal(y, wantY) || !slices.Equal(dx, wantDX) {
		t.Error("the bits differ from those of the forced strategy")
	}
	if len(u.Took) != 0 {
		t.Errorf("measured %v, though all was known", u.Took)
	}
}

// TestTunedConvRefusesWhatCannotBe: a choice that the shape does not allow, from a file that was edited, is an error.
func TestTunedConvRefusesWhatCannotBe(t *testing.T) {
	s := convtest.Shape2D(2, 5, 6, 1, 9, 10, 7, 7, 1, 1, 1)
	u := convtest.NewScripted(t, shape.Winograd4)
	u.Known[conv.Key{Shape: s}.String()+shape.Forward.String()] = shape.Winograd4
	_, err := plan.NewTuned(kerneltest.HostMachine(t, 1), s, op.Types{}, u)
	if err == nil || !strings.Contains(err.Error(), "names winograd4-tiles for the forward") {
		t.Errorf("error %v", err)
	}
}

// picky is a tuner that finds a named algorithm fastest, and notes what was measured.
type picky struct {
	pick  string
	known map[string]bool
	took  []string
}

func (u *picky) Choice(k conv.Key) (string, bool) { return u.pick, u.known[k.String()] }
func (u *picky) Now() time.Time                   { return time.Time{} }
func (u *picky) Measured(k conv.Key, took []conv.Timing) error {
	u.known[k.String()] = true
	for _, t := range took {
		u.took = append(u.took, t.Algorithm)
	}
	return nil
}

// TestTunedConvInBFloat16: where factors may be rounded, algorithms that do so and others are measured, once for both permissions, and results are those of
// the one that is chosen.
func TestTunedConvInBFloat16(t *testing.T) {
	m, s := kerneltest.HostMachine(t, 2), convtest.Shape2D(3, 32, 32, 1, 9, 10, 1, 1, 1, 0, 1)
	plain := conv.Key{Shape: s}
	for _, pick := range []string{"pointwise-blocked-bf16", "explicit-pointwise"} {
		u := &picky{pick: pick, known: map[string]bool{plain.String(): true}}
		tuned, err := plan.NewTuned(m, s, op.RoundedFactors, u)
		if err != nil {
			t.Fatal(err)
		}
		forced, err := plan.NewIn(m, s, op.Force{Name: pick}, op.RoundedFactors, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := convtest.NewCase(s, kerneltest.Values)
		got, want := make([]float32, len(c.WantY)), make([]float32, len(c.WantY))
		for range 3 {
			if err := tuned.Run(shape.Forward, conv.Arrays{X: c.X, W: c.W, Bias: c.Bias, Y: got}); err != nil {
				t.Fatal(err)
			}
		}
		if err := forced.Run(shape.Forward, conv.Arrays{X: c.X, W: c.W, Bias: c.Bias, Y: want}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other bits than those of the forced algorithm", pick)
		}
		for _, name := range []string{"pointwise-blocked-bf16", "explicit-pointwise"} {
			if !slices.Contains(u.took, name) {
				t.Errorf("measured %v, not %s", u.took, name)
			}
		}
	}
}

// TestTunedConvAllocatesNothing from the third run on.
func TestTunedConvAllocatesNothing(t *testing.T) {
	s := convtest.Shape2D(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1)
	layer, err := plan.NewTuned(kerneltest.HostMachine(t, 2), s, op.Types{}, convtest.NewScripted(t, shape.Winograd2))
	if err != nil {
		t.Fatal(err)
	}
	c := convtest.NewCase(s, kerneltest.Values)
	y, dx := make([]float32, len(c.WantY)), make([]float32, len(c.WantDX))
	run := func() {
		for _, err := range []error{layer.Run(shape.Forward, conv.Arrays{X: c.X, W: c.W, Bias: c.Bias, Y: y}), layer.Run(shape.WeightGradient, conv.Arrays{X: c.X, DY: c.DY, DW: c.DW, Add: true}), layer.Run(shape.InputGradient, conv.Arrays{DY: c.DY, W: c.W, DX: dx})} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	run()
	if n := alloctest.PerRun(3, run); n != 0 {
		t.Errorf("%d allocations a run", n)
	}
}
