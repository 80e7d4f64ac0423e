package topology

// probePeriod is the period of the probe values: a prime, so that a segment in the wrong place is detected.
const probePeriod = 1009

// MaxProbeRanks is the number of ranks up to which sums of probe values are exact in float32 in any order: all are multiples of 1/4 below
// 2^22.
const MaxProbeRanks = 2048

// FillProbe sets data to a rank's contribution to a checked all-reduce: rank + 1 + (i mod 1009)/4 at index i.
func FillProbe(data []float32, rank int) {
	for i := range data[:min(len(data), probePeriod)] {
		data[i] = float32(rank+1) + float32(i)/4
	}
	repeatProbe(data)
}

// CheckProbe returns the first index at which data is not the sum of size ranks' probe values, p(p+1)/2 + p (i mod 1009)/4, and the correct
// value. The index is -1 if all are correct.
func CheckProbe(data []float32, size int) (index int, want float32) {
	var sums [probePeriod]float32
	p := float32(size)
	for i := range sums {
		sums[i] = p*(p+1)/2 + p*float32(i)/4
	}
	for start := 0; start < len(data); start += probePeriod {
		for i, v := range data[start:min(start+probePeriod, len(data))] {
			if v != sums[i] {
				return start + i, sums[i]
			}
		}
	}
	return -1, 0
}

// repeatProbe copies the first period to the rest of the array.
func repeatProbe(data []float32) {
	for done := probePeriod; done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
}
