package winograd_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

var winogradShapes = []shape.Conv{
	convtest.Shape2D(1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 5, 7, 1, 7, 9, 3, 3, 1, 0, 1),
	convtest.Shape2D(1, 17, 33, 1, 13, 11, 3, 3, 1, 2, 1),
	convtest.Shape2D(1, 2, 3, 1, 3, 3, 3, 3, 1, 4, 1), // padding for the input gradient is negative
	convtest.Shape2D(3, 40, 26, 2, 7, 7, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 6, 6, 6, 8, 8, 3, 3, 1, 1, 1),
	convtest.Shape2D(1, 2, 3, 1, 9, 131, 3, 3, 1, 1, 1), // lines of more than one patch
	convtest.Shape2D(6, 18, 36, 1, 14, 14, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 200, 10, 1, 5, 6, 3, 3, 1, 1, 1),  // channels of more than one panel
	convtest.Shape2D(1, 410, 390, 1, 4, 5, 3, 3, 1, 1, 1), // weights so many that they stay in L2 of the host
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{6, 10}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{0, 2}, Dilation: []int{1, 1}},
	convtest.Shape2D(1, 1, 1, 1, 1, 1, 5, 5, 1, 2, 1),
	convtest.Shape2D(2, 3, 4, 1, 6, 5, 5, 5, 1, 0, 1),
	convtest.Shape2D(1, 17, 33, 1, 13, 11, 5, 5, 1, 2, 1),
	convtest.Shape2D(1, 2, 3, 1, 3, 3, 5, 5, 1, 6, 1), // padding for the input gradient is negative
	convtest.Shape2D(3, 40, 26, 2, 7, 7, 5, 5, 1, 2, 1),
	convtest.Shape2D(1, 2, 3, 1, 9, 131, 5, 5, 1, 2, 1),
	convtest.Shape2D(4, 18, 36, 1, 14, 14, 5, 5, 1, 1, 1),
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{6, 10}, Kernel: []int{5, 5}, Stride: []int{1, 1}, Pad: []int{0, 3}, Dilation: []int{1, 1}},
}

func TestWinograd(t *testing.T) {
	for _, s := range racing.Few(winogradShapes) {
		want := convtest.NewCase(s, convtest.Normal)
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
			if convtest.Long(s) && !m.Native() {
				t.Skip("it takes long, and is for the host's many weights")
			}
			convtest.EachWinograd(s, func(st shape.Strategy) {
				t.Run(st.String()+" "+s.String(), func(t *testing.T) { convtest.CompareWinograd(t, m, s, st, want) })
			})
		})
	}
}

// TestWinogradIsRejected: shapes that it cannot compute get another strategy, whose plan says so.
func TestWinogradIsRejected(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(1, 4, 4, 1, 9, 9, 7, 7, 1, 3, 1), convtest.Shape2D(1, 4, 4, 1, 9, 9, 3, 3, 2, 1, 1),
		convtest.Shape2D(1, 4, 4, 1, 9, 9, 3, 2, 1, 1, 1),
		{N: 1, C: 4, Out: 4, Group: 1, In: []int{9}, Kernel: []int{3}, Stride: []int{1}, Pad: []int{1}, Dilation: []int{1}},
		{N: 1, C: 2, Out: 2, Group: 1, In: []int{4, 5, 6}, Kernel: []int{3, 3, 3}, Stride: []int{1, 1, 1}, Pad: []int{1, 1, 1}, Dilation: []int{1, 1, 1}},
	} {
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) { rejectsWinograd(t, m, s) })
	}
}

func rejectsWinograd(t *testing.T, m *cpe.Machine, s shape.Conv) {
	t.Helper()
	for _, st := range winograd.Strategies {
		c, err := plan.New(m, s, st)
		if err != nil {
			t.Fatal(err)
		}
		for d, got := range convtest.StrategiesOf(c) {
			if got.IsWinograd() || got == shape.Auto {
				t.Errorf("%v, %v: strategy %v", s, shape.Direction(d), got)
			}
		}
	}
}

