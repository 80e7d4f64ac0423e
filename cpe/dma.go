package cpe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// DMASpec describes transfers between main memory and LDM.
type DMASpec struct {
	LatencyNs        float64
	TransactionBytes int
	MaxPending       int  // largest number of outstanding requests of a CPE
	OverlapsBuses    bool // transfers overlap accumulating products too
	NeverOverlaps    bool // transfers overlap nothing
	Aligned          bool // assume that all blocks start Offset bytes after a transaction boundary
	Offset           int
	Queued           bool // requests of all CPEs wait in one queue
	PartialPut       PartialPut

	curves []namedSurface // published measurements of strided, the default one first; empty: it has no name
	use    string         // name of the one in use, if the file says so

	limit   float64 // upper limit of a core group's share of memory bandwidth in GB/s; 0: none
	strided surface // bandwidth of long transfers, by the length of their contiguous, aligned blocks
	single  surface // bandwidth of one request per CPE, by its length; empty: not measured
}

// HasDMA reports whether CPEs compute on tiles in LDM, which DMA copies from and to main memory and which is charged. Without DMA they
// compute in main memory itself, and caches bring it near; this computer does.
func (s *Spec) HasDMA() bool { return len(s.DMA.strided) > 0 }

// Peak returns the highest measured bandwidth of one core group, in GB/s.
func (d *DMASpec) Peak() float64 { return d.strided.peak() }

// namedSurface is a published measurement.
type namedSurface struct {
	name string
	surface
}

// Curves returns the names of the published measurements of strided transfers, the default one first. A machine with one source has none.
func (s *Spec) Curves() []string {
	var names []string
	for _, c := range s.DMA.curves {
		names = append(names, c.name)
	}
	return names
}

// Curve returns the name of the one in use, "" on a machine with one source.
func (s *Spec) Curve() string {
	if s.DMA.use == "" && len(s.DMA.curves) > 0 {
		return s.DMA.curves[0].name
	}
	return s.DMA.use
}

// WithCurve returns the machine with another published measurement of strided transfers.
func (s Spec) WithCurve(name string) (Spec, error) {
	err := s.DMA.choose(name)
	return s, err
}

// choose puts a curve to use.
func (d *DMASpec) choose(name string) error {
	for _, c := range d.curves {
		if c.name == name {
			d.strided, d.use = c.surface, name
			return nil
		}
	}
	var names []string
	for _, c := range d.curves {
		names = append(names, c.name)
	}
	if len(names) == 0 {
		return fmt.Errorf("curve %q: the machine's file names no curves", name)
	}
	return fmt.Errorf("unknown curve %q%s (curves: %s)", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
}

// scaled returns the description with every measured bandwidth multiplied by a factor.
func (d DMASpec) scaled(by float64) DMASpec {
	d.strided, d.single = d.strided.scaled(by), d.single.scaled(by)
	d.PartialPut = PartialPut{d.PartialPut.OneNs / by, d.PartialPut.TwoNs / by}
	d.curves = slices.Clone(d.curves)
	for i := range d.curves {
		d.curves[i].surface = d.curves[i].scaled(by)
	}
	return d
}

// TransferNs returns two times in nanoseconds for one request of each of some CPEs: how long the DMA engine streams, and how much longer a
// CPE waits for a single request. Each request transfers a number of blocks of one length.
//
// A long request streams at the bandwidth for its blocks. A short one takes the measured time of single requests of its size, however little
// it transfers: about 66 ns for each CPE on the SW26010.
func (d *DMASpec) TransferNs(cpes, blockBytes int, blocks float64, put bool) (stream, wait float64) {
	if d.Queued {
		return d.queuedNs(cpes, blockBytes, blocks, put)
	}
	bytes := float64(cpes) * float64(blockBytes) * blocks
	waste := d.waste(blockBytes)
	if len(d.single) == 0 {
		return bytes / d.rate(cpes, blockBytes, put) * waste, d.LatencyNs
	}
	if blocks == 1 {
		blockBytes = int(float64(blockBytes)*waste + 0.5)
		bytes, waste = float64(cpes)*float64(blockBytes), 1
	}
	each := max(1, int(float64(blockBytes)*blocks+0.5))
	alone := float64(cpes) * float64(each) / d.single.at(cpes, each, put)
	stream = bytes / d.rate(cpes, blockBytes, put) * waste
	if blocks == 1 && d.limit == 0 {
		stream = min(stream, alone)
	}
	return stream, max(0, alone-stream)
}

// rate returns the bandwidth of a long transfer.
func (d *DMASpec) rate(cpes, blockBytes int, put bool) float64 {
	if r := d.strided.at(cpes, blockBytes, put); d.limit == 0 || r < d.limit {
		return r
	}
	return d.limit
}

// waste is the factor by which a transfer takes longer because its blocks do not start at transaction boundaries (Fang 2019, eq. 3-2).
// Consecutive blocks start at multiples of the greatest common divisor of the block length and the transaction length. On average they touch
// 1 + (length-divisor)/transaction transactions.
func (d *DMASpec) waste(blockBytes int) float64 {
	t := d.TransactionBytes
	least := float64((blockBytes + t - 1) / t)
	if d.Aligned {
		return float64((d.Offset+blockBytes+t-1)/t) / least
	}
	touched := 1 + float64(blockBytes-gcd(blockBytes, t))/float64(t)
	return touched / least
}

// transferKey holds the parameters that determine the time of a request.
type transferKey struct {
	cpes, blockBytes int
	blocks           float64
	put              bool
	groups           int // core groups that share the memory
}

// rateCache remembers the times of the last few kinds of requests.
type rateCache [64]struct {
	transferKey
	stream, wait VTime
}

// transfer returns how long the DMA engine streams for one simultaneous request of each of some CPEs, and how much longer a CPE waits for a
// single request.
func (g *CoreGroup) transfer(cpes, blockBytes int, blocks float64, put bool) (stream, wait VTime) {
	key := transferKey{cpes, blockBytes, blocks, put, g.machine.of}
	at := blockBytes/4 + 7*cpes + 3*int(blocks)
	if put {
		at += len(g.rates) / 2
	}
	slot := &g.rates[at%len(g.rates)]
	if slot.transferKey != key {
		dma := g.machine.spec.dmaOf(g.machine.of)
		s, w := dma.TransferNs(cpes, blockBytes, blocks, put)
		slot.transferKey, slot.stream, slot.wait = key, fromNs(s), fromNs(w)
	}
	return slot.stream, slot.wait
}

// dmaOf returns the machine's DMA while the given number of core groups share its memory.
func (s *Spec) dmaOf(groups int) DMASpec {
	dma := s.DMA
	dma.limit = s.Memory.GBps / float64(max(1, groups))
	return dma
}

// count adds bytes and requests to the ledger.
func (g *CoreGroup) count(bytes, requests int, put bool) {
	g.ledger.DMARequests += int64(requests)
	if put {
		g.ledger.PutBytes += int64(bytes)
	} else {
		g.ledger.GetBytes += int64(bytes)
	}
}
