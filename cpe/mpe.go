package cpe

import "fmt"

// OnMPE describes one management core as a machine: its cache serves as LDM, memory is accessed at its copy bandwidth for blocks of any
// length, and there is no mesh. Modelling a net on it shows how much the CPEs gain.
func (s Spec) OnMPE() (Spec, error) {
	if !s.hasMPE() {
		return s, fmt.Errorf("machine %q: its file does not describe an mpe", s.Name)
	}
	m := s
	m.Name = s.Name + " (MPE)"
	m.CoreGroups, m.Rows, m.Cols = 1, 1, 1
	m.FlopsPerCycle = s.MPE.GFlops / s.ClockGHz
	m.LDMBytes = s.MPE.CacheBytes
	m.Bus, m.RMA, m.Pipe, m.Software, m.MPE.StartUs = BusSpec{}, RMASpec{}, PipeSpec{}, Software{}, 0
	line := bandwidthPoint{blockBytes: s.DMA.TransactionBytes, get: s.MPE.CopyGBps, put: s.MPE.CopyGBps}
	m.DMA = DMASpec{
		TransactionBytes: s.DMA.TransactionBytes, MaxPending: 1, OverlapsBuses: true,
		strided: surface{{cpes: 1, points: []bandwidthPoint{line}}},
	}
	m.onMPE = true
	return m, nil
}

func (s *Spec) hasMPE() bool { return s.MPE.GFlops > 0 && s.MPE.CopyGBps > 0 }

// MPETime is a management core's time for flops at its peak, followed by moving bytes at its copy bandwidth.
func (s *Spec) MPETime(flops, bytes float64) VTime {
	return fromNs(flops/s.MPE.GFlops + bytes/s.MPE.CopyGBps)
}

// StartTime is the time to start the CPEs' threads for one kernel and to join them.
func (s *Spec) StartTime() VTime { return fromNs(1000 * s.MPE.StartUs) }

// CycleTime is the time of a number of cycles of a core.
func (s *Spec) CycleTime(cycles float64) VTime { return s.cycles(cycles) }

// LeaveToMPE runs work on the group's management core: it is charged MPETime and nothing else. A program that does nothing else starts no
// threads.
func (g *CoreGroup) LeaveToMPE(flops, bytes float64, work func() error) error {
	g.Sync()
	before := g.ledger
	if g.Values() {
		if err := work(); err != nil {
			return err
		}
		g.Sync()
	}
	g.ledger = before
	t := g.Spec().MPETime(flops, bytes)
	g.ledger.Time += t
	g.ledger.MPE += t
	g.ledger.Flops += flops
	g.ledger.MPEBytes += int64(bytes)
	return nil
}

// StartAgain charges a number of further starts of the group's threads, for software that makes several calls where this program makes one. The
// first start is part of Machine.Run. It does nothing if times is not positive.
func (g *CoreGroup) StartAgain(times int) {
	g.ledger.start(VTime(max(0, times)) * g.Spec().StartTime())
}

// IsMPE reports whether the machine is the management core of another.
func (s *Spec) IsMPE() bool { return s.onMPE }
