package train

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/topology"
)

// tap leads a worker's messages to the captures that record its current iteration.
type tap struct {
	to    atomic.Pointer[[]*capture]
	calls atomic.Int64 // of the worker's transport
}

// set says which captures these are.
func (t *tap) set(list []*capture) {
	if list == nil {
		t.to.Store(nil)
		return
	}
	t.to.Store(&list)
}

// each calls a function for every capture.
func (t *tap) each(f func(c *capture)) {
	if list := t.to.Load(); list != nil {
		for _, c := range *list {
			f(c)
		}
	}
}

// tap returns the tap of a worker of this process.
func (t *tracer) tap(rank int) *tap {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taps[rank] == nil {
		t.taps[rank] = &tap{}
	}
	return t.taps[rank]
}

// watch records the messages of a transport in real time. The first rank's are those of the centre if centred is true. The centre answers
// workers in iterations that the first worker has not begun or has ended.
func (t *tracer) watch(tr topology.Transport, centred bool) topology.Transport {
	rank, tap := tr.Rank(), t.tap(tr.Rank())
	worker := func(peer int) int {
		if centred && peer == 0 {
			return tr.Size() // the centre's row
		}
		return peer
	}
	return topology.Watch(tr, func(c topology.Call) {
		tap.calls.Add(1)
		each := tap.each
		if centred && rank == 0 {
			each = func(f func(*capture)) {
				for _, c := range t.unfinished() {
					f(c)
				}
			}
		}
		each(func(to *capture) {
			to.recorder.AddCall(timeline.Call{
				Worker: worker(rank), To: worker(c.To), From: worker(c.From), SendBytes: c.SendBytes, RecvBytes: c.RecvBytes,
				Sent: c.Sent, Received: c.Received, Begin: c.Begin, End: c.End,
			})
		})
	})
}

// carried records a message on a modelled cluster.
func (t *tracer) carried(m topology.Message) {
	t.tap(m.From).each(func(c *capture) {
		c.modelled.AddMessage(timeline.Message{
			From: m.From, To: m.To, Bytes: m.Bytes, Sent: atSeconds(float64(m.Sent)), Wanted: atSeconds(float64(m.Wanted)),
			Begin: atSeconds(float64(m.Start)), End: atSeconds(float64(m.End)), Notes: t.transferred(float64(m.End - m.Start)),
		})
	})
}

// served records a request to the centre on a modelled cluster, and its answer. row is the centre's.
func (t *tracer) served(s centre.Service, row int) {
	t.tap(s.Worker).each(func(c *capture) {
		for _, m := range []timeline.Message{
			{From: s.Worker, To: row, Sent: atSeconds(s.Sent), Begin: atSeconds(s.Request[0]), End: atSeconds(s.Request[1])},
			{From: row, To: s.Worker, Wanted: atSeconds(s.Request[1]), Begin: atSeconds(s.Answer[0]), End: atSeconds(s.Answer[1])},
		} {
			m.Bytes, m.Notes = s.Bytes, t.transferred(m.End.Sub(m.Begin).Seconds())
			if m.From == row {
				m.Sent = m.Begin
			} else {
				m.Wanted = m.Begin
			}
			c.modelled.AddMessage(m)
		}
	})
}

// transferred has the range of a transfer's time on a modelled cluster; nil if none is known.
func (t *tracer) transferred(seconds float64) map[string]any {
	r := t.wire.Range(trust.Communication, 1e3*seconds)
	if !r.Known() {
		return nil
	}
	notes := map[string]any{}
	addRange(notes, r)
	return notes
}

// atSeconds is a modelled time as one of a timeline, whose viewers know one kind.
func atSeconds(s float64) time.Time { return time.Unix(1, int64(math.Round(s*1e9))) }
