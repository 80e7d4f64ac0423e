package cpe

import (
	"fmt"
	"math"
	"slices"
)

// bandwidthPoint is one measured bandwidth of a core group, in GB/s, for blocks of one length.
type bandwidthPoint struct {
	cpes, blockBytes int
	get, put         float64
}

// peak is the best get bandwidth measured.
func (d DMASpec) peak() float64 {
	best := 0.0
	for _, p := range d.points {
		best = max(best, p.get)
	}
	return best
}

func (d DMASpec) validate(machine string) error {
	for _, p := range d.points {
		if p.cpes < 1 || p.blockBytes < 1 || !(p.get > 0) || !(p.put > 0) {
			return fmt.Errorf("machine %q: dma.point with cpes %d, block_bytes %d, get %g, put %g: all must be positive", machine, p.cpes, p.blockBytes, p.get, p.put)
		}
	}
	return nil
}

// Bandwidth returns the bandwidth of a core group, in GB/s, when some of its CPEs transfer contiguous blocks of a
// length at once. Between measured points it interpolates linearly in the logarithms of block length and CPEs; outside
// them it scales down in proportion to the block below the shortest, and holds the last value above the longest.
func (d DMASpec) Bandwidth(cpes, blockBytes int, put bool) float64 {
	counts := d.counts()
	i, found := slices.BinarySearch(counts, cpes)
	switch {
	case found:
		return d.curve(cpes, blockBytes, put)
	case i == 0:
		return d.curve(counts[0], blockBytes, put) * float64(cpes) / float64(counts[0])
	case i == len(counts):
		return d.curve(counts[i-1], blockBytes, put)
	}
	lo, hi := counts[i-1], counts[i]
	return interpolate(cpes, lo, hi, d.curve(lo, blockBytes, put), d.curve(hi, blockBytes, put))
}

// counts are the numbers of CPEs that were measured, ascending.
func (d DMASpec) counts() []int {
	var cs []int
	for _, p := range d.points {
		if !slices.Contains(cs, p.cpes) {
			cs = append(cs, p.cpes)
		}
	}
	slices.Sort(cs)
	return cs
}

// curve reads the bandwidth at one measured number of CPEs.
func (d DMASpec) curve(cpes, blockBytes int, put bool) float64 {
	var below, above *bandwidthPoint
	for i := range d.points {
		p := &d.points[i]
		if p.cpes != cpes {
			continue
		}
		if p.blockBytes <= blockBytes && (below == nil || p.blockBytes > below.blockBytes) {
			below = p
		}
		if p.blockBytes >= blockBytes && (above == nil || p.blockBytes < above.blockBytes) {
			above = p
		}
	}
	switch {
	case below == nil:
		return above.rate(put) * float64(blockBytes) / float64(above.blockBytes)
	case above == nil || below == above:
		return below.rate(put)
	}
	return interpolate(blockBytes, below.blockBytes, above.blockBytes, below.rate(put), above.rate(put))
}

func (p *bandwidthPoint) rate(put bool) float64 {
	if put {
		return p.put
	}
	return p.get
}

// interpolate is linear in the logarithms of x and y.
func interpolate(x, x0, x1 int, y0, y1 float64) float64 {
	t := math.Log(float64(x)/float64(x0)) / math.Log(float64(x1)/float64(x0))
	return math.Exp(math.Log(y0) + t*(math.Log(y1)-math.Log(y0)))
}
