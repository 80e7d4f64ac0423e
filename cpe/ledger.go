package cpe

// Ledger sums the costs of modelled kernels. On a native machine it stays zero. It is a list of counters, one a field: reports name them so.
type Ledger struct {
	// Time is the time of the slowest core group, summed over kernels.
	Time VTime
	// Compute, DMA, Bus and Latency are that group's slowest CPE's times by cause. Double-buffered transfers overlap computing, so that the
	// causes can sum to more than Time. Latency is the start-up time of transfers, buses and the CPEs' threads.
	Compute, DMA, Bus, Latency VTime
	MPE                        VTime // time of the management core

	// Totals over all core groups.
	Flops       float64
	GetBytes    int64 // from memory to LDM
	PutBytes    int64 // from LDM to memory
	MPEBytes    int64 // read and written by the management cores
	BusBytes    int64 // received over register buses
	DMARequests int64
	LDMPeak     int // the most bytes of LDM that one CPE used
}

// Sub returns the costs since an earlier reading of the ledger. LDMPeak is the later one.
func (l Ledger) Sub(before Ledger) Ledger {
	peak := l.LDMPeak
	l.addTimes(&before, -1)
	l.addTotals(&before, -1)
	l.LDMPeak = peak
	return l
}

// addTimes adds another ledger's times n times.
func (l *Ledger) addTimes(o *Ledger, n int) {
	by := VTime(n)
	l.Time += by * o.Time
	l.Compute += by * o.Compute
	l.DMA += by * o.DMA
	l.Bus += by * o.Bus
	l.Latency += by * o.Latency
	l.MPE += by * o.MPE
}

// addTotals adds another ledger's totals n times.
func (l *Ledger) addTotals(o *Ledger, n int) {
	by := int64(n)
	l.Flops += float64(float64(n) * o.Flops)
	l.GetBytes += by * o.GetBytes
	l.PutBytes += by * o.PutBytes
	l.MPEBytes += by * o.MPEBytes
	l.BusBytes += by * o.BusBytes
	l.DMARequests += by * o.DMARequests
	l.LDMPeak = max(l.LDMPeak, o.LDMPeak)
}

// start adds the time that the management core takes to start and join threads.
func (l *Ledger) start(t VTime) {
	l.Time += t
	l.Latency += t
}

// repeat multiplies the costs added since before by n.
func (l *Ledger) repeat(before *Ledger, n int) {
	one := l.Sub(*before)
	l.addTimes(&one, n-1)
	l.addTotals(&one, n-1)
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

// add adds another cost n times.
func (c *cost) add(o *cost, n int) {
	by := VTime(n)
	c.compute += by * o.compute
	c.dma += by * o.dma
	c.latency += by * o.latency
	c.bus += by * o.bus
	c.busLatency += by * o.busLatency
	c.stream += by * o.stream
	c.wait += by * o.wait
	c.requests += n * o.requests
}
