package conv

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/alloctest"
)

// scripted is a tuner for whom one strategy is the fastest, whatever is measured.
type scripted struct {
	fastest  shape.Strategy
	choices  map[string]shape.Strategy
	measured map[shape.Direction][]shape.Strategy
	clock    time.Time
}

func newScripted(fastest shape.Strategy) *scripted {
	return &scripted{fastest: fastest, choices: map[string]shape.Strategy{}, measured: map[shape.Direction][]shape.Strategy{}}
}

func (u *scripted) Choice(t Task) (string, bool) {
	st, ok := u.choices[t.String()+t.Direction.String()]
	if !ok {
		return "", false
	}
	spec, err := cpe.Load("host")
	if err != nil {
		panic(err)
	}
	p := Problem{Shape: t.Shape, Direction: t.Direction, Spec: &spec}
	if t.ImagesInBlocks {
		p.Images = Blocks
	}
	if t.ResultsInBlocks {
		p.Results = Blocks
	}
	found, err := within(&p, st)
	if err != nil {
		panic(err)
	}
	if found == nil {
		return st.String() + "-tiles", true
	}
	return found.algorithm.Name, true
}

func (u *scripted) Timings(Task) []Timing { return nil }

func (u *scripted) Now() time.Time {
	u.clock = u.clock.Add(time.Millisecond)
	return u.clock
}

func (u *scripted) Measured(task Task, took []Timing) error {
	u.choices[task.String()+task.Direction.String()] = u.fastest
	for _, t := range took {
		u.measured[task.Direction] = append(u.measured[task.Direction], familyOf(t.Algorithm))
	}
	return nil
}

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
		"3x3":                 {conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), planes, shape.Winograd2, [3]int{5, 5, 5}, [4]bool{true, true, false, false}},
		"strided":             {conv2(2, 4, 6, 2, 9, 10, 3, 3, 2, 1, 1), planes, shape.Explicit, [3]int{2, 2, 2}, [4]bool{}},
		"folded":              {conv2(2, 3, 32, 1, 23, 24, 11, 11, 4, 2, 1), planes, shape.Explicit, [3]int{5, 5, 2}, [4]bool{}},
		"pointwise, strided":  {conv2(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), planes, shape.Explicit, [3]int{2, 2, 2}, [4]bool{}},
		"pointwise, implicit": {conv2(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), planes, shape.Implicit, [3]int{2, 2, 2}, [4]bool{3: true}},
		"3x3 in blocks":       {conv2(2, 32, 64, 1, 16, 16, 3, 3, 1, 1, 1), blocked, shape.Winograd2, [3]int{3, 3, 3}, [4]bool{true, true, true, false}},
		"pointwise in blocks": {conv2(3, 16, 32, 1, 9, 10, 1, 1, 1, 0, 1), blocked, shape.Implicit, [3]int{1, 1, 1}, [4]bool{true, true, false, true}},
		"depthwise":           {conv2(2, 16, 16, 16, 9, 10, 3, 3, 1, 1, 1), planes, shape.Explicit, [3]int{5, 5, 5}, [4]bool{}},
		"depthwise in blocks": {conv2(2, 16, 16, 16, 9, 10, 3, 3, 1, 1, 1), blocked, shape.Implicit, [3]int{1, 1, 1}, [4]bool{true, true, false, false}},
		"results in blocks":   {conv2(2, 3, 32, 1, 9, 10, 3, 3, 1, 1, 1), [2]bool{false, true}, shape.Winograd4, [3]int{4, 4, 5}, [4]bool{true, true, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			m, u, check := kerneltest.HostMachine(t, 2), newScripted(c.fastest), kerneltest.Near
			if spec := m.Spec(); has(&spec, c.shape, shape.Winograd2, shape.Forward) { // forms with larger tiles are measured too
				check = nearWinograd
			}
			conv, err := NewTuned(m, c.shape, u)
			if err != nil {
				t.Fatal(err)
			}
			auto, err := New(m, c.shape, shape.Auto)
			if err != nil {
				t.Fatal(err)
			}
			for _, conv := range []*Conv{conv, auto} {
				if in, out := conv.Blocks(); c.lie != planes && [2]bool{in, out} != c.lie {
					t.Fatalf("images and results in blocks: %v %v, want %v", in, out, c.lie)
				}
				if err := conv.SetLayouts(InBlocks(c.lie[0]), InBlocks(c.lie[1])); err != nil {
					t.Fatal(err)
				}
			}
			for run := range 4 {
				want := newConvCase(c.shape, kerneltest.Values)
				lying := want.lying(c.shape, c.lie)
				y, dx := lying.run(t, conv)
				if c.lie[0] {
					shape.FromBlocks(dx, slices.Clone(dx), c.shape.N*c.shape.C, volume(c.shape.In))
				}
				if c.lie[1] {
					shape.FromBlocks(y, slices.Clone(y), c.shape.N*c.shape.Out, volume(c.shape.OutSize()))
				}
				check(t, "y", y, want.wantY, 4*len(want.w)/c.shape.Out)
				check(t, "dx", dx, want.wantDX, 4*len(want.w)/c.shape.C)
				if err := conv.Run(shape.WeightGradient, Arrays{X: lying.x, DY: lying.dy, DW: want.dw, Add: true}); err != nil {
					t.Fatal(err)
				}
				check(t, "dw", want.dw, want.wantDW, 4*len(want.wantY)/c.shape.Out)
				wanted := strategiesOf(auto)
				if run >= 2 {
					wanted = [3]shape.Strategy{c.fastest, c.fastest, c.fastest}
				}
				if got := strategiesOf(conv); got != wanted {
					t.Errorf("run %d: strategies %v, want %v", run, got, wanted)
				}
			}
			if does := [4]bool{conv.Can(shape.Forward)&FloorResults != 0, conv.Can(shape.WeightGradient)&SetWeights != 0, conv.Can(shape.InputGradient)&MaskImages != 0, conv.Can(shape.InputGradient)&AddImages != 0}; does != c.does {
				t.Errorf("on the way it does %v, want %v", does, c.does)
			}
			for d, n := range c.candidates {
				var st []shape.Strategy
				for _, one := range u.measured[shape.Direction(d)] {
					if !slices.Contains(st, one) {
						st = append(st, one)
					}
				}
				if len(st) != n || len(u.measured[shape.Direction(d)]) != n || st[0] != strategiesOf(auto)[d] {
					t.Errorf("%v: measured %v, want %d candidates, %v the first", shape.Direction(d), u.measured[shape.Direction(d)], n, strategiesOf(auto)[d])
				}
			}
		})
	}
}

