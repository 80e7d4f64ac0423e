package modeltime

import (
	"strings"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// spread returns what ranges are made from; nil if none are asked for or can be told.
func (o *Options) spread() trust.Spread {
	if o.Bare {
		return nil
	}
	return trust.Of(o.Spec.Measured())
}

// onCurves models an iteration on the machine as described and, if a range can be told, with each of the other published curves of its
// bandwidth, which are costs only. The reports are in this order. They are modelled concurrently, and do not depend on each other.
func (o *Options) onCurves(file *swproto.Net) ([]*Report, error) {
	all := []Options{*o}
	if o.spread() != nil {
		for _, name := range o.Spec.Curves() {
			if name == o.Spec.Curve() {
				continue
			}
			other := *o
			var err error
			if other.Spec, err = o.Spec.WithCurve(name); err != nil {
				return nil, err
			}
			other.Mode, other.Mesh, other.Log, other.Built, other.Done = cpe.CostOnly, nil, nil, nil, nil
			all = append(all, other)
		}
	}
	reports, errs := make([]*Report, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			errs[i] = relay.Error(func() (err error) {
				reports[i], err = all[i].one(file)
				return err
			})
		})
	}
	wait.Wait()
	for _, err := range errs {
		if relay.RaiseIn(err) != nil {
			return nil, err
		}
	}
	return reports, nil
}

// addRanges adds the ranges of all times, from the reports with other curves.
func (r *Report) addRanges(spread trust.Spread, others []*Report) {
	for i := range r.Layers {
		for _, of := range passes {
			d := of(&r.Layers[i])
			if d == nil {
				continue
			}
			times := []float64{d.ModelledMs}
			for _, o := range others {
				if e := of(&o.Layers[i]); e != nil {
					times = append(times, e.ModelledMs)
				}
			}
			d.ModelledRange = spread.Range(d.kind(r.Layers[i].Type), times...)
			d.GFlopsRange = d.ModelledRange.Rate(d.GFlops * d.ModelledMs)
		}
	}
	t := &r.Total
	of := func(time func(t *Total) float64) trust.Range {
		times := []float64{time(t)}
		for _, o := range others {
			times = append(times, time(&o.Total))
		}
		return spread.Range(trust.Iteration, times...)
	}
	t.ForwardRange = of(func(t *Total) float64 { return t.ForwardMs })
	t.BackwardRange = of(func(t *Total) float64 { return t.BackwardMs })
	t.UpdateRange = of(func(t *Total) float64 { return t.UpdateMs })
	t.IterationRange = of(func(t *Total) float64 { return t.IterationMs })
	t.ImagesRange = t.IterationRange.Rate(t.Images * t.IterationMs)
}

// passes return a layer's directions, nil for those that it lacks.
var passes = []func(l *Layer) *Direction{
	func(l *Layer) *Direction { return l.Forward },
	func(l *Layer) *Direction { return l.WeightGradient },
	func(l *Layer) *Direction { return l.InputGradient },
}

// kind is the kind of a pass through a layer of a type. Convolutions are known by their strategy, inner products and poolings by their
// layer; other layers stream arrays if DMA or its start-up bounds them.
func (d *Direction) kind(layerType string) trust.Kind {
	switch {
	case d.Strategy == shape.Explicit.String():
		return trust.Explicit
	case d.Strategy == shape.Implicit.String():
		return trust.Implicit
	case d.Bound == "mpe":
		return trust.MPE
	case layerType == "InnerProduct":
		return trust.Product
	case layerType == "Pooling":
		return trust.Pooling
	case strings.HasPrefix(d.Strategy, shape.Winograd.String()) || d.Bound == "compute" || d.Bound == "bus":
		return trust.Any
	}
	return trust.Stream
}

// Kind is the kind of a layer's pass, by which its range is told; see package trust. The layer must compute the direction.
func (l *Layer) Kind(d shape.Direction) trust.Kind {
	p := l.Forward
	switch d {
	case shape.WeightGradient:
		p = l.WeightGradient
	case shape.InputGradient:
		p = l.InputGradient
	}
	return p.kind(l.Type)
}
