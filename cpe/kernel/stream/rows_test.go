package stream

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestRows: rows that are named often and never, short and long ones, few and more than one core group gets, on all machines and numbers
// of cores. Sums are those of the order of the indices, bit by bit.
func TestRows(t *testing.T) {
	check := func(t *testing.T, m *cpe.Machine) {
		for _, cols := range []int{1, 5, 37, 700} {
			for _, n := range []int{0, 3, 900} {
				const rows = 150
				index := make([]int, n)
				for k := range index {
					index[k] = k * k % rows
				}
				table, moved := kerneltest.Values(rows*cols, 1), kerneltest.Values(n*cols, 2)
				gathered, sums := make([]float32, n*cols), slices.Clone(table)
				for i := range gathered {
					at := index[i/cols]*cols + i%cols
					gathered[i] = table[at]
					sums[at] += moved[i]
				}
				r, err := NewRows(m, cols)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float32, n*cols)
				if err := r.Gather(got, table, index); err != nil {
					t.Fatal(err)
				}
				if err := r.Scatter(table, moved, index); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, gathered) {
					t.Errorf("%d rows of %d: gathered otherwise", n, cols)
				}
				if !slices.Equal(table, sums) {
					t.Errorf("%d rows of %d: added up otherwise", n, cols)
				}
			}
		}
	}
	kerneltest.OnMachines(t, check)
	t.Run("3 cores", func(t *testing.T) { check(t, kerneltest.HostMachine(t, 3)) })
}