// lying is the case with images, or results, in blocks.
func (c *convCase) lying(s shape.Conv, blocked [2]bool) *convCase {
	l := *c
	if blocked[0] {
		l.x = inBlocks(c.x, s.N*s.C)
	}
	if blocked[1] {
		l.dy = inBlocks(c.dy, s.N*s.Out)
	}
	return &l
}

// TestTunedConvTakesWhatIsKnown: a second convolution of the shape measures nothing and gives the same bits, as does a
// convolution whose strategy is forced.
func TestTunedConvTakesWhatIsKnown(t *testing.T) {
	m, u := kerneltest.HostMachine(t, 2), newScripted(shape.Winograd4)
	s := conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1)
	for d := range shape.Direction(3) {
		u.choices[Task{Shape: s}.String()+d.String()] = shape.Winograd4
	}
	tuned, err := NewTuned(m, s, u)
	if err != nil {
		t.Fatal(err)
	}
	forced, err := New(m, s, shape.Winograd4)
	if err != nil {
		t.Fatal(err)
	}
	y, dx := newConvCase(s, kerneltest.Values).run(t, tuned)
	wantY, wantDX := newConvCase(s, kerneltest.Values).run(t, forced)
	if !slices.Equal(y, wantY) || !slices.Equal(dx, wantDX) {
		t.Error("the bits differ from those of the forced strategy")
	}
	if len(u.measured) != 0 {
		t.Errorf("measured %v, though all was known", u.measured)
	}
}

// TestTunedConvRefusesWhatCannotBe: a choice that the shape does not allow, from a file that was edited, is an error.
func TestTunedConvRefusesWhatCannotBe(t *testing.T) {
	s := conv2(2, 5, 6, 1, 9, 10, 7, 7, 1, 1, 1)
	u := newScripted(shape.Winograd4)
	u.choices[Task{Shape: s}.String()+shape.Forward.String()] = shape.Winograd4
	_, err := NewTuned(kerneltest.HostMachine(t, 1), s, u)
	if err == nil || !strings.Contains(err.Error(), "says winograd4-tiles for the forward") {
		t.Errorf("error %v", err)
	}
}

// TestTunedConvAllocatesNothing from the third run on.
func TestTunedConvAllocatesNothing(t *testing.T) {
	conv, err := NewTuned(kerneltest.HostMachine(t, 2), conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), newScripted(shape.Winograd2))
	if err != nil {
		t.Fatal(err)
	}
	c := newConvCase(conv.shape, kerneltest.Values)
	y, dx := make([]float32, len(c.wantY)), make([]float32, len(c.wantDX))
	run := func() {
		for _, err := range []error{conv.Run(shape.Forward, Arrays{X: c.x, W: c.w, Bias: c.bias, Y: y}), conv.Run(shape.WeightGradient, Arrays{X: c.x, DY: c.dy, DW: c.dw, Add: true}), conv.Run(shape.InputGradient, Arrays{DY: c.dy, W: c.w, DX: dx})} {
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

// nearWinograd is near for sums that any form of Winograd's convolution may have made.
func nearWinograd(t *testing.T, what string, got []float32, want []float64, terms int) {
	t.Helper()
	if e, most := relativeError(got, want, terms), winogradErrors[shape.Winograd4]; !(e < most) {
		t.Fatalf("%s: relative error %.2g, want less than %g", what, e, most)
	}
}