// TestWinogradNeedsLDM: less LDM makes runs of tiles shorter, until there is an error with the bytes that are missing.
func TestWinogradNeedsLDM(t *testing.T) {
	s := convtest.Shape2D(1, 8, 8, 1, 12, 12, 3, 3, 1, 1, 1)
	for _, c := range []struct {
		st  shape.Strategy
		ldm int
		ok  bool
	}{{shape.Winograd4, 6 << 10, true}, {shape.Winograd4, 5 << 10, false}, {shape.Winograd2, 5 << 10, true}, {shape.Winograd2, 2 << 10, false}} {
		spec := kerneltest.Machine(t, "sw26010", true).Spec()
		spec.LDMBytes = c.ldm
		m, err := cpe.New(spec, cpe.Functional)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		t.Run(fmt.Sprintf("%v in %d bytes", c.st, c.ldm), func(t *testing.T) {
			if !c.ok {
				if _, err := plan.New(m, s, c.st); !kerneltest.IsLDM(err) {
					t.Errorf("error %v, want one about LDM", err)
				}
				return
			}
			convtest.CompareWinograd(t, m, s, c.st, convtest.NewCase(s, convtest.Normal))
		})
	}
}

// TestHostStrategy: Winograd's convolution is chosen for many channels, and not where there are few, or one for each group.
func TestHostStrategy(t *testing.T) {
	if isa.Lanes() == 0 {
		t.Skip("the model's figures are those of machines with vectors")
	}
	spec := kerneltest.HostSpec(t)
	all := [3]bool{true, true, true}
	for _, c := range []struct {
		s        shape.Conv
		winograd [3]bool
	}{
		{convtest.Shape2D(8, 256, 256, 1, 56, 56, 3, 3, 1, 1, 1), all},
		{convtest.Shape2D(8, 64, 64, 1, 224, 224, 3, 3, 1, 1, 1), all},
		{convtest.Shape2D(8, 3, 64, 1, 224, 224, 3, 3, 1, 1, 1), [3]bool{shape.InputGradient: true}},
		{convtest.Shape2D(8, 64, 64, 64, 56, 56, 3, 3, 1, 1, 1), [3]bool{}},
		{convtest.Shape2D(8, 128, 128, 8, 28, 28, 3, 3, 1, 1, 1), [3]bool{shape.Forward: true, shape.InputGradient: true}},
		{convtest.Shape2D(8, 128, 128, 32, 28, 28, 3, 3, 1, 1, 1), [3]bool{}},
		{convtest.Shape2D(1, 512, 512, 1, 4, 4, 3, 3, 1, 1, 1), [3]bool{shape.WeightGradient: true, shape.InputGradient: true}},
		{convtest.Shape2D(8, 256, 256, 1, 56, 56, 5, 5, 1, 2, 1), all},
		{convtest.Shape2D(8, 256, 256, 1, 56, 56, 7, 7, 1, 3, 1), [3]bool{}},
	} {
		for d, st := range convtest.StrategiesFor(t, &spec, c.s, shape.Auto) {
			if st.IsWinograd() != c.winograd[d] {
				t.Errorf("%v, %v: %v", c.s, shape.Direction(d), st)
			}
		}
	}
}

// TestEitherWinograd: without an edge of tiles Winograd's convolution is that of the thesis on a model, and on the host what has
// less work; what it cannot compute is computed otherwise.
func TestEitherWinograd(t *testing.T) {
	few, many := convtest.Shape2D(1, 4, 4, 1, 6, 6, 3, 3, 1, 1, 1), convtest.Shape2D(16, 64, 64, 1, 12, 12, 3, 3, 1, 1, 1)
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, c := range []struct {
			s           shape.Conv
			host, model shape.Strategy
		}{
			{few, shape.Winograd2, shape.Winograd2}, {many, shape.Winograd4, shape.Winograd2}, {convtest.Shape2D(1, 4, 4, 1, 8, 8, 5, 5, 1, 2, 1), shape.Winograd4, shape.Winograd4},
			{convtest.Shape2D(1, 4, 4, 1, 8, 8, 7, 7, 1, 3, 1), shape.Implicit, shape.Explicit},
		} {
			layer, err := plan.New(m, c.s, shape.Winograd)
			if err != nil {
				t.Fatal(err)
			}
			want := c.model
			if m.Native() {
				want = c.host
			}
			if got := convtest.StrategiesOf(layer)[shape.Forward]; got != want {
				t.Errorf("%v: %v, want %v", c.s, got, want)
			}
		}
	})
}
