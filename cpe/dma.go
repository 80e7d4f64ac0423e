package cpe

import (
	"fmt"
	"math"
	"slices"
)

// DMASpec describes transfers between main memory and LDM.
type DMASpec struct {
	LatencyNs        float64
	TransactionBytes int
	curves           []curve // ascending in cpes
}

// curve is the measured bandwidth of a core group of which a number of CPEs transfer at once.
type curve struct {
	cpes   int
	points []bandwidthPoint // ascending in blockBytes
}

// bandwidthPoint is one measured bandwidth in GB/s, for contiguous blocks of one length.
type bandwidthPoint struct {
	blockBytes int
	get, put   float64
}

// add enters a measured point.
func (d *DMASpec) add(cpes int, p bandwidthPoint) {
	i, found := slices.BinarySearchFunc(d.curves, cpes, func(c curve, n int) int { return c.cpes - n })
	if !found {
		d.curves = slices.Insert(d.curves, i, curve{cpes: cpes})
	}
	c := &d.curves[i]
	at, _ := slices.BinarySearchFunc(c.points, p.blockBytes, func(q bandwidthPoint, n int) int { return q.blockBytes - n })
	c.points = slices.Insert(c.points, at, p)
}

// peak is the best get bandwidth measured.
func (d DMASpec) peak() float64 {
	best := 0.0
	for _, c := range d.curves {
		for _, p := range c.points {
			best = max(best, p.get)
		}
	}
	return best
}

func (d DMASpec) validate(machine string) error {
	for _, c := range d.curves {
		for i, p := range c.points {
			if c.cpes < 1 || p.blockBytes < 1 || !(p.get > 0) || !(p.put > 0) {
				return fmt.Errorf("machine %q: dma.point with cpes %d, block_bytes %d, get_gbytes_per_s %g, put_gbytes_per_s %g: all must be positive",
					machine, c.cpes, p.blockBytes, p.get, p.put)
			}
			if i > 0 && p.blockBytes == c.points[i-1].blockBytes {
				return fmt.Errorf("machine %q: dma.point with cpes %d, block_bytes %d stands twice", machine, c.cpes, p.blockBytes)
			}
		}
	}
	return nil
}

// Bandwidth returns the bandwidth of a core group, in GB/s, when some of its CPEs transfer contiguous, aligned blocks of
// a length at once. Between measured points it interpolates linearly in the logarithms of block length and CPEs; below
// the shortest block and the fewest CPEs it scales down in proportion, and it holds the last value above the longest
// and the most.
func (d DMASpec) Bandwidth(cpes, blockBytes int, put bool) float64 {
	i, found := slices.BinarySearchFunc(d.curves, cpes, func(c curve, n int) int { return c.cpes - n })
	switch {
	case found:
		return d.curves[i].at(blockBytes, put)
	case i == 0:
		return d.curves[0].at(blockBytes, put) * float64(cpes) / float64(d.curves[0].cpes)
	case i == len(d.curves):
		return d.curves[i-1].at(blockBytes, put)
	}
	lo, hi := &d.curves[i-1], &d.curves[i]
	return interpolate(cpes, lo.cpes, hi.cpes, lo.at(blockBytes, put), hi.at(blockBytes, put))
}

// at reads the bandwidth for one block length.
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

// interpolate is linear in the logarithms of x and y.
func interpolate(x, x0, x1 int, y0, y1 float64) float64 {
	t := math.Log(float64(x)/float64(x0)) / math.Log(float64(x1)/float64(x0))
	return math.Exp(math.Log(y0) + t*(math.Log(y1)-math.Log(y0)))
}

// waste is how much longer a transfer takes because its blocks do not start where transactions do (Zheng 2019, eq. 3-2):
// blocks that lie one behind the other start at multiples of the greatest common divisor of their length and a
// transaction's, and touch 1 + (length-divisor)/transaction transactions in the mean.
func (d *DMASpec) waste(blockBytes int) float64 {
	t := d.TransactionBytes
	a, b := blockBytes, t
	for b != 0 {
		a, b = b, a%b
	}
	touched := 1 + float64(blockBytes-a)/float64(t)
	return touched / float64((blockBytes+t-1)/t)
}

// rateCache remembers the last few answers to "how long does a byte take".
type rateCache [64]struct {
	cpes, blockBytes int
	put              bool
	nsPerByte        float64
}

// transfer returns how long the DMA engine is busy with a number of blocks for each of some CPEs that transfer at once,
// and the start-up latency of one request.
func (g *CoreGroup) transfer(cpes, blockBytes int, blocks float64, put bool) (busy, latency VTime) {
	d := &g.machine.spec.DMA
	at := blockBytes/4 + 7*cpes
	if put {
		at += len(g.rates) / 2
	}
	slot := &g.rates[at%len(g.rates)]
	if slot.cpes != cpes || slot.blockBytes != blockBytes || slot.put != put {
		slot.cpes, slot.blockBytes, slot.put = cpes, blockBytes, put
		slot.nsPerByte = float64(cpes) / d.Bandwidth(cpes, blockBytes, put) * d.waste(blockBytes)
	}
	return fromNs(blocks * float64(blockBytes) * slot.nsPerByte), fromNs(d.LatencyNs)
}

// count enters bytes and requests in the ledger.
func (g *CoreGroup) count(bytes, requests int, put bool) {
	g.ledger.DMARequests += int64(requests)
	if put {
		g.ledger.PutBytes += int64(bytes)
	} else {
		g.ledger.GetBytes += int64(bytes)
	}
}
