// Package commtest tests the contract of transports and of the collectives on them. On any transport, every algorithm must leave the sum over
// ranks in every rank's array, with the same bits on every rank, and must not write outside the array.
package commtest

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/topology"
)

// guard is the number of values around the array that must not change; guardValue is their value.
const (
	guard      = 16
	guardValue = -12345.5
)

// Sizes returns the array lengths to test for p ranks: 0, fewer values than ranks, as many, one more, and longer ones that p divides or does
// not divide.
func Sizes(p int) []int { return []int{0, 1, p - 1, p, p + 1, 1029, 1 << 20} }

// Check tests one algorithm on the rank's transport: at every one of Sizes up to longest, and with values whose sums are rounded. Every rank
// of the layout calls it.
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

// AllReduce runs the rank's part of an all-reduce of n values twice, and checks the sums and the values around them.
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

// SameBits checks that an all-reduce with rounded sums gives every rank the same bits: it compares every rank's checksum with rank 0's.
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
