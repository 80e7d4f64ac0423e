package measure

import (
	"time"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/topology"
)

// memoryFigures compare all-reduce between goroutines with this computer's memory bandwidth. Every algorithm reads and writes the
// P arrays at least once. As a reference, P goroutines do the same: each multiplies the values of its own array in place.
type memoryFigures struct {
	Bytes     int64   `json:"bytes"`             // 2 P n
	Seconds   float64 `json:"pass_seconds"`      // time of the goroutines
	Bandwidth float64 `json:"pass_gbytes_per_s"` // Bytes / Seconds
	Share     float64 `json:"allreduce_share"`   // Seconds / time of the fastest all-reduce
	Fastest   string  `json:"fastest_allreduce"` // its algorithm
}

// measurePass returns, on rank 0, the median over iterations of the seconds for reading and writing all arrays once.
func (o *allreduceOptions) measurePass(t topology.Transport, l topology.Layout, data []float32) (float64, error) {
	m := newMeasurement(t, l)
	for range o.iterations {
		topology.FillProbe(data, t.Rank())
		if err := m.barrier.Run(nil); err != nil {
			return 0, err
		}
		start := time.Now()
		vec.Scale(data, data, 2)
		m.took = append(m.took, float32(time.Since(start).Seconds()))
	}
	return m.slowest()
}

// memory compares the seconds of a pass with the fastest all-reduce. It returns nil if no data was moved.
func (o *allreduceOptions) memory(rows []allreduceRow, pass float64) *memoryFigures {
	f := &memoryFigures{Bytes: 2 * int64(o.nodes) * o.bytes, Seconds: pass}
	if f.Bytes == 0 || pass == 0 {
		return nil
	}
	f.Bandwidth = float64(f.Bytes) / pass / 1e9
	least := rows[0]
	for _, row := range rows {
		if row.Seconds < least.Seconds {
			least = row
		}
	}
	f.Fastest, f.Share = least.Algorithm, pass/least.Seconds
	return f
}
