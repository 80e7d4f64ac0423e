package kernel

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/alloctest"
)

// scripted is a tuner for whom one strategy is the fastest, whatever is measured.
type scripted struct {
	fastest  Strategy
	choices  map[string]Strategy
	measured map[Direction][]Strategy
	clock    time.Time
}

func newScripted(fastest Strategy) *scripted {
	return &scripted{fastest: fastest, choices: map[string]Strategy{}, measured: map[Direction][]Strategy{}}
}

func (u *scripted) Choice(s ConvShape, d Direction) (Strategy, bool) {
	st, ok := u.choices[s.String()+d.String()]
	return st, ok
}

func (u *scripted) Now() time.Time {
	u.clock = u.clock.Add(time.Millisecond)
	return u.clock
}

func (u *scripted) Measured(s ConvShape, d Direction, took []Timing) error {
	u.choices[s.String()+d.String()] = u.fastest
	for _, t := range took {
		u.measured[d] = append(u.measured[d], t.Strategy)
	}
	return nil
}

// TestTunedConv: results are right in every run, before, while and after the candidates are measured; the strategy is the
// cost model's for two runs and the tuner's from then on; and gradients of weights are added once.
func TestTunedConv(t *testing.T) {
	for name, c := range map[string]struct {
		shape      ConvShape
		fastest    Strategy
		candidates [3]int
	}{
		"3x3":                 {conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), Winograd2, [3]int{5, 5, 5}},
		"strided":             {conv2(2, 4, 6, 2, 9, 10, 3, 3, 2, 1, 1), Explicit, [3]int{2, 2, 1}},
		"pointwise, strided":  {conv2(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), Explicit, [3]int{2, 2, 2}},
		"pointwise, implicit": {conv2(3, 5, 7, 1, 9, 10, 1, 1, 2, 0, 1), Implicit, [3]int{2, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			m, u, check := hostMachine(t, 2), newScripted(c.fastest), near
			if c.shape.winogradable(Winograd2) { // forms with larger tiles are measured too
				check = nearWinograd
			}
			conv, err := NewTunedConv(m, c.shape, u)
			if err != nil {
				t.Fatal(err)
			}
			spec := m.Spec()
			model, err := chooseStrategies(&spec, c.shape, Auto)
			if err != nil {
				t.Fatal(err)
			}
			for run := range 4 {
				want := newConvCase(c.shape, values)
				y, dx := want.run(t, conv)
				check(t, "y", y, want.wantY, 4*len(want.w)/c.shape.Out)
				check(t, "dx", dx, want.wantDX, 4*len(want.w)/c.shape.C)
				if err := conv.WeightGrad(want.x, want.dy, want.dw); err != nil {
					t.Fatal(err)
				}
				check(t, "dw", want.dw, want.wantDW, 4*len(want.wantY)/c.shape.Out)
				wanted := model.chosen
				if run >= 2 {
					wanted = [3]Strategy{c.fastest, c.fastest, c.fastest}
				}
				if got := conv.Plan().Strategy; got != wanted {
					t.Errorf("run %d: strategies %v, want %v", run, got, wanted)
				}
			}
			for d, n := range c.candidates {
				st := u.measured[Direction(d)]
				if len(st) != n || len(slices.Compact(slices.Sorted(slices.Values(st)))) != n {
					t.Errorf("%v: measured %v, want %d candidates", Direction(d), st, n)
				}
			}
		})
	}
}

// TestTunedConvTakesWhatIsKnown: a second convolution of the shape measures nothing and gives the same bits, as does a
// convolution whose strategy is forced.
func TestTunedConvTakesWhatIsKnown(t *testing.T) {
	m, u := hostMachine(t, 2), newScripted(Winograd4)
	s := conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1)
	for d := range Direction(3) {
		u.choices[s.String()+d.String()] = Winograd4
	}
	tuned, err := NewTunedConv(m, s, u)
	if err != nil {
		t.Fatal(err)
	}
	forced, err := NewConv(m, s, Winograd4)
	if err != nil {
		t.Fatal(err)
	}
	y, dx := newConvCase(s, values).run(t, tuned)
	wantY, wantDX := newConvCase(s, values).run(t, forced)
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
	u := newScripted(Winograd4)
	u.choices[s.String()+Forward.String()] = Winograd4
	_, err := NewTunedConv(hostMachine(t, 1), s, u)
	if err == nil || !strings.Contains(err.Error(), "says winograd4 for the forward") {
		t.Errorf("error %v", err)
	}
}

// TestTunedConvAllocatesNothing from the third run on.
func TestTunedConvAllocatesNothing(t *testing.T) {
	conv, err := NewTunedConv(hostMachine(t, 2), conv2(2, 5, 6, 1, 9, 10, 3, 3, 1, 1, 1), newScripted(Winograd2))
	if err != nil {
		t.Fatal(err)
	}
	c := newConvCase(conv.shape, values)
	y, dx := make([]float32, len(c.wantY)), make([]float32, len(c.wantDX))
	run := func() {
		for _, err := range []error{conv.Forward(c.x, c.w, c.bias, y), conv.WeightGrad(c.x, c.dy, c.dw), conv.InputGrad(c.dy, c.w, dx)} {
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
	if e, most := relativeError(got, want, terms), winogradErrors[Winograd4]; !(e < most) {
		t.Fatalf("%s: relative error %.2g, want less than %g", what, e, most)
	}
}
