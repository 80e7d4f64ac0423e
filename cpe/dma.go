package cpe

// DMASpec describes transfers between main memory and LDM.
type DMASpec struct {
	LatencyNs        float64
	TransactionBytes int
	MaxPending       int  // requests that one CPE can have under way
	OverlapsBuses    bool // transfers hide behind accumulating products as well
	NeverOverlaps    bool // transfers hide behind nothing
	Aligned          bool // blocks are taken to start where transactions do

	limit   float64 // what a core group gets at most of memory that it shares, in GB/s; 0: nothing limits it
	strided surface // long transfers, by the length of their blocks, which are contiguous and aligned
	single  surface // one request a CPE, by its length; empty: not measured
}

// Peak returns the best bandwidth measured of one core group, in GB/s.
func (d *DMASpec) Peak() float64 { return d.strided.peak() }

// scaled returns the same with every measured bandwidth multiplied.
func (d DMASpec) scaled(by float64) DMASpec {
	d.strided, d.single = d.strided.scaled(by), d.single.scaled(by)
	return d
}

// TransferNs returns how long one request of each of some CPEs keeps the DMA engine streaming, in nanoseconds, and how much
// longer a CPE waits for a request that it makes alone. Each request brings a number of blocks of a length.
//
// A long request streams at the bandwidth for its blocks. A short one takes what single requests of its size were measured
// to take, however little they bring: about 66 ns for every CPE that makes one.
func (d *DMASpec) TransferNs(cpes, blockBytes int, blocks float64, put bool) (stream, wait float64) {
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

// rate is the bandwidth of a long transfer.
func (d *DMASpec) rate(cpes, blockBytes int, put bool) float64 {
	if r := d.strided.at(cpes, blockBytes, put); d.limit == 0 || r < d.limit {
		return r
	}
	return d.limit
}

// waste is how much longer a transfer takes because its blocks do not start where transactions do (Fang 2019, eq. 3-2):
// blocks that lie one behind the other start at multiples of the greatest common divisor of their length and a
// transaction's, and touch 1 + (length-divisor)/transaction transactions in the mean.
func (d *DMASpec) waste(blockBytes int) float64 {
	if d.Aligned {
		return 1
	}
	t := d.TransactionBytes
	a, b := blockBytes, t
	for b != 0 {
		a, b = b, a%b
	}
	touched := 1 + float64(blockBytes-a)/float64(t)
	return touched / float64((blockBytes+t-1)/t)
}

// transferKey is what the time of a request depends on.
type transferKey struct {
	cpes, blockBytes int
	blocks           float64
	put              bool
	groups           int // that share the memory
}

// rateCache remembers the last few answers to "how long does a request take".
type rateCache [64]struct {
	transferKey
	stream, wait VTime
}

// transfer returns how long the DMA engine streams for one request of each of some CPEs at once, and how much longer a CPE
// waits for a request that it makes alone.
func (g *CoreGroup) transfer(cpes, blockBytes int, blocks float64, put bool) (stream, wait VTime) {
	key := transferKey{cpes, blockBytes, blocks, put, g.of}
	at := blockBytes/4 + 7*cpes + 3*int(blocks)
	if put {
		at += len(g.rates) / 2
	}
	slot := &g.rates[at%len(g.rates)]
	if slot.transferKey != key {
		dma := g.machine.spec.dmaOf(g.of)
		s, w := dma.TransferNs(cpes, blockBytes, blocks, put)
		slot.transferKey, slot.stream, slot.wait = key, fromNs(s), fromNs(w)
	}
	return slot.stream, slot.wait
}

// dmaOf is the machine's DMA while a number of core groups share its memory.
func (s *Spec) dmaOf(groups int) DMASpec {
	dma := s.DMA
	dma.limit = s.Memory.GBps / float64(max(1, groups))
	return dma
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
