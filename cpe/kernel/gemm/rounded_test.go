package gemm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestRounded: products of rounded factors are right, on any number of core groups and at every level with the same bits, with weights that are packed in every
// run and with weights that are kept; kept ones are unpacked as rounded.
func TestRounded(t *testing.T) {
	for _, s := range racing.Few([]Shape{
		{M: 1, N: 1, K: 1, TransB: true}, {M: 1, N: 70, K: 45, TransB: true}, {M: 1, N: 64, K: 96}, {M: 3, N: 33, K: 31}, {M: 7, N: 250, K: 131, TransB: true},
		{M: 14, N: 40, K: 700, TransB: true}, {M: 15, N: 100, K: 1201, TransB: true}, {M: 50, N: 47, K: 600}, {M: 33, N: 16, K: 528, TransB: true},
	}) {
		t.Run(s.String(), func(t *testing.T) { testRounded(t, s) })
	}
}

func testRounded(t *testing.T, s Shape) {
	a, b, bias := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.N, 3)
	near := [2][]float32{slices.Clone(a), slices.Clone(b)}
	for _, list := range near {
		for i, v := range list {
			list[i] = vec.BFloat16(v)
		}
	}
	want := multiply(s, near[0], near[1], make([]float32, s.M*s.N))
	for i := range want {
		want[i] += float64(bias[i%s.N])
	}
	var first []float32
	for _, level := range racing.Few(isa.Levels()) {
		restore := isa.Use(level)
		for _, groups := range []int{1, 2, 5} {
			spec := kerneltest.HostSpec(t)
			m, err := NewInference(kerneltest.Uneven(t, spec.RoundingFactors(), groups), s)
			if err != nil {
				t.Fatal(err)
			}
			if m.Algorithm() != Rounded {
				t.Fatalf("computed by %s", m.Algorithm())
			}
			k, got := m.(Fixer), make([]float32, len(want))
			kept := new(op.Weights)
			for i, fixed := range []*op.Weights{nil, kept} {
				k.Fix(fixed)
				for _, factor := range [][]float32{b, nil}[:1+i] { // kept weights are not read
					for i := range got {
						got[i] = -1
					}
					if err := m.Run(a, factor, bias, got); err != nil {
						t.Fatal(err)
					}
					kerneltest.Near(t, fmt.Sprintf("%s, %d core groups", level, groups), got, want, s.K)
					if first == nil {
						first = slices.Clone(got)
					}
					if !slices.Equal(got, first) {
						t.Errorf("%s, %d core groups, kept %t: other bits than at first", level, groups, fixed != nil)
					}
				}
			}
			weights := make([]float32, len(b))
			if k.Form(kept).Restore(weights); k.Keeps(new(op.Weights)) || !slices.Equal(weights, near[1]) {
				t.Errorf("%s, %d core groups: weights are not restored as the rounded ones", level, groups)
			}
			if n := alloctest.PerRun(2, func() { err = m.Run(a, b, bias, got) }); n > 0 || err != nil {
				t.Errorf("%d allocations in a run, error %v", n, err)
			}
		}
		restore()
	}
}

// TestIntegers: products of integers are right, with the same bits on any number of core groups and at every level; only sums that 32 bits hold are computed.
func TestIntegers(t *testing.T) {
	for _, s := range racing.Few([]Shape{
		{M: 1, N: 1, K: 1, TransB: true}, {M: 1, N: 70, K: 45, TransB: true}, {M: 3, N: 33, K: 64}, {M: 14, N: 40, K: 700, TransB: true}, {M: 33, N: 16, K: 1900, TransB: true},
	}) {
		a, b, bias := kerneltest.Stepped(s.M*s.K, 1), kerneltest.Stepped(s.K*s.N, 2), kerneltest.Values(s.N, 3)
		want := multiply(s, a, b, make([]float32, s.M*s.N))
		for i := range want {
			want[i] += float64(bias[i%s.N])
		}
		var first []float32
		for _, level := range racing.Few(isa.Levels()) {
			restore := isa.Use(level)
			for _, groups := range []int{1, 2, 5} {
				k, err := NewIn(kerneltest.Uneven(t, kerneltest.HostSpec(t), groups), s, true, op.Quantised, kerneltest.Scales(s.N))
				if err != nil {
					t.Fatal(err)
				}
				if k.Algorithm() != Quantised {
					t.Fatalf("computed by %s", k.Algorithm())
				}
				got := make([]float32, len(want))
				for _, fixed := range []*op.Weights{nil, new(op.Weights)} {
					k.(Fixer).Fix(fixed)
					if err := k.Run(a, b, bias, got); err != nil {
						t.Fatal(err)
					}
					kerneltest.Near(t, fmt.Sprintf("%v, %s, %d core groups", s, level, groups), got, want, s.K)
					if first == nil {
						first = slices.Clone(got)
					}
					if !slices.Equal(got, first) {
						t.Errorf("%v, %s, %d core groups: other bits than at first", s, level, groups)
					}
				}
			}
			restore()
		}
	}
	for _, s := range []Shape{{M: 0, N: 2, K: 3, TransB: true}, {M: 2, N: 0, K: 3}, {M: 2, N: 2, K: 0}} { // no factors
		k, err := NewIn(kerneltest.HostMachine(t, 2), s, true, op.Quantised, kerneltest.Scales(s.N))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, s.M*s.N)
		if err := k.Run(make([]float32, s.M*s.K), make([]float32, s.K*s.N), []float32{3, 4}[:s.N], got); err != nil {
			t.Fatal(err)
		}
		if s.K == 0 && !slices.Equal(got, []float32{3, 4, 3, 4}) {
			t.Errorf("%v: %v", s, got)
		}
	}
	if _, err := NewIn(kerneltest.HostMachine(t, 1), Shape{M: 1, N: 2, K: 66312, TransB: true}, true, op.Quantised, kerneltest.Scales(2)); err == nil {
		t.Error("sums of 66312 products are computed")
	}
}
