package cpe

import (
	"fmt"
	"slices"
)

// PartialPut is the time of a queue, in nanoseconds, for the transactions that a block covers in part when it is put.
type PartialPut struct {
	OneNs float64 // at one of its ends
	TwoNs float64 // at both
}

// queuedNs is TransferNs where requests wait in one queue.
func (d *DMASpec) queuedNs(cpes, blockBytes int, blocks float64, put bool) (stream, wait float64) {
	stream = float64(cpes) * blocks * d.blockNs(cpes, blockBytes, put)
	if len(d.single) == 0 {
		return stream, d.LatencyNs
	}
	var each float64
	if blocks == 1 {
		each = d.aligned(blockBytes, func(start int) float64 { return d.aloneNs(d.touched(start, blockBytes), put) })
	} else {
		each = d.aloneNs(max(1, int(float64(blockBytes)*blocks+0.5)), put)
	}
	return stream, max(0, each-stream)
}

// aloneNs is the time of a request of one CPE while no other makes any. Between measured lengths it grows linearly.
func (d *DMASpec) aloneNs(bytes int, put bool) float64 {
	c := &d.single[0]
	i, found := slices.BinarySearchFunc(c.points, bytes, func(p bandwidthPoint, n int) int { return p.blockBytes - n })
	if found || i == 0 || i == len(c.points) {
		return float64(bytes) / c.at(bytes, put)
	}
	lo, hi := &c.points[i-1], &c.points[i]
	from, to := float64(lo.blockBytes)/lo.rate(put), float64(hi.blockBytes)/hi.rate(put)
	return from + (to-from)*float64(bytes-lo.blockBytes)/float64(hi.blockBytes-lo.blockBytes)
}

// blockNs is the time that the queue of some CPEs spends on a block, on average over the places where blocks start.
func (d *DMASpec) blockNs(cpes, blockBytes int, put bool) float64 {
	return d.aligned(blockBytes, func(start int) float64 {
		if !put || d.PartialPut == (PartialPut{}) {
			n := d.touched(start, blockBytes)
			return float64(n) / d.rate(cpes, n, put)
		}
		return d.putNs(cpes, start, blockBytes)
	})
}

// putNs is the time that the queue spends on a put that starts some bytes after a transaction boundary.
func (d *DMASpec) putNs(cpes, start, bytes int) float64 {
	t, end := d.TransactionBytes, start+bytes
	first, last := (start+t-1)/t, end/t // whole transactions
	ns := 0.0
	if last > first {
		ns = float64((last-first)*t) / d.rate(cpes, (last-first)*t, true)
	}
	switch cut := start%t != 0; {
	case last < first: // inside one transaction
		return d.PartialPut.OneNs
	case cut && end%t != 0:
		ns += d.PartialPut.TwoNs
	case cut || end%t != 0:
		ns += d.PartialPut.OneNs
	}
	return ns
}

// touched returns the bytes of a request that starts some bytes after a transaction boundary, in whole transactions if it touches several.
func (d *DMASpec) touched(start, bytes int) int {
	t := d.TransactionBytes
	if start+bytes <= t {
		return bytes
	}
	return (start + bytes + t - 1) / t * t
}

// aligned returns the mean of a figure over the places where blocks of a length start: at all multiples of its greatest common divisor with
// the transaction length, or at the machine's offset.
func (d *DMASpec) aligned(blockBytes int, figure func(start int) float64) float64 {
	if d.Aligned {
		return figure(d.Offset)
	}
	step, sum := gcd(blockBytes, d.TransactionBytes), 0.0
	for start := 0; start < d.TransactionBytes; start += step {
		sum += figure(start)
	}
	return sum / float64(d.TransactionBytes/step)
}

// WithOffset returns the machine where all blocks in memory start a number of bytes after a transaction boundary, to see what that costs.
func (s Spec) WithOffset(bytes int) (Spec, error) {
	if bytes < 0 || bytes >= s.DMA.TransactionBytes {
		return s, fmt.Errorf("offset %d: machine %q has transactions of %d bytes, and offsets below that", bytes, s.Name, s.DMA.TransactionBytes)
	}
	s.DMA.Aligned, s.DMA.Offset = true, bytes
	return s, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
