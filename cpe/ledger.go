package cpe

// Ledger adds up what modelled kernels cost. On a native machine it stays zero.
type Ledger struct {
	Time VTime // of the slowest core group, kernel after kernel

	// Busy times of all CPEs together.
	Compute, DMA, Bus VTime

	Flops       float64
	GetBytes    int64 // from memory to LDM
	PutBytes    int64 // from LDM to memory
	BusBytes    int64 // received over register buses
	LDMPeak     int   // the most bytes of LDM that one CPE used
	DMARequests int64
}

// Sub returns what was added since an earlier reading. LDMPeak is that of the later one.
func (l Ledger) Sub(before Ledger) Ledger {
	l.Time -= before.Time
	l.Compute -= before.Compute
	l.DMA -= before.DMA
	l.Bus -= before.Bus
	l.Flops -= before.Flops
	l.GetBytes -= before.GetBytes
	l.PutBytes -= before.PutBytes
	l.BusBytes -= before.BusBytes
	l.DMARequests -= before.DMARequests
	return l
}

func (l *Ledger) add(o *Ledger) {
	l.Compute += o.Compute
	l.DMA += o.DMA
	l.Bus += o.Bus
	l.Flops += o.Flops
	l.GetBytes += o.GetBytes
	l.PutBytes += o.PutBytes
	l.BusBytes += o.BusBytes
	l.DMARequests += o.DMARequests
	l.LDMPeak = max(l.LDMPeak, o.LDMPeak)
}
