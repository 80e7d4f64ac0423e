package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// winogradErrors are the tolerances of Winograd's convolution, relative to the deviation of a sum of products of values of unit
// variance.
var winogradErrors = map[shape.Strategy]float64{shape.Winograd2: 2e-5, shape.Winograd4: 2e-4, shape.Winograd5: 2e-4}

var winogradShapes = []shape.Conv{
	conv2(1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1),
	conv2(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
	conv2(2, 5, 7, 1, 7, 9, 3, 3, 1, 0, 1),
	conv2(1, 17, 33, 1, 13, 11, 3, 3, 1, 2, 1),
	conv2(1, 2, 3, 1, 3, 3, 3, 3, 1, 4, 1), // padding for the input gradient is negative
	conv2(3, 40, 26, 2, 7, 7, 3, 3, 1, 1, 1),
	conv2(2, 6, 6, 6, 8, 8, 3, 3, 1, 1, 1),
	conv2(1, 2, 3, 1, 9, 131, 3, 3, 1, 1, 1), // lines of more than one patch
	conv2(6, 18, 36, 1, 14, 14, 3, 3, 1, 1, 1),
	conv2(2, 200, 10, 1, 5, 6, 3, 3, 1, 1, 1),  // channels of more than one panel
	conv2(1, 410, 390, 1, 4, 5, 3, 3, 1, 1, 1), // weights so many that they stay in L2 of the host
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{6, 10}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{0, 2}, Dilation: []int{1, 1}},
	conv2(1, 1, 1, 1, 1, 1, 5, 5, 1, 2, 1),
	conv2(2, 3, 4, 1, 6, 5, 5, 5, 1, 0, 1),
	conv2(1, 17, 33, 1, 13, 11, 5, 5, 1, 2, 1),
	conv2(1, 2, 3, 1, 3, 3, 5, 5, 1, 6, 1), // padding for the input gradient is negative
	conv2(3, 40, 26, 2, 7, 7, 5, 5, 1, 2, 1),
	conv2(1, 2, 3, 1, 9, 131, 5, 5, 1, 2, 1),
	conv2(4, 18, 36, 1, 14, 14, 5, 5, 1, 1, 1),
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{6, 10}, Kernel: []int{5, 5}, Stride: []int{1, 1}, Pad: []int{0, 3}, Dilation: []int{1, 1}},
}

// maxSimulated are the most filters of one channel that short tests simulate.
const maxSimulated = 1 << 16

// eachWinograd calls f for the strategies of Winograd that can compute a shape.
func eachWinograd(s shape.Conv, f func(st shape.Strategy)) {
	for _, st := range winogradStrategies {
		if winogradable(&s, st) {
			f(st)
		}
	}
}

// normal are n seeded values of unit variance.
func normal(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// relativeError is the largest difference of sums of a number of terms in units of their deviation.
func relativeError(got []float32, want []float64, terms int) float64 {
	worst := 0.0
	for i, v := range got {
		if d := math.Abs(float64(v) - want[i]); !(d <= worst) {
			worst = d
		}
	}
	return worst / math.Sqrt(float64(max(1, terms)))
}

func TestWinograd(t *testing.T) {
	for _, s := range winogradShapes {
		want := newConvCase(s, normal)
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
			if testing.Short() && !m.Native() && s.C*s.Out > maxSimulated {
				t.Skip("it takes long, and is for the host's many weights")
			}
			eachWinograd(s, func(st shape.Strategy) {
				t.Run(st.String()+" "+s.String(), func(t *testing.T) { testWinograd(t, m, s, st, want) })
			})
		})
	}
}

func testWinograd(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, want *convCase) {
	c, err := New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	if got := strategiesOf(c); got != [3]shape.Strategy{st, st, st} {
		t.Fatalf("strategies %v", got)
	}
	checkWinograd(t, m, s, st, c, want)
}

