package op

import (
	"time"

	"github.com/swcaffe/swcaffe/cpe"
)

// A measurement runs every kernel leastRuns times, and up to mostRuns times until all runs together have taken enoughTime. The shortest time
// counts, because other programs can only lengthen a run.
const (
	leastRuns  = 4
	mostRuns   = 50
	enoughTime = 200 * time.Millisecond
)

// Measure runs, by turns, kernels of all algorithms that support a problem, and enters their times in an explanation of it. run runs a kernel once.
func (l *List[S, K]) Measure(m *cpe.Machine, p *Problem[S], e *Explanation, run func(k K) error) error {
	type candidate struct {
		kernel K
		row    *Weighed
	}
	var all []candidate
	for i := range e.Algorithms {
		w := &e.Algorithms[i]
		if w.Refused != nil {
			continue
		}
		k, err := l.Find(w.Name).Kernel(m, p)
		if err != nil {
			return err
		}
		if err := run(k); err != nil { // warms up
			return err
		}
		all = append(all, candidate{k, w})
	}
	began := time.Now()
	for n := 0; n < leastRuns || n < mostRuns && time.Since(began) < enoughTime; n++ {
		for _, c := range all {
			start := time.Now()
			if err := run(c.kernel); err != nil {
				return err
			}
			if took := time.Since(start); c.row.Measured == 0 || took < c.row.Measured {
				c.row.Measured = took
			}
		}
	}
	return nil
}
