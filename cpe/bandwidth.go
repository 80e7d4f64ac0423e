package cpe

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/proto/machinepb"
)

// surface is a measured bandwidth as a function of the number of CPEs that transfer at once and the block length: curves in ascending order
// of CPEs.
type surface []curve

// curve is the measured bandwidth of a core group for one number of CPEs that transfer at once.
type curve struct {
	cpes   int
	points []bandwidthPoint // ascending in blockBytes
}

// bandwidthPoint is one measured bandwidth in GB/s, for contiguous blocks of one length.
type bandwidthPoint struct {
	blockBytes int
	get, put   float64
	index      int // index of the point in the machine's file
}

// add adds a measured point, the index-th of the file.
func (s *surface) add(m *machinepb.BandwidthPoint, index int) {
	p := bandwidthPoint{int(m.GetBlockBytes()), m.GetGetGbytesPerS(), m.GetPutGbytesPerS(), index}
	i, found := slices.BinarySearchFunc(*s, int(m.GetCpes()), func(c curve, n int) int { return c.cpes - n })
	if !found {
		*s = slices.Insert(*s, i, curve{cpes: int(m.GetCpes())})
	}
	c := &(*s)[i]
	at, _ := slices.BinarySearchFunc(c.points, p.blockBytes, func(q bandwidthPoint, n int) int { return q.blockBytes - n })
	c.points = slices.Insert(c.points, at, p)
}

// peak returns the highest measured get bandwidth.
func (s surface) peak() float64 {
	best := 0.0
	for _, c := range s {
		for _, p := range c.points {
			best = max(best, p.get)
		}
	}
	return best
}

// replaced returns the surface with another's curves in the place of its own, where there are both.
func (s surface) replaced(by surface) surface {
	all := slices.Clone(s)
	for _, c := range by {
		i, found := slices.BinarySearchFunc(all, c.cpes, func(c curve, n int) int { return c.cpes - n })
		if found {
			all[i] = c
		} else {
			all = slices.Insert(all, i, c)
		}
	}
	return all
}

// scaled returns the surface with every bandwidth multiplied by a factor.
func (s surface) scaled(by float64) surface {
	more := slices.Clone(s)
	for i, c := range more {
		more[i].points = slices.Clone(c.points)
		for k := range more[i].points {
			more[i].points[k].get *= by
			more[i].points[k].put *= by
		}
	}
	return more
}

// validate returns an error that names the first invalid point, or nil.
func (s surface) validate(field string) *FigureError {
	for _, c := range s {
		for i, p := range c.points {
			at := fmt.Sprintf("%s[%d]", field, p.index)
			if c.cpes < 1 || p.blockBytes < 1 || !usable(p.get) || !usable(p.put) {
				return &FigureError{at, fmt.Sprintf("has cpes %d, block_bytes %d, get_gbytes_per_s %g, put_gbytes_per_s %g: all must be positive, and rates finite and at least %g",
					c.cpes, p.blockBytes, p.get, p.put, leastRate)}
			}
			if i > 0 && p.blockBytes == c.points[i-1].blockBytes {
				at = fmt.Sprintf("%s[%d]", field, max(p.index, c.points[i-1].index))
				return &FigureError{at, fmt.Sprintf("with cpes %d, block_bytes %d stands twice", c.cpes, p.blockBytes)}
			}
		}
	}
	return nil
}

// at returns the bandwidth of a core group in GB/s. Between measured points it interpolates linearly in the logarithms of block length and
// number of CPEs. Below the shortest length and the fewest CPEs it scales down in proportion; above the longest and the most it is constant.
func (s surface) at(cpes, blockBytes int, put bool) float64 {
	i, found := slices.BinarySearchFunc(s, cpes, func(c curve, n int) int { return c.cpes - n })
	switch {
	case found:
		return s[i].at(blockBytes, put)
	case i == 0:
		return s[0].at(blockBytes, put) * float64(cpes) / float64(s[0].cpes)
	case i == len(s):
		return s[i-1].at(blockBytes, put)
	}
	lo, hi := &s[i-1], &s[i]
	return interpolate(cpes, lo.cpes, hi.cpes, lo.at(blockBytes, put), hi.at(blockBytes, put))
}

// at returns the bandwidth for one block length.
func (c *curve) at(blockBytes int, put bool) float64 {
	i, found := slices.BinarySearchFunc(c.points, blockBytes, func(p bandwidthPoint, n int) int { return p.blockBytes - n })
	switch {
	case found:
		return c.points[i].rate(put)
	case i == 0:
		return c.points[0].rate(put) * float64(blockBytes) / float64(c.points[0].blockBytes)
	case i == len(c.points):
		return c.points[i-1].rate(put)
	}
	lo, hi := &c.points[i-1], &c.points[i]
	return interpolate(blockBytes, lo.blockBytes, hi.blockBytes, lo.rate(put), hi.rate(put))
}

func (p *bandwidthPoint) rate(put bool) float64 {
	if put {
		return p.put
	}
	return p.get
}

// interpolate interpolates linearly in the logarithms of x and y.
func interpolate(x, x0, x1 int, y0, y1 float64) float64 {
	t := math.Log(float64(x)/float64(x0)) / math.Log(float64(x1)/float64(x0))
	return math.Exp(math.Log(y0) + t*(math.Log(y1)-math.Log(y0)))
}
