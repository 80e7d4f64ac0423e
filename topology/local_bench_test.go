package topology

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// BenchmarkLocal sums 64 MB between ranks of this process by every algorithm. However it is done, the P arrays are read and written
// once at least; "GB/s" is these 2 P n bytes over the median time, and "%pass" the share of it that the same number of goroutines take
// to multiply their arrays in place, which is measured right after every sum.
func BenchmarkLocal(b *testing.B) {
	const n = 16 << 20
	for _, p := range []int{2, 4} {
		arrays := make([][]float32, p)
		for r := range arrays {
			arrays[r] = make([]float32, n)
		}
		for _, algorithm := range Fixed() {
			b.Run(fmt.Sprintf("%s/%d", algorithm, p), func(b *testing.B) { benchmarkLocal(b, algorithm, arrays) })
		}
	}
}

func benchmarkLocal(b *testing.B, algorithm string, arrays [][]float32) {
	p, n := len(arrays), len(arrays[0])
	sums, passes := make([]float64, b.N), make([]float64, b.N)
	err := NewLocal(p).Run(func(t Transport) error {
		barrier := NewAllReduce(t, NewSchedule("recursive_doubling", Flat(p), 0))
		reduce := NewAllReduce(t, NewSchedule(algorithm, Flat(p), n))
		data := arrays[t.Rank()]
		timed := func(work func() error) (time.Duration, error) {
			FillProbe(data, t.Rank())
			if err := barrier.Run(nil); err != nil {
				return 0, err
			}
			start := time.Now()
			if err := work(); err != nil {
				return 0, err
			}
			err := barrier.Run(nil)
			return time.Since(start), err
		}
		for i := range b.N {
			sum, err := timed(func() error { return reduce.Run(data) })
			if err != nil {
				return err
			}
			pass, err := timed(func() error { vec.Scale(data, data, 2); return nil })
			if err != nil {
				return err
			}
			if t.Rank() == 0 {
				sums[i], passes[i] = sum.Seconds(), pass.Seconds()
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(sums)
	slices.Sort(passes)
	sum, pass := sums[b.N/2], passes[b.N/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1e3*sum, "ms/sum")
	b.ReportMetric(float64(2*p*n*bytesPerValue)/sum/1e9, "GB/s")
	b.ReportMetric(100*pass/sum, "%pass")
}
