package scaling

import (
	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/topology"
)

// Machine models a net's iterations on one node, and caches the results.
type Machine struct {
	net     *swproto.Net
	options modeltime.Options
	size    *modeltime.Size
	reports map[int]*modeltime.Report
}

// NewMachine reads the net's shapes. It ignores the batch of the options.
func NewMachine(net *swproto.Net, o modeltime.Options) (*Machine, error) {
	size, err := modeltime.Measure(net, modeltime.SizeOptions{State: o.State, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Machine{net: net, options: o, size: size, reports: map[int]*modeltime.Report{}}, nil
}

// Batch returns the net's own batch size.
func (m *Machine) Batch() int { return m.size.Batch }

// ImageBytes returns the size of one input image of the net in float32: one item of the first layer's first output.
func (m *Machine) ImageBytes() float64 {
	bytes := float64(bytesPerValue)
	for _, l := range m.size.Layers {
		if len(l.Tops) == 0 {
			continue
		}
		for _, d := range l.Tops[0][min(1, len(l.Tops[0])):] {
			bytes *= float64(d)
		}
		break
	}
	return bytes
}

func (m *Machine) weightBytes() int64 {
	return bytesPerValue * (m.size.Parameters + m.size.Statistics)
}

// Report returns the machine model's report of an iteration.
func (m *Machine) Report(batch int) (*modeltime.Report, error) {
	if r, ok := m.reports[batch]; ok {
		return r, nil
	}
	o := m.options
	o.Batch = batch
	r, err := modeltime.Run(m.net, o)
	if err != nil {
		return nil, err
	}
	m.reports[batch] = r
	return r, nil
}

// Compute returns the iteration's times for a Job. Statistics of batch normalisation are communicated with the gradients, as in training.
func (m *Machine) Compute(batch int) (Compute, error) {
	r, err := m.Report(batch)
	if err != nil {
		return Compute{}, err
	}
	const milli = 1e-3
	c := Compute{Forward: topology.VTime(r.Total.ForwardMs * milli), Update: topology.VTime(r.Total.UpdateMs * milli)}
	if span := r.Total.IterationRange; span.Known() {
		c.Low, c.High = span.Low/r.Total.IterationMs, span.High/r.Total.IterationMs
	}
	for i := len(r.Layers) - 1; i >= 0; i-- {
		size := &m.size.Layers[i]
		c.Layers = append(c.Layers, Layer{
			Backward:      topology.VTime(r.Layers[i].BackwardMs() * milli),
			GradientBytes: bytesPerValue * (size.Parameters + size.Statistics),
		})
	}
	return c, nil
}
