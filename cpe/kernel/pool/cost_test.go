package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestCosts: where costs decide, the algorithm of least cost takes about the least time; where the sums of means decide, the table says what that costs.
func TestCosts(t *testing.T) {
	table := kerneltest.CostTable{
		File: "testdata/costs.txt", Mean: 1.05, Most: 1.6,
		Runs: func(m *cpe.Machine, line string) map[string]func() error {
			s, d := pooledIn(t, line)
			runs := map[string]func() error{}
			for _, a := range able(t, m, s, d) {
				k := kernelBy(t, m, s, d, a)
				x, y, mask := kerneltest.Values(s.N*s.C*s.H*s.W, 1), kerneltest.Values(s.N*s.C*s.OH*s.OW, 2), make([]int32, s.N*s.C*s.OH*s.OW)
				runs[a.Name] = func() error {
					if d == shape.Forward {
						return k.Forward(x, y, mask, 1)
					}
					return k.Backward(y, mask, x)
				}
			}
			return runs
		},
		Pick: func(m *cpe.Machine, line string) (string, []string) {
			s, d := pooledIn(t, line)
			k, err := New(m, s)
			if err != nil {
				t.Fatal(err)
			}
			return string(k.Algorithm(d)), nil
		},
	}
	table.Check(t)
}

// pooledIn returns the pooling of a line of the table, of 128 planes.
func pooledIn(t *testing.T, line string) (s Shape, d shape.Direction) {
	t.Helper()
	s = Shape{N: 2, C: 64, Train: true}
	var method, way string
	_, err := fmt.Sscanf(line, "%s %s %dx%d by %dx%d stride %d pad %d", &method, &way, &s.H, &s.W, &s.KH, &s.KW, &s.SH, &s.PH)
	if err != nil {
		t.Fatalf("%q is no pooling: %v", line, err)
	}
	if s.SW, s.PW = s.SH, s.PH; method == "mean" {
		s.Method = Ave
	}
	if d = shape.Forward; way == "gradient" {
		d = shape.InputGradient
	}
	s.OH, s.OW = outputs(s.H, s.KH, s.SH, s.PH), outputs(s.W, s.KW, s.SW, s.PW)
	return s, d
}

// outputs is Caffe's number of windows along an axis.
func outputs(n, k, stride, pad int) int {
	o := tiling.Blocks(max(0, n+2*pad-k), stride) + 1
	if pad > 0 && (o-1)*stride >= n+pad {
		o--
	}
	return o
}

// able lists the algorithms that can compute a direction of a pooling.
func able(t *testing.T, m *cpe.Machine, s Shape, d shape.Direction) (list []*algorithm) {
	k, err := New(m, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range algorithms.Algorithms {
		if a.Refuses(k.problem(d)) == nil {
			list = append(list, a)
		}
	}
	return list
}

// kernelBy prepares a direction by one algorithm, with a mask of indices.
func kernelBy(t *testing.T, m *cpe.Machine, s Shape, d shape.Direction, a *algorithm) *Kernel {
	k, err := New(m, s)
	if err != nil {
		t.Fatal(err)
	}
	w, err := a.Kernel(m, k.problem(d))
	if err != nil {
		t.Fatal(err)
	}
	k = &Kernel{shape: s, plan: k.plan, machine: m, forward: computed{way: w}, grad: computed{way: w}}
	if err := w.prepare(k); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestEveryAlgorithm: every algorithm that can compute a pooling of planes computes it right, whichever the costs pick: maxima and their gradients bit by bit
// alike, means within rounding.
func TestEveryAlgorithm(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(43, 2))
		for n := range 200 {
			s := Shape{N: 1 + r.IntN(2), C: 1 + r.IntN(4), H: 1 + r.IntN(40), W: 1 + r.IntN(40), Train: true, Method: Method(n % 2)}
			s.KH, s.SH = 1+r.IntN(min(7, s.H)), 1+r.IntN(4)
			s.KW, s.SW = s.KH, s.SH
			if r.IntN(3) == 0 {
				s.KW, s.SW = 1+r.IntN(min(9, s.W)), 1+r.IntN(4)
			}
			if r.IntN(6) == 0 {
				s.KH, s.KW = s.H, s.W
			}
			if r.IntN(2) == 0 {
				s.PH, s.PW = r.IntN(s.KH), r.IntN(s.KW)
			}
			s.OH, s.OW = outputs(s.H, s.KH, s.SH, s.PH), outputs(s.W, s.KW, s.SW, s.PW)
			if s.Meets() {
				testEveryAlgorithm(t, s)
			}
		}
	})
}

func testEveryAlgorithm(t *testing.T, s Shape) {
	m := kerneltest.HostMachine(t, 2)
	in, out := s.N*s.C*s.H*s.W, s.N*s.C*s.OH*s.OW
	x, dy := kerneltest.Values(in, 1), kerneltest.Values(out, 2)
	want, places := poolReference(s, x, 0)
	wantGrad := poolBackwardReference(s, dy, places)
	for _, d := range []shape.Direction{shape.Forward, shape.InputGradient} {
		for _, a := range able(t, m, s, d) {
			k, what := kernelBy(t, m, s, d, a), fmt.Sprintf("%v of %+v by %s", d, s, a.Name)
			y, dx, mask := make([]float32, out), make([]float32, in), make([]int32, out)
			if d == shape.InputGradient {
				copy(mask, places)
				if err := k.Backward(dy, mask, dx); err != nil {
					t.Fatal(err)
				}
				kerneltest.Near(t, what, dx, wantGrad, 4*s.KH*s.KW)
				continue
			}
			if err := k.Forward(x, y, mask, 0); err != nil {
				t.Fatal(err)
			}
			kerneltest.Near(t, what, y, want, 4*s.KH*s.KW)
			for i, at := range mask {
				if s.Method == Max && at != places[i] {
					t.Fatalf("%s: output %d took input %d, want %d", what, i, at, places[i])
				}
			}
		}
	}
}

// TestMeansHaveOneOrder: with every set of algorithms left out, one is willing to compute means.
func TestMeansHaveOneOrder(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	s := Shape{N: 1, C: 3, H: 3, W: 3, KH: 3, KW: 3, SH: 2, SW: 2, OH: 1, OW: 1, Method: Ave}
	for set := range 8 {
		var out []string
		for i, name := range []string{Global, ByPlanes, ByColumns} {
			if set>>i&1 == 1 {
				out = append(out, name)
			}
		}
		less := spec.WithoutAlgorithms(out...)
		p := &Problem{Shape: s, Direction: shape.Forward, Spec: &less}
		willing := 0
		e, err := algorithms.Explain(p, op.Force{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range e.Algorithms {
			if w.Refused == nil && w.Declined == nil {
				willing++
			}
		}
		if willing != 1 {
			t.Errorf("without %v %d algorithms are willing:\n%v", out, willing, e)
		}
	}
}
