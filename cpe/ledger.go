package cpe

// Ledger sums the costs of modelled kernels. On a native machine it stays zero.
type Ledger struct {
	// Time is the time of the slowest core group, summed over kernels.
	Time VTime
	// Compute, DMA, Bus and Latency are that group's slowest CPE's times by cause. Double-buffered transfers overlap computing, so that the
	// causes can sum to more than Time. Latency is the start-up time of transfers and buses.
	Compute, DMA, Bus, Latency VTime
	MPE                        VTime // time of the management core

	// Totals over all core groups.
	Flops       float64
	GetBytes    int64 // from memory to LDM
	PutBytes    int64 // from LDM to memory
	BusBytes    int64 // received over register buses
	DMARequests int64
	LDMPeak     int // the most bytes of LDM that one CPE used
}

// Sub returns the costs since an earlier reading of the ledger. LDMPeak is the later one.
func (l Ledger) Sub(before Ledger) Ledger {
	l.Time -= before.Time
	l.Compute -= before.Compute
	l.DMA -= before.DMA
	l.Bus -= before.Bus
	l.Latency -= before.Latency
	l.MPE -= before.MPE
	l.Flops -= before.Flops
	l.GetBytes -= before.GetBytes
	l.PutBytes -= before.PutBytes
	l.BusBytes -= before.BusBytes
	l.DMARequests -= before.DMARequests
	return l
}

// addTimes adds another ledger's times.
func (l *Ledger) addTimes(o *Ledger) {
	l.Time += o.Time
	l.Compute += o.Compute
	l.DMA += o.DMA
	l.Bus += o.Bus
	l.Latency += o.Latency
	l.MPE += o.MPE
}

// addTotals adds another ledger's totals.
func (l *Ledger) addTotals(o *Ledger) {
	l.Flops += o.Flops
	l.GetBytes += o.GetBytes
	l.PutBytes += o.PutBytes
	l.BusBytes += o.BusBytes
	l.DMARequests += o.DMARequests
	l.LDMPeak = max(l.LDMPeak, o.LDMPeak)
}

// cost is the cost of one step of a program.
type cost struct {
	compute, dma, latency, bus, busLatency VTime
	// For the outstanding requests: their streaming time, the additional time if they ran one after the other, and their number.
	stream, wait VTime
	requests     int
}

// request adds one request.
func (c *cost) request(stream, wait VTime) {
	c.dma += stream
	c.stream += stream
	c.wait += wait
	c.requests++
}

// settle waits for the outstanding requests. Up to maxPending run concurrently. Together they take as long as they stream, or the
// corresponding part of their sequential time, whichever is longer.
func (c *cost) settle(maxPending int) {
	if c.requests > 0 {
		c.latency += max(0, (c.stream+c.wait)/VTime(min(c.requests, maxPending))-c.stream)
		c.stream, c.wait, c.requests = 0, 0, 0
	}
}

// transfer is the part of a cost that double buffering overlaps, work the part with which it overlaps. Bus transfers overlap the
// multiplication of values received before.
func (c *cost) transfer() VTime { return c.dma + c.latency }

func (c *cost) work() VTime { return max(c.compute, c.bus) + c.busLatency }

func (c *cost) total() VTime { return c.transfer() + c.work() }

func (c *cost) add(o *cost) {
	c.compute += o.compute
	c.dma += o.dma
	c.latency += o.latency
	c.bus += o.bus
	c.busLatency += o.busLatency
	c.stream += o.stream
	c.wait += o.wait
	c.requests += o.requests
}

// sub returns the cost added since before.
func (c cost) sub(before *cost) cost {
	c.compute -= before.compute
	c.dma -= before.dma
	c.latency -= before.latency
	c.bus -= before.bus
	c.busLatency -= before.busLatency
	c.stream -= before.stream
	c.wait -= before.wait
	c.requests -= before.requests
	return c
}

// repeat multiplies the costs added since before by n.
func (l *Ledger) repeat(before *Ledger, n int) {
	one := l.Sub(*before)
	one.Time *= VTime(n - 1)
	one.Compute *= VTime(n - 1)
	one.DMA *= VTime(n - 1)
	one.Bus *= VTime(n - 1)
	one.Latency *= VTime(n - 1)
	one.MPE *= VTime(n - 1)
	l.addTimes(&one)
	more := int64(n - 1)
	one.Flops *= float64(more)
	one.GetBytes *= more
	one.PutBytes *= more
	one.BusBytes *= more
	one.DMARequests *= more
	l.addTotals(&one)
}