// checkWinograd compares what a convolution computes with what it should, twice.
func checkWinograd(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, c *Conv, want *convCase) {
	t.Helper()
	check := func(what string, got []float32, want []float64, terms int) {
		if e := relativeError(got, want, terms); !(e < winogradErrors[st]) {
			t.Errorf("%s: relative error %.2g, want less than %g", what, e, winogradErrors[st])
		}
	}
	y, dx := want.run(t, c)
	again, dxAgain := want.run(t, c)
	if !slices.Equal(y, again) || !slices.Equal(dx, dxAgain) {
		t.Error("a second run differs")
	}
	dw := slices.Clone(want.dw)
	if err := c.Run(shape.WeightGradient, Arrays{X: want.x, DY: want.dy, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	dwAgain := slices.Clone(want.dw)
	if err := c.Run(shape.WeightGradient, Arrays{X: want.x, DY: want.dy, DW: dwAgain, Add: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dw, dwAgain) {
		t.Error("a second weight gradient differs")
	}
	if m.Native() {
		db := slices.Clone(want.bias)
		if err := c.Run(shape.WeightGradient, Arrays{X: want.x, DY: want.dy, DW: dwAgain, DB: db}); err != nil {
			t.Fatal(err)
		}
		kerneltest.Near(t, "db", db, want.biasGrads(s), len(want.dy)/s.Out)
	}
	check("y", y, want.wantY, len(want.w)/s.Out)
	check("dx", dx, want.wantDX, len(want.w)/s.C)
	check("dw", dw, want.wantDW, len(y)/s.Out)
	if peak := m.Ledger().LDMPeak; !m.Native() && (peak == 0 || peak > m.Spec().LDMBytes) {
		t.Errorf("%d bytes of LDM taken", peak)
	}
}

// TestWinogradIsRejected: shapes that it cannot compute get another strategy, whose plan says so.
func TestWinogradIsRejected(t *testing.T) {
	for _, s := range []shape.Conv{
		conv2(1, 4, 4, 1, 9, 9, 7, 7, 1, 3, 1), conv2(1, 4, 4, 1, 9, 9, 3, 3, 2, 1, 1),
		conv2(1, 4, 4, 1, 9, 9, 3, 2, 1, 1, 1),
		{N: 1, C: 4, Out: 4, Group: 1, In: []int{9}, Kernel: []int{3}, Stride: []int{1}, Pad: []int{1}, Dilation: []int{1}},
		{N: 1, C: 2, Out: 2, Group: 1, In: []int{4, 5, 6}, Kernel: []int{3, 3, 3}, Stride: []int{1, 1, 1}, Pad: []int{1, 1, 1}, Dilation: []int{1, 1, 1}},
	} {
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) { rejectsWinograd(t, m, s) })
	}
}

func rejectsWinograd(t *testing.T, m *cpe.Machine, s shape.Conv) {
	t.Helper()
	for _, st := range winogradStrategies {
		c, err := New(m, s, st)
		if err != nil {
			t.Fatal(err)
		}
		for d, got := range strategiesOf(c) {
			if got.IsWinograd() || got == shape.Auto {
				t.Errorf("%v, %v: strategy %v", s, shape.Direction(d), got)
			}
		}
	}
}

// TestWinogradNeedsLDM: less LDM makes runs of tiles shorter, until there is an error with the bytes that are missing.
func TestWinogradNeedsLDM(t *testing.T) {
	s := conv2(1, 8, 8, 1, 12, 12, 3, 3, 1, 1, 1)
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
				if _, err := New(m, s, c.st); !kerneltest.IsLDM(err) {
					t.Errorf("error %v, want one about LDM", err)
				}
				return
			}
			testWinograd(t, m, s, c.st, newConvCase(s, normal))
		})
	}
}

// TestHostStrategy: Winograd's convolution is chosen for many channels, and not where there are few, or one for each group.
func TestHostStrategy(t *testing.T) {
	if !isa.Vectors() {
		t.Skip("the model's figures are those of machines with vectors")
	}
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	all := [3]bool{true, true, true}
	for _, c := range []struct {
		s        shape.Conv
		winograd [3]bool
	}{
		{conv2(8, 256, 256, 1, 56, 56, 3, 3, 1, 1, 1), all},
		{conv2(8, 64, 64, 1, 224, 224, 3, 3, 1, 1, 1), all},
		{conv2(8, 3, 64, 1, 224, 224, 3, 3, 1, 1, 1), [3]bool{shape.InputGradient: true}},
		{conv2(8, 64, 64, 64, 56, 56, 3, 3, 1, 1, 1), [3]bool{}},
		{conv2(8, 128, 128, 8, 28, 28, 3, 3, 1, 1, 1), [3]bool{shape.Forward: true, shape.InputGradient: true}},
		{conv2(8, 128, 128, 32, 28, 28, 3, 3, 1, 1, 1), [3]bool{}},
		{conv2(1, 512, 512, 1, 4, 4, 3, 3, 1, 1, 1), [3]bool{shape.WeightGradient: true, shape.InputGradient: true}},
		{conv2(8, 256, 256, 1, 56, 56, 5, 5, 1, 2, 1), all},
		{conv2(8, 256, 256, 1, 56, 56, 7, 7, 1, 3, 1), [3]bool{}},
	} {
		for d, st := range strategiesFor(t, &spec, c.s, shape.Auto) {
			if st.IsWinograd() != c.winograd[d] {
				t.Errorf("%v, %v: %v", c.s, shape.Direction(d), st)
			}
		}
	}
}

// TestEitherWinograd: without an edge of tiles Winograd's convolution is that of the thesis on a model, and on the host what has
// less work; what it cannot compute is computed otherwise.
func TestEitherWinograd(t *testing.T) {
	few, many := conv2(1, 4, 4, 1, 6, 6, 3, 3, 1, 1, 1), conv2(16, 64, 64, 1, 12, 12, 3, 3, 1, 1, 1)
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, c := range []struct {
			s           shape.Conv
			host, model shape.Strategy
		}{
			{few, shape.Winograd2, shape.Winograd2}, {many, shape.Winograd4, shape.Winograd2}, {conv2(1, 4, 4, 1, 8, 8, 5, 5, 1, 2, 1), shape.Winograd4, shape.Winograd4},
			{conv2(1, 4, 4, 1, 8, 8, 7, 7, 1, 3, 1), shape.Implicit, shape.Explicit},
		} {
			conv, err := New(m, c.s, shape.Winograd)
			if err != nil {
				t.Fatal(err)
			}
			want := c.model
			if m.Native() {
				want = c.host
			}
			if got := strategiesOf(conv)[shape.Forward]; got != want {
				t.Errorf("%v: %v, want %v", c.s, got, want)
			}
		}
	})
}
