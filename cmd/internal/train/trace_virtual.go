package train

import (
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
)

// virtualRow is the timeline of a worker in virtual time: its passes as they are modelled, and what comes between them.
type virtualRow struct {
	*solver.Virtual
	passes                   int // of an iteration
	begun, combined, updated float64
}

// ended adds the iteration that ends now.
func (v *virtualRow) ended(add func(timeline.Span), rank int, iteration string, n *swnet.Net) {
	at := v.begun
	span := func(name, category string, seconds float64) {
		begin, end := atSeconds(at), atSeconds(at+seconds)
		at += seconds
		if end.After(begin) {
			add(timeline.Span{Row: rank, Name: name, Category: category, Begin: begin, Took: end.Sub(begin), Notes: v.notes(seconds)})
		}
	}
	for range v.passes {
		span("forward", "forward", v.Costs.Forward)
		for i := min(n.NumLayers(), len(v.Costs.Backward)) - 1; i >= 0; i-- {
			span(n.LayerName(i), "backward", v.Costs.Backward[i])
		}
	}
	span("exchange", "exchange", v.combined-at)
	at = v.combined
	span("update", "update", v.updated-at)
	at = v.updated
	end := v.Clock.Now()
	span("exchange", "exchange", end-at)
	add(timeline.Span{
		Row: rank, Name: iteration, Category: "iteration", Begin: atSeconds(v.begun), Took: max(0, time.Duration((end-v.begun)*1e9)), Notes: v.notes(end - v.begun),
	})
}

// notes has the range of a time, relative to it as an iteration's; nil if none is known.
func (v *virtualRow) notes(seconds float64) map[string]any {
	if v.Range == nil {
		return nil
	}
	low, high, _ := v.Range(seconds)
	notes := map[string]any{}
	addRange(notes, trust.Range{Low: 1e3 * low, High: 1e3 * high})
	return notes
}
