package faultnet

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/topology"
)

// allReduce sums arrays several times by a drawn algorithm. If workers are lost, those that are left, with the lost ones started again or
// without them, then do it once more.
func allReduce(s schedule) (trace uint64, err error) {
	n, runs, adds := s.random.IntN(40), 1+s.random.IntN(3), s.random.IntN(2) == 0
	trace, errs, err := s.sums(s.size, n, runs, adds, s.faults)
	if err != nil || slices.IndexFunc(errs, func(err error) bool { return err != nil }) < 0 {
		return trace, err
	}
	size := s.size
	if s.random.IntN(2) == 0 {
		size = max(1, size-len(s.faults.Lost))
	}
	after, errs, err := s.sums(size, n, runs, adds, s.calm())
	if failed := errors.Join(errs...); err == nil && failed != nil {
		err = fmt.Errorf("%d workers after the loss: %w", size, failed)
	}
	return trace + after, err
}

func (s schedule) sums(size, n, runs int, adds bool, f Faults) (trace uint64, errs []error, err error) {
	reducer := s.reducer(size, n)
	net := New(size, f)
	results := make([][]float32, size)
	errs = net.Run(func(t topology.Transport) error {
		if adds {
			t = Shared(t)
		}
		data, reduce := make([]float32, n), reducer(t)
		for run := range runs {
			topology.FillProbe(data, t.Rank())
			if err := reduce.Run(data); err != nil {
				return err
			}
			if i, want := topology.CheckProbe(data, size); i >= 0 {
				return fmt.Errorf("sum %d, value %d of %d is %g, want %g", run, i, n, data[i], want)
			}
		}
		for i := range data {
			data[i] = 1 / float32(1+t.Rank()+i)
		}
		if err := reduce.Run(data); err != nil {
			return err
		}
		results[t.Rank()] = data
		return nil
	})
	if err = judge(f, errs); err != nil {
		return 0, errs, err
	}
	for r := 1; r < size; r++ {
		if errs[0] == nil && errs[r] == nil && !slices.Equal(results[0], results[r]) {
			return 0, errs, fmt.Errorf("the sums of ranks 0 and %d have different bits", r)
		}
	}
	return net.Trace(), errs, nil
}

// buckets are the messages of strategy sync: parts of the gradient that another goroutine sums while the worker computes, and a table of the
// workers' rows from time to time.
func buckets(s schedule) (trace uint64, err error) {
	lengths := make([]int, 1+s.random.IntN(4))
	for i := range lengths {
		lengths[i] = s.random.IntN(30)
	}
	iterations := 1 + s.random.IntN(4)
	var make1 []func(t topology.Transport) interface{ Run([]float32) error }
	for _, n := range lengths {
		make1 = append(make1, s.reducer(s.size, n))
	}
	table := s.reducer(s.size, 2*s.size)
	net := New(s.size, s.faults)
	errs := net.Run(func(t topology.Transport) error {
		var sums []interface{ Run([]float32) error }
		for _, m := range make1 {
			sums = append(sums, m(t))
		}
		rows := table(t)
		for iter := range iterations {
			if err := sumBuckets(t, sums, lengths); err != nil {
				return err
			}
			row := make([]float32, 2*s.size)
			row[2*t.Rank()], row[2*t.Rank()+1] = float32(iter), float32(t.Rank())
			if err := rows.Run(row); err != nil {
				return err
			}
			for r := range s.size {
				if row[2*r] != float32(iter) || row[2*r+1] != float32(r) {
					return fmt.Errorf("rank %d is at iteration %g in the table of rank %d, want %d", r, row[2*r], t.Rank(), iter)
				}
			}
		}
		return nil
	})
	return net.Trace(), judge(s.faults, errs)
}

// sumBuckets sums arrays in a goroutine of its own, in order, as they become ready.
func sumBuckets(t topology.Transport, sums []interface{ Run([]float32) error }, lengths []int) error {
	ready := make(chan int, len(sums))
	data := make([][]float32, len(sums))
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := range ready {
			if failed == nil {
				failed = sums[k].Run(data[k])
			}
		}
	})
	for k, n := range lengths {
		data[k] = make([]float32, n)
		topology.FillProbe(data[k], t.Rank())
		ready <- k
	}
	close(ready)
	wg.Wait()
	if failed != nil {
		return failed
	}
	for k := range data {
		if i, want := topology.CheckProbe(data[k], t.Size()); i >= 0 {
			return fmt.Errorf("bucket %d: value %d is %g, want %g", k, i, data[k][i], want)
		}
	}
	return nil
}
