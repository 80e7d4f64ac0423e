package gemm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// TestCosts: on the products of the zoo's nets that several algorithms may compute, the one of least cost takes about the least time, in training and in
// inference.
func TestCosts(t *testing.T) {
	for _, inference := range []bool{false, true} {
		t.Run(fmt.Sprintf("inference=%v", inference), func(t *testing.T) {
			table := kerneltest.CostTable{
				File: "testdata/costs.txt", Mean: 1.03, Most: 1.8,
				Runs: func(m *cpe.Machine, line string) map[string]func() error {
					p := problemOf(t, m, line, true)
					a, b, c := kerneltest.Values(p.Shape.M*p.Shape.K, 1), kerneltest.Values(p.Shape.K*p.Shape.N, 2), kerneltest.Values(p.Shape.M*p.Shape.N, 3)
					runs := map[string]func() error{}
					for _, al := range able(p) {
						k, err := al.Kernel(m, p)
						if err != nil {
							t.Fatal(err)
						}
						runs[al.Name] = func() error { return k.Run(a, b, nil, c) }
					}
					return runs
				},
				Pick: func(m *cpe.Machine, line string) (picked string, among []string) {
					p := problemOf(t, m, line, inference)
					for _, a := range able(p) {
						among = append(among, a.Name)
					}
					return chosen(t, p).Name, among
				},
			}
			table.Check(t)
		})
	}
}

// problemOf returns the product of a line of the table: "M x N x K" with T for a transposed A or B and + for one that is added to C.
func problemOf(t *testing.T, m *cpe.Machine, line string, inference bool) *Problem {
	t.Helper()
	var s Shape
	var flags string
	if _, err := fmt.Sscanf(line, "%d x %d x %d %s", &s.M, &s.N, &s.K, &flags); err != nil || len(flags) != 3 {
		t.Fatalf("%q is no product: %v", line, err)
	}
	s.TransA, s.TransB, s.Accumulate = flags[0] == 'T', flags[1] == 'T', flags[2] == '+'
	return problem(m, s, inference)
}

// able lists the algorithms that can compute a product.
func able(p *Problem) (list []*Algorithm) {
	for _, a := range algorithms.Algorithms {
		if a.Refuses(p) == nil {
			list = append(list, a)
		}
	}
	return list
}

// chosen returns the algorithm that is chosen for a product.
func chosen(t *testing.T, p *Problem) *Algorithm {
	t.Helper()
	c, err := algorithms.Choose(p, op.Force{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Algorithm
}

// TestEveryAlgorithm: every algorithm that can compute a product computes it right, on any number of core groups with the same bits, and those that a cost
// decides about in training have the bits of Packed.
func TestEveryAlgorithm(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(43, 1))
		_, nr := vgemm.Tile()
		shapes := []Shape{
			{M: 3, N: 250, K: 131, TransB: true}, {M: nr + 1, N: 301, K: 999, TransB: true}, {M: 2 * nr, N: 260, K: 1201, TransB: true},
			{M: nr, N: 259, K: 2048, TransB: true}, {M: 3*nr + 4, N: 5, K: 1201, TransB: true}, {M: 5, N: 1024, K: 613}, {M: 48, N: 1031, K: 525, Accumulate: true},
			{M: 1024, N: 40, K: 7, TransA: true, Accumulate: true}, {M: 2, N: 4099, K: 13}, {M: 1, N: 1, K: 20000}, {M: 96, N: 1400, K: 270},
		}
		for range 60 {
			extent := func(most int) int { return 1 + int(float64(most)*r.Float64()*r.Float64()*r.Float64()) }
			s := Shape{M: extent(300), N: extent(500), K: extent(1500), TransA: r.IntN(3) == 0, TransB: r.IntN(2) == 0, Accumulate: r.IntN(3) == 0}
			if r.IntN(4) == 0 {
				s.M = 1 + r.IntN(8)
			}
			shapes = append(shapes, s)
		}
		for i, s := range shapes {
			testEveryAlgorithm(t, s, !s.Accumulate && i%2 == 0)
		}
	})
}

func testEveryAlgorithm(t *testing.T, s Shape, biased bool) {
	a, b, start := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 3)
	want := multiply(s, a, b, start)
	var bias []float32
	if biased {
		bias = kerneltest.Values(s.N, 4)
		for i := range want {
			want[i] += float64(bias[i%s.N])
		}
	}
	run := func(m *cpe.Machine, p *Problem, al *Algorithm) []float32 {
		k, err := al.Kernel(m, p)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(start)
		if err := k.Run(a, b, bias, got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	one := kerneltest.HostMachine(t, 1)
	packed := run(one, problem(one, s, false), algorithms.Find(Packed))
	bits := map[string][]float32{}
	for _, groups := range []int{1, 2, 5} {
		m := kerneltest.HostMachine(t, groups)
		p := problem(m, s, true)
		for _, al := range able(p) {
			got, what := run(m, p, al), fmt.Sprintf("%v, bias %v, by %s on %d core groups", s, biased, al.Name, groups)
			kerneltest.Near(t, what, got, want, 4*s.K) // twice the tolerance, since this test compares a million sums
			if bits[al.Name] == nil {
				bits[al.Name] = got
			}
			kerneltest.SameBits(t, what, got, bits[al.Name])
			if al.General && al.Name != Dots {
				kerneltest.SameBits(t, what+", not like "+Packed, got, packed)
			}
		}
		if training := chosen(t, problem(m, s, false)); !training.General && !training.Special {
			t.Errorf("%v is computed by %s, whose sums are not those of training", s, training.Name)
		}
	}
}
