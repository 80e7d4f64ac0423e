// Package commtest holds the contract of transports and of the collectives on them: whatever a rank's transport is, every
// algorithm must leave the sum over ranks in every rank's array, the same bits on each, and nothing beside it.
package commtest

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/topology"
)

// guard is how many values beside the array must stay as they are, and guardValue what they are.
const (
	guard      = 16
	guardValue = -12345.5
)

// Sizes are the lengths that the contract is held at for p ranks: nothing, fewer values than ranks, as many, one more, and
// longer ones that p divides and does not.
func Sizes(p int) []int { return []int{0, 1, p - 1, p, p + 1, 1029, 1 << 20} }

// Check holds the rank's transport to the contract for one algorithm: at every one of Sizes up to longest, and for
// values whose sums are rounded. Every rank of the layout calls it.
func Check(t topology.Transport, l topology.Layout, algorithm string, longest int) error {
	for _, n := range Sizes(t.Size()) {
		if n > longest {
			continue
		}
		if err := AllReduce(t, l, algorithm, n); err != nil {
			return err
		}
	}
	return SameBits(t, l, algorithm, 1029)
}

// AllReduce runs the rank's part of an all-reduce of n values by an algorithm twice, and checks the sums and what lies
// around them.
func AllReduce(t topology.Transport, l topology.Layout, algorithm string, n int) error {
	buffer := make([]float32, n+2*guard)
	for i := range guard {
		buffer[i], buffer[guard+n+i] = guardValue, guardValue
	}
	data := buffer[guard : guard+n : guard+n]
	reduce := topology.NewAllReduce(t, topology.NewSchedule(algorithm, l, n))
	for range 2 {
		topology.FillProbe(data, t.Rank())
		if err := reduce.Run(data); err != nil {
			return err
		}
		if i, want := topology.CheckProbe(data, t.Size()); i >= 0 {
			return fmt.Errorf("%s of %d values: value %d is %g, want %g", algorithm, n, i, data[i], want)
		}
	}
	for i := range guard {
		for _, at := range []int{i, guard + n + i} {
			if buffer[at] != guardValue {
				return fmt.Errorf("%s of %d values: something was written at %d beside the array", algorithm, n, at-guard)
			}
		}
	}
	return nil
}

// SameBits checks that an all-reduce of values whose sums are not exact gives every rank the same bits: rank 0's checksum
// is compared with every rank's.
func SameBits(t topology.Transport, l topology.Layout, algorithm string, n int) error {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(math.Sin(float64(i*t.Size() + t.Rank())))
	}
	if err := topology.NewAllReduce(t, topology.NewSchedule(algorithm, l, n)).Run(data); err != nil {
		return err
	}
	other := make([]float32, n)
	if t.Rank() > 0 {
		return t.Send(0, data)
	}
	for r := 1; r < t.Size(); r++ {
		if err := t.Recv(r, other); err != nil {
			return err
		}
		for i := range data {
			if math.Float32bits(data[i]) != math.Float32bits(other[i]) {
				return fmt.Errorf("%s of %d values: value %d is %g on rank 0 and %g on rank %d", algorithm, n, i, data[i], other[i], r)
			}
		}
	}
	return nil
}
