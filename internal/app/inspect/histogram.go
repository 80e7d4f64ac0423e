package inspect

import (
	"math"

	"github.com/swcaffe/swcaffe/solver/events"
)

// buckets is the number of a Histogram's buckets.
const buckets = 40

// Histogram describes values: their extremes, mean and deviation, and their counts in equal intervals from Min to Max.
type Histogram struct {
	Count     int           `json:"count"`
	NonFinite int           `json:"non_finite"` // NaN or infinite; the other fields are of the rest
	Zeros     int           `json:"zeros"`
	Min       events.Number `json:"min"`
	Max       events.Number `json:"max"`
	Mean      events.Number `json:"mean"`
	Deviation events.Number `json:"deviation"`
	RMS       events.Number `json:"rms"`
	Counts    []int         `json:"counts"`
}

// NewHistogram counts values.
func NewHistogram(values []float32) Histogram {
	h := Histogram{Count: len(values), Counts: make([]int, buckets)}
	low, high := math.Inf(1), math.Inf(-1)
	var sum, squares float64
	for _, x := range values {
		v := float64(x)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			h.NonFinite++
			continue
		}
		if v == 0 {
			h.Zeros++
		}
		low, high = min(low, v), max(high, v)
		sum += v
		squares += v * v
	}
	n := float64(h.Count - h.NonFinite)
	if n == 0 {
		return h
	}
	mean := sum / n
	var spread float64
	for _, x := range values {
		v := float64(x)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		spread += (v - mean) * (v - mean)
		h.Counts[bucket(v, low, high)]++
	}
	h.Min, h.Max, h.Mean = events.Number(low), events.Number(high), events.Number(mean)
	h.Deviation, h.RMS = events.Number(math.Sqrt(spread/n)), events.Number(math.Sqrt(squares/n))
	return h
}

// bucket returns the interval of a value. All equal values are in the middle one.
func bucket(v, low, high float64) int {
	if high == low {
		return buckets / 2
	}
	return min(buckets-1, int(buckets*(v-low)/(high-low)))
}

// Limits returns the upper ends of the buckets.
func (h *Histogram) Limits() []float64 {
	low, high := float64(h.Min), float64(h.Max)
	list := make([]float64, buckets)
	for i := range list {
		list[i] = low + (high-low)*float64(i+1)/buckets
	}
	list[buckets-1] = high
	return list
}
